"""The load of the soak: rounds of a small PyTorch model, ranges, threads, children and log lines, the same bytes each time.

usage: load.py SECONDS ROUNDS      at most so many of each; a line for each round
"""
from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
import time

import nvtx
import torch

torch.manual_seed(7)
torch.set_num_threads(1)
MODEL = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64))


class Engine:
    """Has the shape of an engine: a step of several parts."""

    def step(self, number: int) -> bytes:
        with nvtx.annotate("step[%d]" % number), torch.no_grad():
            x = torch.full((4, 64), (number % 97) / 97)
            for _ in range(4):
                with nvtx.annotate("layer"):
                    x = MODEL(x)
            return hashlib.sha256(x.numpy().tobytes()).digest()


def burst() -> None:
    """A thread that comes and goes."""
    for _ in range(200):
        with nvtx.annotate("burst"):
            pass


def main() -> None:
    seconds, rounds = float(sys.argv[1]), int(sys.argv[2])
    engine, end = Engine(), time.monotonic() + seconds
    for number in range(rounds):
        if time.monotonic() > end:
            break
        digest = hashlib.sha256()
        for step in range(50):
            digest.update(engine.step(step))
            time.sleep(0.002)
        threads = [threading.Thread(target=burst) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if number % 50 == 0:
            subprocess.run([sys.executable, "-c", "import nvtx; nvtx.push_range('child'); nvtx.pop_range()"], check=True)
        print("round", number, digest.hexdigest(), flush=True)


main()
