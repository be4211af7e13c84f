"""Median and quartiles of the samples of bench/overhead/run."""
from __future__ import annotations

import statistics

MEASURES = ("wall_s", "cpu_s", "max_rss_mib", "minor_faults")


def quartiles(values: list) -> list:
    """[first quartile, median, third quartile]."""
    if len(values) < 2:
        return [values[0]] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


# What a variant is compared with, where that is not the plain program.
BASES = {"hooks on": "hooks off"}


def rows(samples: dict) -> list:
    """One row per case, variant and measure; `percent` compares each sample with the one of `base` beside it. Not every sample has every measure."""
    table = []
    for case, variants in samples.items():
        for variant, own in variants.items():
            base = BASES.get(variant, "plain")
            for measure in MEASURES:
                values = [sample[measure] for sample in own if measure in sample]
                row = {"case": case, "variant": variant, "measure": measure, "quartiles": quartiles(values), "samples": values}
                if variant not in ("plain", "hooks off"):
                    others = [sample[measure] for sample in variants[base] if measure in sample]
                    row["base"] = base
                    row["percent"] = quartiles([(value / other - 1) * 100 for value, other in zip(values, others) if other > 0] or [0.0])
                table.append(row)
    return table


def table(made: list, data: str) -> str:
    """The rows as text."""
    lines = [f"{data}; median (quartiles)"]
    for row in made:
        low, middle, high = row["quartiles"]
        line = f"{row['case']:8s} {row['measure']:13s} {row['variant']:10s} {middle:12.3f} ({low:.3f} … {high:.3f})"
        if "percent" in row:
            low, middle, high = row["percent"]
            line += f"   {middle:+.1f} % ({low:+.1f} … {high:+.1f})"
        lines.append(line)
    return "\n".join(lines)
