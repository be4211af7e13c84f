"""NVTX's extended payloads: decoded by their schemas, harmless to the program whatever schemas and sizes say; deep nesting."""
from __future__ import annotations

from pathlib import Path

import pytest
from conftest import run_teller
from trace_support import BUILD, balanced, events, sources, trace

TARGET = BUILD / "tests/targets/nvtx_payload_target"
pytestmark = pytest.mark.skipif(not TARGET.exists(), reason="no NVTX headers: the collector is not built")


def traced(tmp_path: Path, what: str) -> Path:
    """A run of the target."""
    run = tmp_path / "run"
    done = trace(run, TARGET, what)
    assert done.returncode == 0 and done.stdout == b"to the end\n", done
    assert sources(run)[0]["counts"]["invalid"] == 0
    assert sources(run)[0]["counts"]["corrupt"] == 0
    return run


def test_nccl_calls_say_what_they_do(tmp_path: Path) -> None:
    run = traced(tmp_path, "nccl")
    push = events(run, "push")[0]
    assert push["name"] == "ncclAllReduce" and push["domain"] == "NCCL"
    assert push["attrs"] == {
        "collective": "AllReduce", "bytes": 1 << 20, "reduction": "Max", "communicator": "0xfedcba9876543210",
        "payload": {"NCCL communicator ID": 0xFEDCBA9876543210, "Message size [bytes]": 1 << 20,
                    "Reduction operation": "Max"},
        "schema": "AllReduce"}
    init = events(run, "mark")[0]["attrs"]
    assert (init["operation"], init["rank"], init["nranks"], init["device"]) == ("CommInitRank", 3, 8, 1), init
    assert init["communicator"] == "0x1234"
    assert run_teller("reconstruct", run).returncode == 0


def test_types_arrays_nesting_and_strings(tmp_path: Path) -> None:
    run = traced(tmp_path, "types")
    marks = {e["name"]: e["attrs"] for e in events(run, "mark")}
    fields = marks["all types"]["payload"]
    assert fields.pop("elsewhere").startswith("0x"), "a pointer that leaves the event is not followed"
    assert fields == {"small": 200, "real": 2.5, "three": [1, -2, 3], "points": [{"x": 4, "y": 5}, {"x": 6, "y": 7}],
                      "text": "inline", "string": "registered", "selector": 1, "either": {"whole": -9}, "half": 1.5,
                      "negative": -1}
    assert marks["all types"]["schema"] == "all"
    assert marks["several"]["payload"] == [{"length": 4, "values": [10, 20, 30, 40]}, {"text": "pointed to"}]
    assert "by payload" in marks
    push, pop = events(run, "push")[0], events(run, "pop")[0]
    assert push["name"] == "by payload" and pop["attrs"] == {"payload": -7}
    start, stop = events(run, "start")[0], events(run, "stop")[0]
    assert start["correlation"] == stop["correlation"] and stop["attrs"] == {"payload": -7}


def test_hostile_payloads_harm_nobody(tmp_path: Path) -> None:
    run = traced(tmp_path, "hostile")
    marks = {e["name"]: e.get("attrs") for e in events(run, "mark") if "name" in e}
    for name in ("cycle", "two cycles", "counts", "size of the payload", "size of a string", "raw", "size of the schema",
                 "nowhere", "null", "unknown", "short list"):
        assert "payload" in marks[name], (name, marks[name])
    assert marks["raw"]["payload"] == {"bytes": 1 << 50}
    assert marks["unknown"]["payload"] == {"unknown_schema": (1 << 24) + 1234, "bytes": 8}
    assert marks["size of a string"]["payload"] == "e" * 16
    assert marks["negative"] is None and marks["no list"] is None
    assert all(len(str(attrs)) < 200_000 for attrs in marks.values())


def test_more_schemas_than_are_kept_in_mind(tmp_path: Path) -> None:
    traced(tmp_path, "many")


def test_two_thousand_levels_stay_balanced_while_a_ring_overflows(tmp_path: Path) -> None:
    run = traced(tmp_path, "deep")
    counts = sources(run)[0]["counts"]
    assert counts["dropped_ranges"] > 0, "the ring was large enough: nothing was shown"
    balanced(run)
    assert len(events(run, "push")) + counts["dropped_ranges"] == 20 * (2000 + sum(turn % 7 * 20 for turn in range(50)))
