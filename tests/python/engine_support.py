"""Helpers of the tests and benchmarks that run real engines: which Python has them, the tiny model, a server that is traced."""
from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TELLER = os.environ.get("TELLER_BIN", str(ROOT / "build/dev/src/cli/teller"))
PROGRAMS = ROOT / "tests/python/engine_programs"
ENVIRONMENT = {**os.environ, "HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
ENVIRONMENT.pop("PYTHONUNBUFFERED", None)


def engine_python() -> str:
    """TELLER_ENGINES_PYTHON, the venv that scripts/lib.sh makes, or the Python of the tests."""
    made = ROOT / ".venv-engines/bin/python"
    fallback = str(made) if made.exists() else os.environ.get("TELLER_PYTHON", "python3")
    return os.environ.get("TELLER_ENGINES_PYTHON", fallback)


def installed(*packages: str) -> bool:
    """Whether the engines' Python has the packages; none of them is imported."""
    code = "import importlib.util, sys; sys.exit(any(importlib.util.find_spec(p) is None for p in sys.argv[1:]))"
    return subprocess.run([engine_python(), "-c", code, *packages], capture_output=True).returncode == 0


def make_model(folder: Path, *sizes: int) -> Path:
    """The tiny model's checkpoint; `sizes`: its hidden size and layers."""
    done = subprocess.run([engine_python(), PROGRAMS / "tiny_model.py", folder, *map(str, sizes)], capture_output=True, text=True, env=ENVIRONMENT, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


def run_both(run: Path, *command: object, marker: str, env: dict, options: tuple = ()) -> list:
    """Runs a program plainly and traced, at the same time (both only wait and compute). The lines that begin with
    `marker` must be the same; they are returned."""
    command = tuple(map(str, command))
    plain = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    traced = subprocess.run([TELLER, "trace", "-q", "-o", str(run), *options, "--", *command], capture_output=True, text=True,
                            env=env, timeout=280)
    output, errors = plain.communicate(timeout=280)
    assert plain.returncode == 0, errors[-3000:]
    assert traced.returncode == 0, traced.stderr[-3000:]
    lines = [sorted(line for line in text.splitlines() if line.startswith(marker)) for text in (output, traced.stdout)]
    assert lines[0] and lines[0] == lines[1], f"plain {lines[0]}, traced {lines[1]}; {traced.stderr[-1500:]}"
    return lines[1]


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_ready(port: int, process: subprocess.Popen, log: Path, seconds: float = 240) -> None:
    """Until the server answers; fails with the end of its log if it ends or takes too long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise AssertionError(f"the server is not ready: {log.read_text(errors='replace')[-4000:]}")
