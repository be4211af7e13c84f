"""Median and quartiles of the samples of bench/overhead/run."""
from __future__ import annotations

import statistics

MEASURES = ("wall_s", "cpu_s", "max_rss_mib", "minor_faults")


def quartiles(values: list) -> list:
    """[first quartile, median, third quartile]."""
    if len(values) < 2:
        return [values[0]] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def rows(samples: dict) -> list:
    """One row per case, variant and measure; `percent` compares each round's sample with the plain one of that round."""
    table = []
    for case, variants in samples.items():
        for measure in MEASURES:
            plain = [sample[measure] for sample in variants["plain"]]
            for variant, own in variants.items():
                values = [sample[measure] for sample in own]
                row = {"case": case, "variant": variant, "measure": measure, "quartiles": quartiles(values), "samples": values}
                if variant != "plain":
                    row["percent"] = quartiles([(value / base - 1) * 100 for value, base in zip(values, plain) if base > 0] or [0.0])
                table.append(row)
    return table


def table(made: list, pairs: int) -> str:
    """The rows as text."""
    lines = [f"{pairs} rounds; median (quartiles)"]
    for row in made:
        low, middle, high = row["quartiles"]
        line = f"{row['case']:8s} {row['measure']:13s} {row['variant']:10s} {middle:12.2f} ({low:.2f} … {high:.2f})"
        if "percent" in row:
            low, middle, high = row["percent"]
            line += f"   {middle:+.1f} % ({low:+.1f} … {high:+.1f})"
        lines.append(line)
    return "\n".join(lines)
