"""Hangs of which the answer is known, as flight recorder dumps: how often the right ranks are named.

    python bench/ranks/flight_matrix.py [--seeds 2] [--worlds 2 4 8] [--kinds dead skipped] [--teller build/dev/src/cli/teller]

Each job is written as pickles and as JSON. Prints a row per kind, and every wrong answer; exit status 1 if there is one.
"""
from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/python"))

import flight_matrix  # noqa: E402
from matrix_table import print_table  # noqa: E402


def diagnose(teller: str, dumps: Path, run: Path) -> dict:
    """The diagnosis of a folder of dumps."""
    for command in (["import", dumps, "-o", run, "--overwrite"], ["diagnose", run, "--json"]):
        done = subprocess.run([teller, *map(str, command)], check=False, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def judge(teller: str, case: flight_matrix.Case, scratch: Path) -> str:
    """"" where the case is judged rightly in both forms; else what is wrong."""
    said = []
    for form in flight_matrix.twin_forms(case):
        folder = scratch / case.seed / str(form)
        case.write(folder, form)
        try:
            found = diagnose(teller, folder, scratch / "run")
        except RuntimeError as error:
            return f"{form}: {error}"
        if not case.is_right(found):
            return (f"{form}: named {found['culprit_ranks']} link {found['culprit_link']} ({found['verdict']}), wanted "
                    f"{sorted(case.required)} of {sorted(case.allowed)} first {case.first} link {case.link}")
        said.append(flight_matrix.text_of(found))
    return "" if said[0] == said[1] else "pickles and JSON give different answers"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--worlds", type=int, nargs="+", default=list(flight_matrix.WORLDS))
    parser.add_argument("--kinds", nargs="+", default=[kind.__name__ for kind in flight_matrix.KINDS])
    parser.add_argument("--teller", default=str(ROOT / "build/dev/src/cli/teller"))
    args = parser.parse_args()
    rows: dict[str, dict[int, list[int]]] = {}
    wrong = []
    kinds = [kind for kind in flight_matrix.KINDS if kind.__name__ in args.kinds]
    with tempfile.TemporaryDirectory() as scratch:
        for case in flight_matrix.cases(tuple(args.worlds), args.seeds, kinds):
            problem = judge(args.teller, case, Path(scratch))
            cell = rows.setdefault(case.kind, {}).setdefault(case.world, [0, 0])
            cell[0] += problem == ""
            cell[1] += 1
            if problem:
                wrong.append(f"{case.seed}: {problem}")
    return print_table("kind", 26, rows, args.worlds, wrong)


if __name__ == "__main__":
    sys.exit(main())
