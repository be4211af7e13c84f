"""Helpers of the tests that drive `teller trace`."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, run_teller, teller_binary

PYTHON = os.environ.get("TELLER_PYTHON", sys.executable)
# The build tree that the binary lies in: BUILD/src/cli/teller.
BUILD = Path(teller_binary()).resolve().parents[2]
TARGET = BUILD / "tests/targets/nvtx_target"
FAIL_CALL = BUILD / "tests/targets/libfail_call.so"
LIBRARY = BUILD / "preload/libteller_collector.so"

needs_target = pytest.mark.skipif(not TARGET.exists(), reason="no NVTX headers: the collector is not built")


def trace(run: Path, *command: object, options: tuple = (), **popen: object) -> subprocess.CompletedProcess:
    """Traces `command` into `run`; output is captured as bytes."""
    popen.setdefault("timeout", 120)
    popen.setdefault("capture_output", True)
    arguments = [teller_binary(), "trace", "-o", str(run), *map(str, options), "--", *map(str, command)]
    return subprocess.run(arguments, **popen)


def dumped(run: Path, artefact: str) -> list:
    """An artefact's records, as `teller dump --json` prints them."""
    done = run_teller("dump", run, artefact, "--json")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def events(run: Path, *kinds: str) -> list:
    """Events of the kinds (all but the files' own lines, if none is given)."""
    return [e for e in dumped(run, "events") if e["record"] != "source" and (not kinds or e["record"] in kinds)]


def sources(run: Path) -> list:
    """The META of every event file."""
    return [e["meta"] for e in dumped(run, "events") if e["record"] == "source"]


def manifest(run: Path) -> dict:
    """The run's manifest."""
    return json.loads((run / "manifest.json").read_text())


def lines(run: Path, name: str = "logs.jsonl") -> list:
    """A JSON-lines file of the run."""
    return [json.loads(line) for line in (run / name).read_text().splitlines()]


def balanced(run: Path) -> None:
    """On every thread and domain each pop has its push."""
    depth: dict = {}
    for event in events(run, "push", "pop"):
        key = (event["pid"], event["tid"], event.get("domain", ""))
        depth[key] = depth.get(key, 0) + (1 if event["record"] == "push" else -1)
        assert depth[key] >= 0, event
    assert not any(depth.values()), depth


__all__ = ["BUILD", "FAIL_CALL", "LIBRARY", "PYTHON", "ROOT", "TARGET", "balanced", "dumped", "events", "lines", "manifest",
           "needs_target", "sources", "trace"]
