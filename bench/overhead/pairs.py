#!/usr/bin/env python3
"""What a range costs, in nanoseconds: from C, and from Python beside other ways to mark a range.

usage: bench/overhead/pairs.py [--rounds N] [--loops N] [--json]

Each of N rounds (default 5, at least 5 for figures that mean something) runs every case once, in a process of its own, one case
after the other; a process takes N loops (default 60) of 2,000 operations. Printed are the median over all rounds and loops, the
median of the rounds' best loops, and the best loop of all. On a busy machine the best says what the code costs, the median what the
machine made of it. Python is TELLER_PYTHON (with PyTorch for record_function); peers are installed into build/bench-overhead.
"""
from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
WORK = ROOT / "build/bench-overhead"
TELLER = os.environ.get("TELLER_BIN", str(ROOT / "build/dev/src/cli/teller"))
TARGETS = {"format": "teller.hooks", "version": 1, "stack": "bench",
           "targets": [{"module": "measured", "object": "wrapped", "range": "a range of usual length"}]}


def install() -> str:
    """The Python with the peers: a venv on top of TELLER_PYTHON's packages."""
    python = WORK / "venv/bin/python"
    if not python.exists():
        base = os.environ.get("TELLER_PYTHON", sys.executable)
        subprocess.run([base, "-m", "venv", WORK / "venv"], check=True)
        folder = 'import sysconfig; print(sysconfig.get_paths()["purelib"])'
        site, below = (subprocess.run([p, "-c", folder], check=True, capture_output=True, text=True).stdout.strip() for p in (python, base))
        Path(site, "zz_below.pth").write_text(below + "\n")
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", HERE / "requirements.txt"], check=True)
    return str(python)


def build() -> Path:
    """The C program."""
    program = WORK / "pairs"
    subprocess.run(["cc", "-O2", "-I", ROOT / "third_party/nvtx", HERE / "pairs.c", "-o", program, "-ldl"], check=True)
    return program


def traced(*command: object) -> list:
    """`command` under teller trace."""
    return [TELLER, "trace", "-q", "--overwrite", "-o", str(WORK / "run"), "--hooks", str(WORK / "hooks.json"), "--", *map(str, command)]


def cases(python: str, program: Path, loops: int) -> dict:
    """name -> (command, environment): what a round runs."""
    inner = [python, str(HERE / "pairs_inner.py")]
    plain = dict(os.environ)
    return {
        "C, no tool": ([str(program), str(loops)], plain),
        "C, teller": (traced(program, loops), plain),
        "teller": (traced(*inner, "teller", loops), plain),
        "teller by ctypes": (traced(*inner, "teller", loops), {**plain, "TELLER_NO_EXTENSION": "1"}),
        **{name: ([*inner, name, str(loops)], plain) for name in ("plain wrapper", "nvtx", "record_function", "viztracer")},
    }


def run_case(name: str, command: list, environment: dict) -> dict:
    """measure -> nanoseconds of each loop; nothing if the case cannot run here."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{name}: left out: {(done.stderr.strip().splitlines() or ['?'])[-1]}", file=sys.stderr)
        return {}
    if name.startswith("C,"):
        return {f"{name}: pair": [float(line) for line in done.stdout.split()]}
    return {f"{name}: {measure}": values for measure, values in json.loads(done.stdout.splitlines()[-1]).items()}


def dropped() -> int:
    """Events of the last traced process that found no room."""
    done = subprocess.run([TELLER, "dump", WORK / "run", "events", "--json"], capture_output=True, text=True, check=True)
    first = (json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"record":"source"'))
    return sum(source["meta"].get("counts", {}).get("dropped", 0) for source in first)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--loops", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    (WORK / "hooks.json").write_text(json.dumps(TARGETS))
    everything, best, lost = {}, {}, 0
    wanted = cases(install(), build(), options.loops)
    for _ in range(options.rounds):
        for name, (command, environment) in wanted.items():
            for measure, values in run_case(name, command, environment).items():
                everything.setdefault(measure, []).extend(values)
                best.setdefault(measure, []).append(min(values))
            lost += dropped() if "trace" in command else 0
    rows = [{"measure": measure, "unit": "ns", "median": statistics.median(values), "median_of_best": statistics.median(best[measure]),
             "best": min(values)} for measure, values in everything.items()]
    if options.json:
        print(json.dumps({"rounds": options.rounds, "loops": options.loops, "dropped": lost, "rows": rows}, indent=1))
        return
    print(f"{'ns':34s} {'median':>8s} {'of best':>8s} {'best':>8s}   ({options.rounds} rounds of {options.loops} loops; {lost} events dropped)")
    for row in rows:
        print(f"{row['measure']:34s} {row['median']:8.1f} {row['median_of_best']:8.1f} {row['best']:8.1f}")


if __name__ == "__main__":
    main()
