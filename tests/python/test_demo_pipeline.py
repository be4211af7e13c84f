"""The whole path on a real PyTorch server: trace, reconstruct, slice, report; each defect names the request it hits.

The report is made from the trace alone: the switch is in the environment of the traced program only, and a test below
shows that the run folder doesn't hold it.
"""
from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from conftest import ROOT, run_teller

pytest.importorskip("torch", reason="PyTorch is not here: the demo engine cannot run")

PYTHON = os.environ.get("TELLER_PYTHON", sys.executable)


def record(run: Path, seed: int, fault: str, request: str = "req-0") -> Path:
    """Traces one run of the demo engine and rebuilds its chains."""
    env = {**os.environ, "DEMO_FAULT": fault, "DEMO_REQUEST": request}
    done = run_teller("trace", "-o", run, "--hooks", ROOT / "examples/demo_engine/hooks.json", "--",
                      PYTHON, "-m", "examples.demo_engine", "--seed", seed, cwd=ROOT, env=env)
    assert done.returncode == 0, done.stderr
    assert "0 failed" in done.stdout
    done = run_teller("reconstruct", run)
    assert done.returncode == 0, done.stderr
    return run


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A healthy run, the baseline of all others."""
    return record(tmp_path_factory.mktemp("healthy") / "run", 101, "none")


def suspects(run: Path, baseline: Path) -> list[dict]:
    """Runs slice and report; the requests that the report puts first, most suspicious first."""
    done = run_teller("slice", run, "--baseline", baseline)
    assert done.returncode == 0, done.stderr
    done = run_teller("report", run, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["suspects"]


def table(run: Path, name: str) -> list[dict]:
    """A table of the run's chains."""
    done = run_teller("dump", run, f"chains.{name}", "--json")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("fault,request_id,seed,kinds", [
    ("starve", "req-2", 11, {"passed_over"}),
    ("starve", "req-9", 12, {"passed_over"}),
    ("slow-op", "req-4", 13, {"slow_operator"}),
    ("slow-op", "req-12", 14, {"slow_operator"}),
    ("memory", "req-1", 15, {"preempted"}),
    ("memory", "req-7", 16, {"preempted"}),
])
def test_each_defect_puts_its_request_first(fault: str, request_id: str, seed: int, kinds: set[str], healthy: Path,
                                            tmp_path: Path) -> None:
    found = suspects(record(tmp_path / "run", seed, fault, request_id), healthy)
    assert found, "nothing stands out"
    assert found[0]["id"] == request_id, found
    assert found[0]["reasons"][0]["kind"] in kinds, found[0]


@pytest.mark.parametrize("seed", [21, 22])
def test_a_healthy_run_has_nothing_first(seed: int, healthy: Path, tmp_path: Path) -> None:
    assert suspects(record(tmp_path / "run", seed, "none"), healthy) == []


def test_every_request_has_its_steps_chain_and_log_lines(healthy: Path) -> None:
    requests = {r["request"]: r for r in table(healthy, "requests")}
    assert {f"req-{n}" for n in range(16)} <= set(requests)
    for name, request in requests.items():
        if name.startswith("req-"):
            assert request["steps"] >= 50 and request["first_token_ns"] > request["first_scheduled_ns"] > 0, request
    nodes = table(healthy, "nodes")
    families = {(n["layer"], n["family"]) for n in nodes}
    assert {("STEP", "engine step"), ("STEP", "schedule"), ("STEP", "row:decode"), ("BE", "attention")} <= families
    by_id = {n["id"]: n for n in nodes}
    attention = next(n for n in nodes if n["family"] == "attention" and n["step"] is not None)
    chain = [attention]
    while chain[-1]["parent"] is not None:
        chain.append(by_id[chain[-1]["parent"]])
    assert chain[-1]["family"] == "engine step" and chain[-1]["layer"] == "STEP"
    logs = table(healthy, "logs")
    assert any(line["rule"] == "request" and "req-3" in line["text"] for line in logs)


def test_two_runs_of_a_stage_give_the_same_bytes(healthy: Path) -> None:
    first = {}
    for _ in range(2):
        assert run_teller("reconstruct", healthy).returncode == 0
        assert run_teller("slice", healthy).returncode == 0
        made = {name: (healthy / name).read_bytes() for name in ("chains.tcol", "reconstruct.json", "findings.json")}
        made["report"] = run_teller("report", healthy).stdout.encode()
        first = first or made
        assert made == first
    assert run_teller("verify", healthy).returncode == 0


def test_the_run_does_not_hold_the_switch(healthy: Path, tmp_path: Path) -> None:
    run = record(tmp_path / "run", 31, "memory", "req-5")
    for path in run.rglob("*"):
        if path.is_file():
            assert b"DEMO_FAULT" not in path.read_bytes(), path
