"""What all Python tests share: where the binary is, how it is run, and how a mistake must look."""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
# A shell has what it starts in the background ignore Ctrl-C, and programs that a test starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def teller_binary() -> str:
    """The teller under test."""
    return os.environ.get("TELLER_BIN", str(ROOT / "build/dev/src/cli/teller"))


def run_teller(*args: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs teller and captures its output as text."""
    options.setdefault("timeout", 300)
    return subprocess.run([teller_binary(), *map(str, args)], text=True, capture_output=True, **options)


def xxh128sum(path: Path) -> str:
    """XXH3-128 of a file, as others compute it."""
    return subprocess.run(["xxh128sum", path], check=True, capture_output=True, text=True).stdout.split()[0]


def as_nobody(*args: object, cwd: str = "/") -> subprocess.CompletedProcess[str]:
    """Runs teller as the user nobody; needs root and setpriv."""
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", teller_binary(), *map(str, args)]
    return subprocess.run(command, text=True, capture_output=True, cwd=cwd, timeout=120)


def expect_one_line(done: subprocess.CompletedProcess[str], *codes: int, says: str = "") -> None:
    """A refusal: one of the exit codes, one line of error on stderr, no trace of a crash."""
    errors = [line for line in done.stderr.splitlines() if line.strip()]
    assert done.returncode in codes, (done.returncode, done.stderr)
    assert len(errors) == 1, done.stderr
    assert errors[0].startswith("teller: error: "), errors
    assert len(errors[0]) < 400, errors
    for word in ("terminate called", "what():", "Traceback", "std::", "Segmentation"):
        assert word not in done.stderr, done.stderr
    assert says in errors[0], errors


@pytest.fixture
def open_tmp(tmp_path: Path) -> Path:
    """A temporary folder that other users may enter."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder == Path("/tmp"):
            break
        if os.stat(folder).st_uid == os.getuid():
            os.chmod(folder, 0o755)
    return tmp_path


needs_root = pytest.mark.skipif(os.getuid() != 0 or shutil.which("setpriv") is None,
                                reason="needs root and setpriv, to become the user nobody")
