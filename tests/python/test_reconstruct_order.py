"""Shuffled traces give the same chains; steps of traces made with Python stacks hold what ran in them.

Needs a binary (TELLER_BIN); what needs PyTorch or the shared traces is skipped without them.
"""
from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = Path(os.environ.get("TELLER_SHARED", ROOT.parent / "shared"))
TELLER = os.environ.get("TELLER_BIN", "teller")
PYTHON = os.environ.get("TELLER_PYTHON", sys.executable)
KINETO = SHARED / "traces" / "kineto"
STACKS = Path(__file__).parent / "data" / "kineto_with_stack.json"

PROFILED = """
import sys, torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule
model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=3), with_stack=True,
             on_trace_ready=lambda p: p.export_chrome_trace(sys.argv[1])) as profiler:
    for _ in range(5):
        with record_function("my forward"):
            loss = model(torch.randn(4, 16)).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        profiler.step()
"""


def rebuild(trace: Path, run: Path) -> tuple[bytes, dict]:
    """The chains and roles of a trace, as bytes, and its report."""
    subprocess.run([TELLER, "import", trace, "-o", run, "--overwrite"], check=True, capture_output=True)
    subprocess.run([TELLER, "reconstruct", run], check=True, capture_output=True)
    written = (run / "chains.tcol").read_bytes() + (run / "roles.json").read_bytes()
    return written, json.loads((run / "reconstruct.json").read_text(encoding="utf-8"))


def shuffled_keys(value: object, rng: random.Random) -> object:
    """The same JSON, its members in another order."""
    if not isinstance(value, dict):
        return value
    members = list(value.items())
    rng.shuffle(members)
    return {key: shuffled_keys(member, rng) for key, member in members}


def check_shuffles(trace: dict, folder: Path) -> None:
    """Shuffled events and keys give the same bytes."""
    path = folder / "trace.json"
    path.write_text(json.dumps(trace), encoding="utf-8")
    chains, report = rebuild(path, folder / "run")
    assert report["coverage"]["nodes"] > 10
    for seed in range(1, 4):
        rng = random.Random(seed)
        events = list(trace["traceEvents"])
        rng.shuffle(events)
        if seed > 1:
            events = [shuffled_keys(event, rng) for event in events]
        path.write_text(json.dumps({**trace, "traceEvents": events}), encoding="utf-8")
        again, report_again = rebuild(path, folder / "run")
        assert report_again == report, f"seed {seed}"
        assert again == chains, f"seed {seed}: other bytes"


def test_flows_alone_tie_kernels_and_backward_passes_in_any_order(tmp_path: Path) -> None:
    """A trace whose activities have no arguments: arrows say what launched them, and which step went backward."""
    events: list[dict] = []

    def add(cat: str, name: str, begin: int, end: int, tid: object, pid: int = 1) -> None:
        events.append({"ph": "X", "cat": cat, "name": name, "ts": begin, "dur": end - begin, "pid": pid, "tid": tid, "args": {}})

    def flow(cat: str, number: int, begin: int, end: int, to_tid: object, to_pid: int) -> None:
        for phase, time, pid, tid in (("s", begin, 1, 1), ("f", end, to_pid, to_tid)):
            events.append({"ph": phase, "id": number, "cat": cat, "name": cat, "ts": time, "pid": pid, "tid": tid, "bp": "e"})

    for step in range(3):
        at = step * 100
        add("user_annotation", f"ProfilerStep#{step}", at, at + 99, 1)
        add("cpu_op", "aten::mm", at + 10, at + 20, 1)
        add("cuda_runtime", "cudaLaunchKernel", at + 12, at + 15, 1)
        add("kernel", f"gemm {step}", at + 30, at + 40, 7, 0)
        flow("ac2g", step + 1, at + 12, at + 30, 7, 0)
        add("cpu_op", f"backward {step}", at + 90, at + 105, 2)  # goes on when the step's range has ended
        flow("fwdbwd", step + 1, at + 10, at + 90, 2, 1)
    check_shuffles({"traceEvents": events}, tmp_path)
    counters = json.loads((tmp_path / "run" / "reconstruct.json").read_text(encoding="utf-8"))["counters"]
    assert counters["bound_by_flow"] == 3 and counters["without_call"] == 0
    assert counters["worker_ranges_by_flow"] == 3 and counters["device_in_steps"] == 3
    dumped = subprocess.run([TELLER, "dump", tmp_path / "run", "chains.nodes", "--json"], check=True, capture_output=True, text=True)
    nodes = [json.loads(line) for line in dumped.stdout.splitlines()]
    steps = {node["name"]: node["step"] for node in nodes}
    assert all(steps[f"gemm {step}"] == steps[f"backward {step}"] == step for step in range(3))


