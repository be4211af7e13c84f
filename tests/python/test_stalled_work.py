"""A device that hangs in a trace of PyTorch's profiler: what never ends is not reported, only its launch is there."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import run_teller

STEPS = 12
US = 1_000


def launch(name: str, at: int, correlation: int, **args: object) -> dict:
    """A launching call; microseconds."""
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": 5, "args": {"correlation": correlation, **args}}


def healthy_step(number: int) -> list:
    """10 ms: four operators, each with a launch and its kernel."""
    begin = 10 * US * number
    events = [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1, "tid": 1, "ts": begin, "dur": 10 * US - 1}]
    for part in range(4):
        at, correlation = begin + 100 + 2000 * part, 100 * number + part + 1
        events += [
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at, "dur": 50},
            launch("hipLaunchKernel", at + 10, correlation, stream=7, kernel="gemm"),
            {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": at + 30, "dur": 1500,
             "args": {"correlation": correlation, "stream": 7, "device": 0}},
        ]
    return events


def last_step(after_us: int, call: str, **args: object) -> list:
    """A step whose two launches are all that is known of the device; the host works on for a while."""
    begin = 10 * US * STEPS
    events = [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{STEPS}", "pid": 1, "tid": 1, "ts": begin, "dur": after_us},
              {"ph": "X", "cat": "cpu_op", "name": "aten::attention", "pid": 1, "tid": 1, "ts": begin + 100, "dur": 400}]
    events += [launch(call, begin + 110 + 100 * number, 90_001 + number, **args) for number in range(2)]
    events.append({"ph": "X", "cat": "cpu_op", "name": "aten::is_done", "pid": 1, "tid": 1, "ts": begin + after_us - 100, "dur": 50})
    return events


def diagnosis_of(folder: Path, events: list) -> dict:
    """Imports and diagnoses; skips where teller has no model."""
    (folder / "trace.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    assert run_teller("import", folder / "trace.json", "-o", folder / "run").returncode == 0
    done = run_teller("diagnose", folder / "run", "--json")
    if done.returncode == 5 and "loading the model library" in done.stderr:
        pytest.skip("teller was built without LibTorch: it has no diagnose")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("call", "args", "stream", "first", "fault"), [
    ("hipLaunchKernel", {"stream": 7, "kernel": "flash_attention"}, "stream 7", "flash_attention", "cuda_kernel"),
    ("hipLaunchKernel", {"stream": 7, "kernel": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"}, "stream 7",
     "ncclDevKernel_AllReduce", "communication"),
    ("cudaLaunchKernel", {}, "stream ?", "kernel in flight", "cuda_kernel"),
])
def test_the_work_that_never_ends_is_named(tmp_path: Path, call: str, args: dict, stream: str, first: str, fault: str) -> None:
    events = [event for step in range(STEPS) for event in healthy_step(step)] + last_step(4_000 * US, call, **args)
    diagnosis = diagnosis_of(tmp_path, events)
    assert (diagnosis["abnormal"], diagnosis["judged"], diagnosis["fault_type"]) == (True, True, fault), diagnosis["explanation"]
    stalled = diagnosis["stalled_streams"]
    assert len(stalled) == 1 and stream in stalled[0]["stream"] and stalled[0]["pieces"] == 2
    assert first in stalled[0]["first"]["name"] and 3.9e9 < stalled[0]["still_ns"] < 4.0e9
    assert diagnosis["first_seen"]["number"] == STEPS
    assert "stands still for" in diagnosis["explanation"] and "aten::attention" in diagnosis["explanation"]
    assert run_teller("verify", tmp_path / "run").returncode == 0


def test_a_capture_that_ends_before_its_work_is_no_hang(tmp_path: Path) -> None:
    events = [event for step in range(STEPS) for event in healthy_step(step)] + last_step(200 * US, "hipLaunchKernel", stream=7, kernel="gemm")
    assert diagnosis_of(tmp_path, events)["stalled_streams"] == []


def test_lost_records_are_no_hang(tmp_path: Path) -> None:
    events = [event for step in range(400) for event in healthy_step(step)]
    lost = [event for event in events if not (event["cat"] == "kernel" and 300 < event["args"]["correlation"] < 500)]
    assert len(lost) < len(events)
    assert diagnosis_of(tmp_path, lost)["stalled_streams"] == []
