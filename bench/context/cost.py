#!/usr/bin/env python3
"""CPU time of the recorder while it samples a program of three processes, with and without the sampling.

    bench/context/cost.py [--teller BIN] [--seconds N] [--threads N]

Each process has threads that sleep, as an engine's have. Prints the recorder's CPU time per second of the run.
"""
from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """
import os, sys, threading, time
if os.fork() != 0:
    os.fork()
for _ in range(int(sys.argv[2])):
    threading.Thread(target=time.sleep, args=(float(sys.argv[1]),), daemon=True).start()
time.sleep(float(sys.argv[1]))
"""


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cost(teller: str, seconds: float, threads: int, *options: str) -> float:
    """CPU seconds of the recorder per second."""
    with tempfile.TemporaryDirectory() as folder:
        command = [teller, "trace", "-q", "-o", f"{folder}/run", *options, "--", sys.executable, "-c", PROGRAM,
                   str(seconds + 2), str(threads)]
        with subprocess.Popen(command) as launcher:
            time.sleep(1)
            children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
            recorder = next(int(c) for c in children if Path(f"/proc/{c}/comm").read_text().startswith("teller-rec"))
            before, began = cpu_seconds(recorder), time.monotonic()
            time.sleep(seconds)
            return (cpu_seconds(recorder) - before) / (time.monotonic() - began)


def main() -> None:
    """Prints both figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--teller", default="build/dev/src/cli/teller")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=50)
    arguments = parser.parse_args()
    for name, options in (("without context", ("--no-context",)), ("with context", ())):
        share = cost(arguments.teller, arguments.seconds, arguments.threads, *options)
        print(f"{name}: {share * 1000:.1f} ms of CPU time per second")


if __name__ == "__main__":
    main()
