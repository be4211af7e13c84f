#!/usr/bin/env python3
"""Runs the demo engine with each defect, several times, on a busy machine, and counts how often the diagnosis is right.

One healthy run is the baseline of all. Each run is traced, rebuilt and diagnosed as a user would do it. Exit code 1 if any
verdict or any first request is wrong.

    scripts/demo_matrix.py                          four kinds, two requests each, five seeds: 40 runs, some minutes
    scripts/demo_matrix.py --repeats 1 --no-load    a quick look
    scripts/demo_matrix.py --model DIR --json       another model; one JSON document
"""
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Kind of defect: the fault type that is right.
KINDS = {"none": "none", "starve": "scheduling", "slow-op": "cuda_kernel", "memory": "memory"}
BASELINE_SEED = 1


class MatrixError(Exception):
    """A command failed; the message is one line."""


@dataclass
class Row:
    """One run and what the diagnosis said of it."""

    kind: str
    request: str
    seed: int
    verdict: str
    first_request: str
    probability: float
    abnormal_steps: int
    right: bool


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="seeds per kind and request (%(default)s)")
    parser.add_argument("--requests", default="req-3,req-7", help="requests that are hit (%(default)s)")
    parser.add_argument("--kinds", default=",".join(KINDS), help="kinds of defects (%(default)s)")
    parser.add_argument("--model", help="folder of the model (default: models/default)")
    parser.add_argument("--out", type=Path, help="keep the runs here (default: a temporary folder)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--no-load", action="store_true", help="keep no core busy")
    options = parser.parse_args()
    options.requests, options.kinds = options.requests.split(","), options.kinds.split(",")
    if options.repeats < 1:
        parser.error("--repeats must be 1 or more")
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"--kinds: {', '.join(sorted(unknown))} is none of {', '.join(KINDS)}")
    return options


def find_python() -> str:
    """A Python with PyTorch: TELLER_PYTHON, the scripts' own, or this one."""
    own = Path(os.environ.get("TELLER_VENV", ROOT / ".venv")) / "bin/python"
    return os.environ.get("TELLER_PYTHON") or (str(own) if own.exists() else sys.executable)


def call(*args: object, env: dict[str, str] | None = None) -> str:
    """Runs teller; its standard output."""
    teller = os.environ.get("TELLER_BIN", str(ROOT / "build/dev/src/cli/teller"))
    try:
        done = subprocess.run([teller, *map(str, args)], cwd=ROOT, env=env, text=True, capture_output=True)
    except OSError as error:
        raise MatrixError(f"starting {teller}: {error.strerror}: build first, or set TELLER_BIN") from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise MatrixError(f"teller {args[0]} ended with {done.returncode}: {last}")
    return done.stdout


def record(run: Path, kind: str, request: str, seed: int) -> Path:
    """One traced run of the demo engine, with call chains."""
    env = {**os.environ, "DEMO_FAULT": kind, "DEMO_REQUEST": request}
    call("trace", "--overwrite", "-o", run, "--hooks", "examples/demo_engine/hooks.json", "--", find_python(), "-m",
         "examples.demo_engine", "--seed", seed, env=env)
    call("reconstruct", run)
    return run


def judge(run: Path, kind: str, request: str, seed: int, baseline: Path, model: str | None) -> Row:
    """Diagnoses a run and compares with what is true."""
    chosen = ["--model", os.path.abspath(model)] if model else []
    diagnosis = json.loads(call("diagnose", run, "--baseline", baseline, "--json", *chosen))
    named = [one["id"] for one in diagnosis["requests"]]
    first = named[0] if named else "-"
    right = diagnosis["fault_type"] == KINDS[kind] and (kind == "none" or first == request)
    return Row(kind, request if kind != "none" else "-", seed, diagnosis["fault_type"], first, diagnosis["probability"],
               len(diagnosis["abnormal_steps"]), right)


def start_load() -> subprocess.Popen[bytes]:
    """A busy loop, pinned to one of the cores that this process may use."""
    code = "import os\nos.sched_setaffinity(0, {max(os.sched_getaffinity(0))})\nparent = os.getppid()\n" \
           "while os.getppid() == parent: sum(range(100000))"
    return subprocess.Popen([sys.executable, "-c", code])


def line(*cells: object) -> str:
    """A line of the table."""
    widths = (8, 8, 6, 15, 8, 12, 9, 5)
    return "  ".join(str(cell).ljust(width) for cell, width in zip(cells, widths)).rstrip()


def run_all(options: argparse.Namespace, out: Path) -> list[Row]:
    """All runs, each shown when it is judged."""
    show = (lambda *_: None) if options.json else (lambda *cells: print(line(*cells), flush=True))
    baseline = record(out / "baseline", "none", options.requests[0], BASELINE_SEED)
    show("kind", "request", "seed", "verdict", "first", "probability", "abnormal", "right")
    rows, seed = [], 1000
    for _ in range(options.repeats):
        for kind in options.kinds:
            for request in options.requests:
                seed += 1
                run = record(out / f"{kind}-{request}-{seed}", kind, request, seed)
                row = judge(run, kind, request, seed, baseline, options.model)
                rows.append(row)
                show(kind, row.request, seed, row.verdict, row.first_request, f"{row.probability:.3f}", row.abnormal_steps,
                     "yes" if row.right else "NO")
    return rows


def measure(options: argparse.Namespace) -> list[Row]:
    """All runs beside the load, which ends with them."""
    load = None if options.no_load else start_load()
    try:
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            return run_all(options, options.out.resolve())
        with tempfile.TemporaryDirectory(prefix="teller-matrix-") as out:
            return run_all(options, Path(out))
    finally:
        if load:
            load.kill()
            load.wait()


def main() -> int:
    """Runs everything; the exit code."""
    options = parse()
    try:
        rows = measure(options)
    except MatrixError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    right = sum(row.right for row in rows)
    by_kind = {kind: f"{sum(r.right for r in rows if r.kind == kind)}/{sum(r.kind == kind for r in rows)}"
               for kind in options.kinds}
    if options.json:
        print(json.dumps({"runs": [asdict(row) for row in rows], "right": right, "of": len(rows), "by_kind": by_kind},
                         indent=1))
    else:
        print(f"{right} of {len(rows)} right: " + ", ".join(f"{kind} {share}" for kind, share in by_kind.items()))
    return 0 if right == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
