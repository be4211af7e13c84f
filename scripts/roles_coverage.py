#!/usr/bin/env python3
"""How much of the device's time in real traces has a role, and what has none.

usage: roles_coverage.py TELLER TRACE…       (files that `teller import` reads; folders and .tar.gz are searched)
Exit code 1 if less than --least of the time of any trace has a role, 2 if there is no trace.
"""
from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

SUFFIXES = (".json", ".json.gz", ".sqlite")


def traces(paths: list[Path], scratch: Path) -> list[Path]:
    """The trace files of `paths`, archives unpacked into `scratch`."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += traces(sorted(path.iterdir()), scratch)
        elif path.name.endswith(".tar.gz"):
            folder = scratch / f"{len(list(scratch.iterdir()))}.unpacked"
            with tarfile.open(path) as archive:
                archive.extractall(folder, filter="data")
            found += traces([folder], scratch)
        elif path.name.endswith(SUFFIXES):
            found.append(path)
    return found


def roles_of(teller: str, trace: Path, roles: list[str], scratch: Path) -> list[dict]:
    """The device names of a trace with role, count and time."""
    run = scratch / "run"
    subprocess.run([teller, "import", trace, "-o", run, "--overwrite"], check=True, stdout=subprocess.DEVNULL)
    extra = [word for name in roles for word in ("--roles", name)]
    subprocess.run([teller, "reconstruct", run, *extra], check=True, stdout=subprocess.DEVNULL)
    names = json.loads((run / "roles.json").read_text(encoding="utf-8"))["names"]
    return [name for name in names if name["layer"] == "K"]


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:6.2f} %" if whole else "     - "


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teller")
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--roles", action="append", default=[], help="role file, handed to teller")
    parser.add_argument("--top", type=int, default=20, help="so many names without a role are listed")
    parser.add_argument("--least", type=float, default=0.0, help="share of time that every trace must reach")
    arguments = parser.parse_args()
    without: Counter[str] = Counter()
    by_role: Counter[str] = Counter()
    low = 0
    print("with a role:  time    count   trace")
    with tempfile.TemporaryDirectory() as folder:
        found = traces(arguments.paths, Path(folder))
        if not found:
            print(f"roles_coverage.py: no trace ({', '.join(SUFFIXES)}) in {', '.join(map(str, arguments.paths))}", file=sys.stderr)
            return 2
        for trace in found:
            names = roles_of(arguments.teller, trace, arguments.roles, Path(folder))
            time = sum(name["time_ns"] for name in names)
            known = [name for name in names if name["role"] is not None]
            known_time = sum(name["time_ns"] for name in known)
            print(share(known_time, time), share(sum(n["count"] for n in known), sum(n["count"] for n in names)), trace.name)
            low += time > 0 and known_time / time < arguments.least
            for name in names:
                if name["role"] is None:
                    without[name["name"]] += name["time_ns"]
                else:
                    by_role[name["role"]] += name["time_ns"]
    print("time by role, ms:", ", ".join(f"{role} {ns / 1e6:.2f}" for role, ns in by_role.most_common()))
    for name, ns in without.most_common(arguments.top):
        print(f"no role: {ns / 1e6:10.3f} ms  {name[:150]}")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