def test_a_shuffled_trace_is_the_same_run(tmp_path: Path) -> None:
    """The small trace of this project."""
    check_shuffles(json.loads(STACKS.read_text(encoding="utf-8")), tmp_path)


@pytest.mark.skipif(not KINETO.is_dir(), reason=f"no real traces at {KINETO}")
@pytest.mark.parametrize("name", ["alexnet_critical_path", "vllm_decode_mi300_hipgraph", "nccl_args_a100_rank0", "qwen1.5_0.5b_h100"])
def test_a_shuffled_real_trace_is_the_same_run(name: str, tmp_path: Path) -> None:
    """Real traces: equal times, threads of two names, rows of devices that flows mention first."""
    with gzip.open(KINETO / f"{name}.json.gz") as file:
        check_shuffles(json.load(file), tmp_path)


def check_steps(trace: Path, folder: Path) -> None:
    """Every step has the length that the trace states and holds its operators; no annotation was cut."""
    events = [e for e in json.loads(trace.read_text(encoding="utf-8"))["traceEvents"] if e.get("ph") == "X"]
    annotations = [e for e in events if e["cat"] == "user_annotation"]
    expected = sorted(round(e["dur"] * 1000) for e in annotations if e["name"].startswith("ProfilerStep#"))
    _, report = rebuild(trace, folder / "run")
    assert report["coverage"]["steps"] == len(expected) > 1
    assert report["counters"]["frames_cut_by_annotations"] > 0
    assert report["counters"]["overlaps_clipped"] == 0
    dump = subprocess.run([TELLER, "dump", folder / "run", "chains.nodes", "--json"], check=True, capture_output=True, text=True).stdout
    nodes = [json.loads(line) for line in dump.splitlines()]
    steps = [n for n in nodes if n["layer"] == "STEP"]
    lengths = sorted(n["end_ns"] - n["begin_ns"] for n in steps)
    assert all(abs(have - want) <= 1 for have, want in zip(lengths, expected, strict=True))
    names = {a["name"] for a in annotations}
    assert not [n["name"] for n in nodes if n["name"] in names and "repaired" in n["flags"]]
    operators = [n for n in nodes if n["layer"] == "BE"]
    inside = [n for n in operators if n["step"] is not None]
    assert len(inside) >= 0.9 * len(operators)


def test_steps_of_a_small_trace_with_stacks(tmp_path: Path) -> None:
    """What PyTorch 2 wrote, cut down: a step begins in __enter__ and ends in __exit__ of its context manager."""
    check_steps(STACKS, tmp_path)


def test_steps_of_a_fresh_trace_with_stacks(tmp_path: Path) -> None:
    """The same, from the PyTorch that is here."""
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no PyTorch here")
    trace = tmp_path / "trace.json"
    subprocess.run([PYTHON, "-c", PROFILED, trace], check=True, capture_output=True, timeout=300)
    check_steps(trace, tmp_path)


def test_role_files(tmp_path: Path) -> None:
    """A role file of the user decides; a bad one is one line that names file and line, and nothing is written."""
    run = tmp_path / "run"
    subprocess.run([TELLER, "import", STACKS, "-o", run], check=True, capture_output=True)
    good = tmp_path / "good.txt"
    good.write_text("role mine What is mine\nmatch BE mine aten::addmm\n", encoding="utf-8")
    subprocess.run([TELLER, "reconstruct", run, "--roles", good], check=True, capture_output=True)
    names = json.loads((run / "roles.json").read_text(encoding="utf-8"))["names"]
    assert [n["role"] for n in names if n["name"] == "aten::addmm"] == ["mine"]
    before = (run / "roles.json").read_bytes()
    bad = tmp_path / "bad.txt"
    bad.write_text("role mine What is mine\n\nmatch K yours *x*\n", encoding="utf-8")
    done = subprocess.run([TELLER, "reconstruct", run, "--roles", bad], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"{bad}, line 3: there is no role \"yours\"" in done.stderr
    assert (run / "roles.json").read_bytes() == before


@pytest.mark.skipif(not KINETO.is_dir(), reason=f"no real traces at {KINETO}")
def test_roles_cover_real_traces() -> None:
    """Of the time of kernels in every trace at least 98 % has a role."""
    script = ROOT / "scripts" / "roles_coverage.py"
    done = subprocess.run([sys.executable, script, TELLER, KINETO, SHARED / "traces" / "nsys", "--least", "0.98"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_trace_is_no_coverage(tmp_path: Path) -> None:
    """Where there is nothing to measure, the script fails instead of saying that all is well."""
    script = ROOT / "scripts" / "roles_coverage.py"
    done = subprocess.run([sys.executable, script, TELLER, tmp_path, "--least", "0.98"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "no trace" in done.stderr
