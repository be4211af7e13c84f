"""What bench/overhead/run measures: programs and servers that wait, and do a block of work when asked."""
from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
WORK = ROOT / "build/bench-overhead"
sys.path[:0] = [str(ROOT / "tests/python"), str(ROOT / "tests/python/engine_programs")]
from engine_support import ENVIRONMENT, engine_python, free_port, make_model, wait_until_ready  # noqa: E402
from process_tree import peak_rss_mib, tree, usage  # noqa: E402
from serve_client import ask_all  # noqa: E402

TELLER = os.environ.get("TELLER_BIN", str(ROOT / "build/dev/src/cli/teller"))
PYTHON = os.environ.get("TELLER_PYTHON", sys.executable)
# One thread of computation: threads that wait for each other on a shared machine measure the machine.
ENGINE = {**ENVIRONMENT, "OMP_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
# Hidden size and layers: steps of 1.6 ms, where recording is seen best; and steps as long as those of a served model.
MODELS = {"tiny": (64, 2), "small": (512, 8)}


def model(name: str) -> Path:
    """The checkpoint; made where it is not there."""
    folder = WORK / f"model-{name}"
    if not (folder / "config.json").exists():
        WORK.mkdir(parents=True, exist_ok=True)
        make_model(folder, *MODELS[name])
    return folder


def traced(run: Path, variant: str, command: list) -> list:
    """`command`, recorded at the level that the variant names; as it is where that is `plain`."""
    command = [str(word) for word in command]
    if variant == "plain":
        return command
    return [TELLER, "trace", "-q", "--overwrite", "-o", str(run), "--level", variant, "--", *command]


class Contestant:
    """One variant of a case: a process tree that waits for work."""

    def __init__(self, case: str, variant: str, path: str = "") -> None:
        self.name = f"{case}-{variant}"
        self.members: list = []
        self.environment = {**ENGINE, "PYTHONPATH": ":".join(filter(None, (str(HERE / "programs"), path)))}
        self.process = self._start(case, WORK / f"run-{self.name}", variant)

    def block(self) -> dict:
        """Does one block: its wall time, and what the program and teller's own processes used meanwhile."""
        begin, start = usage(self.members), time.perf_counter()
        self._work()
        wall = time.perf_counter() - start
        end = usage(self.members)
        return {"wall_s": wall, **{key: end[key] - begin[key] for key in end}}

    def rss_mib(self) -> float:
        """Peak memory of all its processes."""
        return peak_rss_mib(self.members)

    def _ready(self) -> None:
        """All processes are there: the first block warms them up."""
        self.members = tree(self.process.pid)
        self._work()

    def _start(self, case: str, run: Path, variant: str) -> subprocess.Popen:
        raise NotImplementedError

    def _work(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        """Ends it."""
        raise NotImplementedError


class Program(Contestant):
    """A program of programs/."""

    def _start(self, case: str, run: Path, variant: str) -> subprocess.Popen:
        if case == "train":
            command = [PYTHON, HERE / "programs/torch_loop.py", 20]
        else:
            command = [engine_python(), HERE / "programs/vllm_generate.py", model("small" if case == "steps" else "tiny"), 8 if case == "steps" else 24]
        log = (WORK / f"{self.name}.log").open("wb")
        return subprocess.Popen(traced(run, variant, command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                                env=self.environment)

    def wait_until_ready(self) -> None:
        """Until it asks for work."""
        self._line("READY")
        self._ready()

    def _line(self, word: str) -> None:
        for line in self.process.stdout:
            if line.startswith(word):
                return
        raise SystemExit(f"{self.name}: ended without {word}; see {WORK / self.name}.log")

    def _work(self) -> None:
        print("go", file=self.process.stdin, flush=True)
        self._line("DONE")

    def stop(self) -> None:
        self.process.communicate("end\n", timeout=120)


class Server(Contestant):
    """`vllm serve`: a block is four batches of 8 concurrent requests."""

    def _start(self, case: str, run: Path, variant: str) -> subprocess.Popen:
        self.port = free_port()
        command = [Path(engine_python()).parent / "vllm", "serve", model("tiny"), "--port", self.port, "--enforce-eager", "--dtype", "bfloat16",
                   "--max-model-len", 256, "--served-model-name", "tiny", "--no-enable-prefix-caching"]
        with (WORK / f"{self.name}.log").open("wb") as log:
            return subprocess.Popen(traced(run, variant, command), stdout=log, stderr=log, env=self.environment)

    def wait_until_ready(self) -> None:
        """Until it answers."""
        wait_until_ready(self.port, self.process, WORK / f"{self.name}.log")
        self._ready()

    def _work(self) -> None:
        for _ in range(4):
            ask_all(self.port, "tiny", 8)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)


class Switched:
    """One state of a recorded program whose hooks can be switched off (switch/sitecustomize.py)."""

    def __init__(self, contestant: Contestant, hooks: bool) -> None:
        self.contestant, self.process = contestant, contestant.process
        self.signal = signal.SIGUSR2 if hooks else signal.SIGUSR1

    def block(self) -> dict:
        """As Contestant.block()."""
        switched = [pid for pid in self.contestant.members if _catches(pid, self.signal)]
        if not switched:
            raise SystemExit(f"{self.contestant.name}: no process of it can be switched")
        for pid in switched:
            os.kill(pid, self.signal)
        time.sleep(0.02)
        return self.contestant.block()

    def rss_mib(self) -> float:
        """As Contestant.rss_mib(): one value for both states."""
        return self.contestant.rss_mib()

    def stop(self) -> None:
        """Ends the program; once for both states."""
        if self.process.poll() is None:
            self.contestant.stop()


def _catches(pid: int, number: int) -> bool:
    """Whether the process has a handler for the signal, and is none of teller's."""
    try:
        lines = Path("/proc", str(pid), "status").read_text().splitlines()
    except OSError:
        return False
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return "teller" not in fields["Name"] and bool(int(fields["SigCgt"], 16) >> (number - 1) & 1)


def start_switched(case: str) -> list:
    """A case recorded at the default level, with its hooks off and on."""
    (contestant,) = start(case, ("frontend",), str(HERE / "switch"))
    return [Switched(contestant, False), Switched(contestant, True)]


def start(case: str, variants: tuple, path: str = "") -> list:
    """All variants of a case, ready to work. `path` is put into their PYTHONPATH."""
    kind = Server if case == "serve" else Program
    started: list = []
    try:
        for variant in variants:
            started.append(kind(case, variant, path))
            started[-1].wait_until_ready()
    except BaseException:
        stop_all(started)
        raise
    return started


def stop_all(contestants: list) -> None:
    """Ends them all; whoever does not end, with all its processes, by force."""
    for contestant in contestants:
        members = tree(contestant.process.pid)
        try:
            contestant.stop()
        except (OSError, ValueError, subprocess.TimeoutExpired):
            for pid in members:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
