"""Records FSDP2 on gloo ranks, healthy and with one rank late, and counts how often the comparison of ranks is right.

    python bench/ranks/matrix.py [--repeats 2] [--keep FOLDER] [--teller build/dev/src/cli/teller]

Prints a row per run and the sums; exit status 1 if a run is judged wrongly.
"""
from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests/python/rank_programs/fsdp_ranks.py"
FAULTS = ("none", "data", "compute", "gc", "checkpoint")


def record(folder: Path, fault: str, culprit: int, options: list[str]) -> None:
    """Runs the job; a trace per rank lies in `folder` then."""
    subprocess.run([sys.executable, str(PROGRAM), str(folder), "--fault", fault, "--culprit", str(culprit), *options],
                   check=True, capture_output=True, timeout=300)


def judge(teller: str, traces: Path, run: Path) -> dict:
    """horizontal.json of the imported traces."""
    for command in (["import", traces, "-o", run, "--overwrite"], ["reconstruct", run]):
        subprocess.run([teller, *map(str, command)], check=True, capture_output=True, timeout=300)
    return json.loads((run / "horizontal.json").read_text(encoding="utf-8"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--teller", default=str(ROOT / "build/dev/src/cli/teller"))
    parser.add_argument("--keep", type=Path, help="keep traces and runs here")
    parser.add_argument("--faults", nargs="+", default=list(FAULTS), choices=FAULTS)
    args, options = parser.parse_known_args()
    right = wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        base = args.keep or Path(scratch)
        print(f"{'fault':12} {'culprit':8} {'named':8} {'score':6} {'scatter':>9} {'step':>9}  doing")
        for fault in args.faults:
            for repeat in range(args.repeats):
                culprit = (3 * repeat + FAULTS.index(fault)) % 4
                name = f"{fault}-{repeat}"
                record(base / name / "traces", fault, culprit, [*options, "--seed", name])
                found = judge(args.teller, base / name / "traces", base / name / "run")
                named = found["verdict"]["culprits"]
                expected = [] if fault == "none" else [culprit]
                good = [one["rank"] for one in named] == expected
                right, wrong = right + good, wrong + (not good)
                pace = found["pace"]
                print(f"{fault:12} {'-' if fault == 'none' else culprit!s:8} {','.join(str(c['rank']) for c in named) or '-':8}"
                      f" {named[0]['score'] if named else 0:6.2f} {pace['scatter_ns'] / 1e6:6.1f} ms {pace['step_ns'] / 1e6:6.1f} ms"
                      f"  {found['verdict']['doing'] or '-'}{'' if good else '   WRONG'}", flush=True)
    print(f"{right} of {right + wrong} right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
