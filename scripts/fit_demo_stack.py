#!/usr/bin/env python3
"""Fits the cost model of the simulator's `demo` stack on healthy recordings of the demo engine.

    scripts/fit_demo_stack.py TELLER OUT --quiet RUN… --busy RUN…

The runs are reconstructed. Quiet ones were recorded on an idle machine, busy ones with a core kept busy by another
process. Of each operator, and of the gap before it, the script writes the median time as a line in log tokens and log
context (for steps with and without prefill), how much longer the first one of a step takes, and the quantiles of what is
left when the step's common pace is taken off; and the quantiles of the pace. With --compare SIMULATED… it prints the
quantiles of both instead of writing.
"""
from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

PROBABILITIES = [0.01, 0.10, 0.50, 0.90, 0.99, 0.999]
PER_REQUEST = "attention"


def dump(teller: str, run: str, table: str) -> list[dict]:
    """Returns a table of a run's chains."""
    out = subprocess.run([teller, "dump", run, f"chains.{table}", "--json"], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


def observations(teller: str, run: str) -> list[tuple]:
    """Returns (key, phase, step, tokens, context, is first, nanoseconds) of all operators and gaps of a run."""
    nodes, rows = dump(teller, run, "nodes"), dump(teller, run, "rows")
    served: dict[int, list[dict]] = defaultdict(list)
    for row in rows:
        if row["scheduled"] > 0:
            served[row["step"]].append(row)
    children: dict[int, list[dict]] = defaultdict(list)
    by_id = {node["id"]: node for node in nodes}
    for node in nodes:
        if node["step"] is not None and node["parent"] is not None and "row" not in node["flags"].split(","):
            children[node["parent"]].append(node)
    out = []
    seen: set[tuple] = set()

    def add(key: str, node: dict, time: int) -> None:
        step = node["step"]
        mine = served[step]
        if not mine or time <= 0:
            return
        prefill = any(row["phase"] == "prefill" for row in mine)
        tokens, context = sum(row["scheduled"] for row in mine), len(mine)
        if node["family"] == PER_REQUEST:
            row = next(row for row in mine if row["request"] == node["request"])
            tokens, context = row["scheduled"], row["computed"] + row["scheduled"]
            prefill = row["phase"] == "prefill"
            first = row is mine[0]
        else:
            first = (step, key) not in seen
        seen.add((step, key))
        out.append((key, int(prefill), step, tokens, context, first, time))

    for node in nodes:
        if node["step"] is None or node["family"].startswith("row:"):
            continue
        inner = sorted(children[node["id"]], key=lambda child: child["begin_ns"])
        at = node["begin_ns"]
        for child in inner:
            add(f"before {child['family']}", child, child["begin_ns"] - at)
            at = child["end_ns"]
        add(f"end of {node['family']}" if inner else node["family"], node, node["end_ns"] - at)
    steps = [node for node in nodes if node["family"] == "engine step" and node["step"] is not None]
    for before, after in zip(steps, steps[1:]):
        if after["begin_ns"] - before["end_ns"] < 2_000_000:
            add("before engine step", after, after["begin_ns"] - before["end_ns"])
    assert by_id
    return out


def fit_line(rows: list[tuple]) -> list[float]:
    """Returns a, b, c of log t = a + b log(1 + tokens) + c log(1 + context), by least absolute deviations."""
    x = np.array([[1, np.log1p(row[3]), np.log1p(row[4])] for row in rows])
    y = np.array([np.log(row[6]) for row in rows])
    for column in (1, 2):
        if np.ptp(x[:, column]) < 0.2:
            x[:, column] = 0
    weights = np.ones(len(y))
    beta = np.zeros(3)
    for _ in range(30):
        scaled = x * weights[:, None]
        beta = np.linalg.lstsq(scaled.T @ x + 1e-6 * np.eye(3), scaled.T @ y, rcond=None)[0]
        weights = 1 / np.maximum(np.abs(y - x @ beta), 0.02)
    return [float(v) for v in beta]


def quantiles(values: np.ndarray) -> list[float]:
    """Returns the quantiles of PROBABILITIES."""
    return [round(float(v), 4) for v in np.quantile(values, PROBABILITIES)]


def residuals(rows: list[tuple], lines: dict, firsts: dict) -> np.ndarray:
    """Returns log ratios to the medians."""
    out = []
    for key, phase, _, tokens, context, first, time in rows:
        a, b, c = lines[key][phase]
        out.append(np.log(time) - a - b * np.log1p(tokens) - c * np.log1p(context) - (firsts.get(key, 0) if first else 0))
    return np.array(out)


def paces(rows: list[tuple], rest: np.ndarray) -> dict[int, float]:
    """Returns each step's pace: the median of the residuals of its operators, gaps left out."""
    by_step: dict[int, list[float]] = defaultdict(list)
    for row, value in zip(rows, rest):
        if not row[0].startswith(("before", "end")):
            by_step[row[2]].append(value)
    return {step: float(np.median(values)) for step, values in by_step.items()}


def split_pace(rows: list[tuple], lines: dict, firsts: dict) -> tuple[dict[int, float], np.ndarray]:
    """Returns paces less the run's median pace, and the residuals less the pace."""
    rest = residuals(rows, lines, firsts)
    pace = paces(rows, rest)
    middle = float(np.median(list(pace.values())))
    rest = rest - np.array([pace.get(row[2], middle) for row in rows])
    return {step: value - middle for step, value in pace.items()}, rest


def fit_lines(rows: list[tuple]) -> tuple[dict, dict]:
    """Returns the lines and first-in-step effects, the paces taken off in a second round."""
    lines: dict[str, list[list[float]]] = {}
    firsts: dict[str, float] = {}
    shift = {row[2]: 0.0 for row in rows}
    for _ in range(2):
        by_key: dict[tuple, list[tuple]] = defaultdict(list)
        for row in rows:
            by_key[row[0], row[1]].append((*row[:6], row[6] / np.exp(shift.get(row[2], 0))))
        for key in sorted({key for key, _ in by_key}):
            both = [by_key.get((key, 0), []), by_key.get((key, 1), [])]
            later = [[row for row in part if not row[5]] or part for part in both]
            fallback = later[0] or later[1]
            lines[key] = [fit_line(part if len(part) >= 8 else fallback) for part in later]
            all_rows = both[0] + both[1]
            first = [row for row in all_rows if row[5]]
            firsts[key] = 0.0
            if first and len(first) < len(all_rows):
                firsts[key] = float(np.median(residuals(first, lines, {})))
        shift = paces(rows, residuals(rows, lines, firsts))
    return lines, firsts


def correlation(pace: dict[int, float]) -> float:
    """Returns the correlation of a step's pace with that of the step before."""
    pairs = [(pace[step - 1], pace[step]) for step in pace if step - 1 in pace]
    return float(np.corrcoef(np.array(pairs).T)[0, 1])


def profile(runs: list[list[tuple]], lines: dict, firsts: dict) -> dict:
    """Returns the quantiles of residuals and paces of some runs."""
    rest: dict[str, list[float]] = defaultdict(list)
    pace: list[float] = []
    close: list[float] = []
    for rows in runs:
        of_run, left = split_pace(rows, lines, firsts)
        pace += of_run.values()
        close.append(correlation(of_run))
        for row, value in zip(rows, left):
            rest[row[0]].append(value)
    return {
        "pace": quantiles(np.array(pace)),
        "pace_correlation": round(float(np.mean(close)), 3),
        "residuals": {key: quantiles(np.array(rest[key])) for key in sorted(rest)},
    }


def compare(args: argparse.Namespace) -> None:
    """Prints residual quantiles of recorded and of simulated runs, each less its own medians."""
    print("log ratio to the median at", PROBABILITIES)
    for name, paths in (("recorded", args.quiet + args.busy), ("simulated", args.compare)):
        runs = [observations(args.teller, path) for path in paths]
        lines, firsts = fit_lines([(*row[:2], (i, row[2]), *row[3:]) for i, rows in enumerate(runs) for row in rows])
        made = profile(runs, lines, firsts)
        print(f"{name:10} {'pace':20} {made['pace']} correlation {made['pace_correlation']}")
        for key in ("schedule", "qkv projection", "kv write", "attention", "output projection", "mlp", "lm head", "sample"):
            print(f"{name:10} {key:20} {made['residuals'][key]}")


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teller")
    parser.add_argument("out", type=Path)
    parser.add_argument("--quiet", nargs="+", default=[])
    parser.add_argument("--busy", nargs="+", default=[])
    parser.add_argument("--compare", nargs="+", default=[])
    args = parser.parse_args()
    if args.compare:
        compare(args)
        return 0
    runs = {path: observations(args.teller, path) for path in args.quiet + args.busy}
    pooled = [(*row[:2], (path, row[2]), *row[3:]) for path, rows in runs.items() for row in rows]
    lines, firsts = fit_lines(pooled)
    costs = {
        key: {"decode": [round(v, 4) for v in lines[key][0]], "prefill": [round(v, 4) for v in lines[key][1]],
              "first": round(firsts[key], 4)}
        for key in sorted(lines)
    }
    made = {
        "comment": "Made by scripts/fit_demo_stack.py from healthy recordings of examples/demo_engine.",
        "probabilities": PROBABILITIES,
        "costs": costs,
        "profiles": {name: profile([runs[path] for path in paths], lines, firsts)
                     for name, paths in (("quiet", args.quiet), ("busy", args.busy))},
    }
    args.out.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
