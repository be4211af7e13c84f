"""Synthetic traces of several ranks with a known fault: how often the comparison of ranks is right.

    python bench/ranks/synthetic_matrix.py [--seeds 1] [--worlds 2 4 8] [--faults data gc] [--teller build/dev/src/cli/teller]

Prints a row per fault, and every wrong answer; exit status 1 if there is one.
"""
from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/python"))

import rank_matrix  # noqa: E402
from matrix_table import print_table  # noqa: E402


def compare(teller: str, traces: Path, run: Path) -> dict:
    """horizontal.json of the traces in a folder."""
    for command in (["import", traces, "-o", run, "--overwrite"], ["reconstruct", run]):
        subprocess.run([teller, *map(str, command)], check=True, capture_output=True, timeout=300)
    return json.loads((run / "horizontal.json").read_text(encoding="utf-8"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--worlds", type=int, nargs="+", default=[2, 3, 4, 8, 16])
    parser.add_argument("--faults", nargs="+", default=list(rank_matrix.FAULTS))
    parser.add_argument("--teller", default=str(ROOT / "build/dev/src/cli/teller"))
    args = parser.parse_args()
    rows: dict[str, dict[int, list[int]]] = {}
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        for job, name in rank_matrix.jobs(tuple(args.worlds), tuple(args.faults), args.seeds):
            traces = job.run().write(Path(scratch) / name)
            found = compare(args.teller, traces, Path(scratch) / "run")
            shutil.rmtree(traces)
            good = job.is_right(found)
            cell = rows.setdefault(job.fault, {}).setdefault(job.ranks, [0, 0])
            cell[0] += good
            cell[1] += 1
            if not good:
                verdict = found["verdict"]
                wrong.append(f"{name}: wanted {job.culprit}, named {[(c['rank'], c['score']) for c in verdict['culprits']]} link "
                             f"{verdict['link'] and verdict['link']['why'][:90]} uniform {verdict['uniform']}")
    return print_table("fault", 12, rows, args.worlds, wrong)


if __name__ == "__main__":
    sys.exit(main())
