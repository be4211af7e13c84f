"""CUDA on a machine without a GPU: a fake libcupti hands real CUPTI records to the real collector (tests/fake_cupti)."""
from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import run_teller
from trace_support import BUILD, FAIL_CALL, LIBRARY, dumped, events, manifest, sources, trace

FAKE = BUILD / "tests/fake_cupti"
PROGRAM = FAKE / "cuda_program"
CUDA12 = FAKE / "libcupti.so.12"
CUDA13 = FAKE / "libcupti.so.13"
LAYOUTS = pytest.mark.parametrize("cupti", [CUDA12, CUDA13], ids=["cuda12", "cuda13"])

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="no CUPTI headers: the fake libcupti is not built")


def cuda(run: Path, cupti: Path, *arguments: object, options: tuple = (), env: dict | None = None,
         code: int = 0) -> subprocess.CompletedProcess:
    """Traces the CUDA program on the fake libcupti."""
    environment = {**os.environ, "TELLER_CUPTI": str(cupti), **(env or {})}
    done = trace(run, PROGRAM, *arguments, options=options, env=environment)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


def note(run: Path) -> str:
    """What came of CUDA in the run's one process."""
    return sources(run)[0]["cuda"]


def counts(run: Path) -> dict:
    """The counts that the process's file ends with."""
    return sources(run)[0]["counts"]


def reconstructed(run: Path) -> tuple[list, dict]:
    """The nodes, and reconstruct.json."""
    done = run_teller("reconstruct", run)
    assert done.returncode == 0, done.stderr
    return dumped(run, "chains.nodes"), json.loads((run / "reconstruct.json").read_text())


SCRIPT = """
context context=1 device=0 stream=7
name object=5 context=1 stream=13 name=copies
kernel corr=1 start=1000 end=2000 device=0 context=1 stream=7 name=_Z4gemmPf
memcpy corr=2 start=2000 end=2500 device=0 context=1 stream=13 bytes=4096 kind=1 from=1 to=3
peer corr=3 start=2500 end=2600 device=0 context=1 stream=13 bytes=512 kind=10 from=3 to=3 from_device=0 to_device=1
memset corr=4 start=2600 end=2700 device=0 context=1 stream=7 bytes=64 memory=3
graph corr=5 start=3000 end=4000 device=0 context=1 stream=7 graph=9
kernel corr=6 start=4000 end=4100 device=0 context=1 stream=7 graph=9 node=77 name=in_graph
sync corr=7 start=4100 end=5000 context=1 stream=7 type=3 result=700
overhead kind=0x10000 start=5000 end=5100
overhead kind=1 start=5100 end=5200
jit corr=8 start=5200 end=6200 device=0 bytes=12345
memory corr=9 start=6200 device=0 context=1 operation=1 bytes=1048576 address=0x7f0000
memory corr=10 start=6300 device=0 context=1 operation=2 bytes=1048576 address=0x7f0000 pool=0xabc
pool corr=11 start=6400 device=0 operation=3 bytes=4096 pool=0xabc used=1024
module context=1 id=3 bytes=777
external corr=12 external=4242 kind=3
kernel corr=12 start=7000 end=7100 device=0 context=1 stream=7 name=tied
kernel corr=13 start=0 end=0 device=0 context=1 stream=7 name=untimed
kernel corr=14 start=8000 end=0 device=0 context=1 stream=7 name=cut_off
"""


@LAYOUTS
def test_records_of_every_kind_arrive_with_their_values(tmp_path: Path, cupti: Path) -> None:
    script = tmp_path / "script"
    script.write_text(SCRIPT)
    run = tmp_path / "run"
    cuda(run, cupti, "replay", script)
    found = {}
    for event in events(run):
        found.setdefault(event["name"] if "name" in event else event["record"], []).append(event)

    def one(name: str, **fields: object) -> dict:
        assert len(found[name]) == 1, found[name]
        event = found[name][0]
        for key, value in fields.items():
            assert event.get(key) == value, (key, value, event)
        return event

    place = {"device": "0", "context": 1}
    one("_Z4gemmPf", record="kernel", begin=1000, end=2000, correlation=1, stream="stream 7", **place)
    one("Memcpy HtoD (Pageable -> Device)", record="memcpy", begin=2000, end=2500, value=4096, correlation=2, **place)
    one("Memcpy PtoP (Device -> Device)", record="memcpy", value=512, attrs={"from_device": 0, "to_device": 1}, **place)
    one("Memset (Device)", record="memset", begin=2600, end=2700, value=64, correlation=4, **place)
    one("graph 9", record="kernel", begin=3000, end=4000, correlation=5, external=9, graph=True, category="cuda_graph")
    one("in_graph", record="kernel", external=9, graph=True, attrs={"graph_node": 77})
    sync = one("Stream Sync", record="sync", begin=4100, end=5000, correlation=7)
    assert (sync.get("value"), sync.get("failed")) == (700, True)
    one("Buffer Flush", record="overhead", begin=5000, end=5100, category="cupti_overhead")
    one("Driver JIT Compiler", record="overhead", begin=5100, end=5200)
    one("JIT compile (PTX to cubin)", record="overhead", begin=5200, end=6200, correlation=8, category="cuda_jit",
        attrs={"cache_bytes": 12345})
    one("Memory allocation (Device)", record="memory", begin=6200, value=1048576, correlation=9,
        attrs={"address": "0x7f0000"})
    one("Memory release (Device)", record="memory", value=-1048576, attrs={"address": "0x7f0000", "pool": "0xabc"})
    one("Memory pool trimmed", record="memory", correlation=11,
        attrs={"pool": "0xabc", "bytes": 4096, "used_bytes": 1024})
    one("Module loaded", record="overhead", value=777, category="cuda_module", attrs={"module": 3})
    one("external_id", correlation=12, external=4242, value=3)
    one("tied", record="kernel", correlation=12, external=4242)
    one("untimed", record="kernel", repaired=True)
    one("cut_off", record="kernel", begin=8000, end=None)
    meta = sources(run)[0]
    assert meta["cuda_contexts"] == [{"context": 1, "device": 0, "null_stream": 7}]
    assert meta["cuda_names"] == [{"context": 1, "stream": 13, "kind": "stream", "name": "copies"}]
    assert meta["cuda_clock"] == {"base": "CLOCK_MONOTONIC"}
    _, result = reconstructed(run)
    balance = result["sources"][0]["records"]
    assert (balance["records_in"], balance["samples"], balance["unknown"]) == (18, 3, 0), balance
    tracks = {track["label"] for track in dumped(run, "chains.tracks")}
    assert "device 0 stream 13 (copies)" in tracks, tracks


def test_the_layout_of_older_cupti_is_read_too(tmp_path: Path) -> None:
    """Before CUDA 12.8 a synchronisation has no result, before 12.2 an overhead no correlation: what lies there is not read."""
    script = tmp_path / "script"
    script.write_text("sync corr=7 start=4100 end=5000 context=1 stream=7 type=4 result=700\noverhead kind=1 start=5 end=6\n")
    run = tmp_path / "run"
    cuda(run, CUDA12, "replay", script, env={"FAKE_CUPTI_VERSION": "19"})
    sync, overhead = events(run, "sync", "overhead")
    assert sync["name"] == "Context Sync" and "value" not in sync and "failed" not in sync, sync
    assert "correlation" not in overhead, overhead


def test_a_cupti_that_is_too_old_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    cuda(run, CUDA12, "work", env={"FAKE_CUPTI_VERSION": "18"})
    assert note(run) == "not recorded: CUPTI 18 is too old (CUDA 12.0 has 19)"
    assert not events(run)


def test_unknown_kinds_wrong_sizes_and_drops_are_counted(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("unknown kind=999 bytes=64\nunknown kind=21 bytes=8\nkernel corr=1 start=1 end=2 name=whole\n"
                      "kernel corr=2 start=1 end=2 cut=100 name=torn\nmemcpy corr=3 cut=5\ndrop records=41\n"
                      "kernel corr=4 start=3 end=4 name=last\nflush\ndrop records=1\nmemset corr=5 start=1 end=2\n")
    run = tmp_path / "run"
    done = cuda(run, CUDA13, "replay", script)
    assert [e["name"] for e in events(run, "kernel")] == ["whole", "last"]
    assert counts(run)["device_unknown"] == 2 and counts(run)["device_malformed"] == 2, counts(run)
    assert counts(run)["device_dropped"] == 42
    for text in (b"42 device records dropped by CUPTI", b"2 device records of kinds not known",
                 b"2 device records that leave their buffer"):
        assert text in done.stderr, done.stderr
    assert manifest(run)["counters"]["trace.device_records_unknown"] == 2


@LAYOUTS
def test_calls_and_what_they_launch(tmp_path: Path, cupti: Path) -> None:
    run = tmp_path / "run"
    cuda(run, cupti, "work")
    assert note(run) == f"CUPTI {28 if cupti == CUDA12 else 130001}"
    names = [e["name"] for e in events(run, "call") if not e.get("driver")]
    assert names == ["cudaLaunchKernel"] * 3 + ["cudaMemcpyAsync", "cudaMalloc", "cudaGraphLaunch", "cudaStreamSynchronize"]
    assert sum(bool(e.get("driver")) for e in events(run, "call")) == 7
    nodes, result = reconstructed(run)
    by_id = {node["id"]: node for node in nodes}
    parents = {node["name"]: by_id[node["parent"]]["name"] for node in nodes if node["layer"] == "K"}
    assert parents == {"gemm_kernel": "cudaLaunchKernel", "triton_kernel": "cuLaunchKernel",
                       "Memcpy HtoD (Pinned -> Device)": "cudaMemcpyAsync", "graph 5": "cudaGraphLaunch"}
    assert result["counters"]["bound_by_correlation"] == 6 and result["counters"]["without_call"] == 0
    assert not any("failed" in node["flags"] for node in nodes)
    assert run_teller("verify", run).returncode == 0


def test_activities_may_have_the_driver_calls_ids(tmp_path: Path) -> None:
    run = tmp_path / "run"
    cuda(run, CUDA13, "work", env={"FAKE_CUPTI_DRIVER_IDS": "1"})
    nodes, result = reconstructed(run)
    by_id = {node["id"]: node for node in nodes}
    assert {by_id[n["parent"]]["name"] for n in nodes if n["name"] == "gemm_kernel"} == {"cuLaunchKernel"}
    assert result["counters"]["without_call"] == 0


def test_graphs_node_by_node(tmp_path: Path) -> None:
    run = tmp_path / "run"
    cuda(run, CUDA13, "work", options=("--cuda-graph", "node"))
    nodes = [e for e in events(run, "kernel") if e["name"] == "node_kernel"]
    assert [e["attrs"]["graph_node"] for e in nodes] == [1, 2, 3]
    assert {e["external"] for e in nodes} == {5}
    assert "graph 5" not in {e["name"] for e in events(run, "kernel")}
    _, result = reconstructed(run)
    assert result["counters"]["graph_launches"] == 1


def test_kernels_only(tmp_path: Path) -> None:
    run = tmp_path / "run"
    cuda(run, CUDA13, "work", options=("--cuda", "kernels"))
    assert note(run) == "CUPTI 130001, kernels only: no calls"
    assert not events(run, "call")
    assert len(events(run, "kernel")) == 5 and len(events(run, "memcpy")) == 1
    done = cuda(tmp_path / "kernels", CUDA13, "subscriber", options=("--cuda", "kernels"))
    assert done.stdout == b"0\n"
    done = cuda(tmp_path / "full", CUDA13, "subscriber")
    assert done.stdout == b"1\n"
    _, result = reconstructed(run)
    assert result["counters"]["without_call"] == 6


@pytest.mark.parametrize("option", [("--cuda", "off"), ("--no-cuda",)])
def test_off(tmp_path: Path, option: tuple) -> None:
    run = tmp_path / "run"
    done = cuda(run, CUDA13, "work", options=option)
    assert done.stdout == b"no injection\n"
    assert not events(run)


def test_a_wrong_mode_is_refused(tmp_path: Path) -> None:
    done = trace(tmp_path / "run", "true", options=("--cuda", "some"))
    assert done.returncode == 2 and b"--cuda" in done.stderr, done.stderr


@LAYOUTS
def test_an_asynchronous_error_is_tied_to_what_was_in_flight(tmp_path: Path, cupti: Path) -> None:
    run = tmp_path / "run"
    done = cuda(run, cupti, "poisoned", 700)
    assert done.stdout == b"memcpy 700\nsynchronize 700\nother context 0\n"
    failed = [e for e in events(run, "call") if e.get("failed")]
    assert {e["value"] for e in failed} == {700}
    first = failed[0]
    assert first["name"] == "cuMemcpyHtoDAsync_v2" and first["attrs"]["asynchronous"] is True, first
    assert [launch["name"] for launch in first["attrs"]["in_flight"]] == ["bad_kernel"], first
    assert sum("attrs" in e for e in failed) == 1, "once per context"
    bad = [e for e in events(run, "kernel") if e["name"] == "bad_kernel"]
    assert len(bad) == 1 and bad[0]["failed"] and bad[0]["value"] == 700, bad
    assert bad[0]["attrs"] == {"in_flight": True, "error": 700, "reported_by": "cuMemcpyHtoDAsync_v2"}
    nodes, _ = reconstructed(run)
    by_id = {node["id"]: node for node in nodes}
    node = next(n for n in nodes if n["name"] == "bad_kernel")
    assert "failed" in node["flags"] and node["layer"] == "K" and node["value"] == 700, node
    assert by_id[node["parent"]]["name"] == "cudaLaunchKernel"
    assert not any("failed" in n["flags"] for n in nodes if n["name"] in ("good_kernel", "other_context_kernel"))


@pytest.mark.parametrize("driver_ids", [{}, {"FAKE_CUPTI_DRIVER_IDS": "1"}], ids=["runtime ids", "driver ids"])
def test_a_kernel_that_cupti_hands_over_without_its_end_is_the_one_in_flight(tmp_path: Path, driver_ids: dict) -> None:
    run = tmp_path / "run"
    cuda(run, CUDA13, "poisoned", 700, env={"FAKE_CUPTI_UNENDED": "1", **driver_ids})
    bad = [e for e in events(run, "kernel") if e["name"] == "bad_kernel"]
    assert len(bad) == 1 and bad[0]["failed"] and bad[0]["value"] == 700, bad
    assert bad[0]["stream"] == "stream 7" and bad[0]["attrs"]["reported_by"] == "cuMemcpyHtoDAsync_v2", bad
    nodes, result = reconstructed(run)
    assert [n["name"] for n in nodes if n["layer"] == "K" and "failed" in n["flags"]] == ["bad_kernel"]
    assert result["counters"]["without_call"] == 0


def test_an_error_that_is_none_of_the_device_names_no_kernel(tmp_path: Path) -> None:
    run = tmp_path / "run"
    cuda(run, CUDA13, "poisoned", 2)  # out of memory
    failed = [e for e in events(run, "call") if e.get("failed")]
    assert failed and not any("attrs" in e for e in failed)
    assert not any(e.get("failed") for e in events(run, "kernel"))


def test_a_process_killed_in_a_call_leaves_it_open_and_the_kernel_too(tmp_path: Path) -> None:
    run = tmp_path / "run"
    cuda(run, CUDA13, "hang", code=-signal.SIGKILL)
    call = [e for e in events(run, "call") if e.get("end", 0) is None]
    assert [e["name"] for e in call] == ["cudaStreamSynchronize"], call
    kernels = {e["name"]: e for e in events(run, "kernel")}
    assert kernels["endless_kernel"]["end"] is None and kernels["endless_kernel"]["attrs"] == {"in_flight": True}
    assert kernels["good_kernel"]["end"] is not None
    nodes, _ = reconstructed(run)
    open_nodes = {n["name"] for n in nodes if "open" in n["flags"]}
    assert open_nodes == {"cudaStreamSynchronize", "endless_kernel"}


def test_what_is_captured_into_a_graph_does_not_hang(tmp_path: Path) -> None:
    """No activity ever comes of it. What is launched after the capture is looked at as ever, whether it went well or not."""
    run = tmp_path / "run"
    cuda(run, CUDA13, "capture")
    assert [e["name"] for e in events(run, "kernel") if e["end"] is None] == ["endless_kernel"]


def test_a_process_that_ends_in_peace_leaves_nothing_open(tmp_path: Path) -> None:
    run = tmp_path / "run"
    cuda(run, CUDA13, "wait")
    assert not [e for e in events(run) if "end" in e and e["end"] is None]
    assert not any(e.get("attrs", {}).get("in_flight") for e in events(run, "kernel"))


def test_fork_after_initialisation(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = cuda(run, CUDA13, "fork")
    assert done.stdout == b"child 0\n"
    assert sum(e["name"] == "gemm_kernel" for e in events(run, "kernel")) == 3, "the parent's, and once"


def test_many_threads(tmp_path: Path) -> None:
    run = tmp_path / "run"
    cuda(run, CUDA13, "threads", 8)
    calls = [e for e in events(run, "call") if not e.get("driver")]
    assert len(calls) + counts(run)["dropped"] // 2 >= 1600 and len({e["tid"] for e in calls}) == 8
    kernels = [e["correlation"] for e in events(run, "kernel")]
    assert len(kernels) == len(set(kernels)) and len(kernels) + counts(run)["dropped"] >= 1600


def test_buffers_are_bounded_and_refusals_counted(tmp_path: Path) -> None:
    """64 buffers of 256 KiB: what a CUPTI that delivers nothing asks for beyond is refused, and its records are counted."""
    run = tmp_path / "run"
    launches = 100_000
    done = cuda(run, CUDA13, "flood", launches)
    assert counts(run)["cuda_buffers_refused"] > 0
    assert counts(run)["device_dropped"] > 0 and b"device records dropped by CUPTI" in done.stderr
    kernels = len(events(run, "kernel"))
    assert 0 < kernels < launches, kernels


@pytest.mark.parametrize(("fail", "says"), [("subscribe:999", "no driver (cuptiSubscribe 999)"),
                                            ("domain:1", "no driver (cuptiEnableDomain 1)"),
                                            ("activity:999", "CUPTI 130001, calls only: activities could not be enabled")])
def test_a_driver_that_is_not_there_is_noted(tmp_path: Path, fail: str, says: str) -> None:
    run = tmp_path / "run"
    done = cuda(run, CUDA13, "work", env={"FAKE_CUPTI_FAIL": fail})
    assert note(run) == says
    assert done.stdout == b"" and len(done.stderr.splitlines()) == 1, done.stderr
    assert bool(events(run, "call")) == fail.startswith("activity")
    assert not events(run, "kernel")


def test_another_subscriber_is_left_alone(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = cuda(run, CUDA13, "second")
    assert done.stdout == b"clock 0\n", "CUPTI has one clock, and it is the other tool's"
    assert note(run) == "not recorded: another tool has subscribed to CUPTI"
    assert not events(run)


def test_a_libcupti_that_lacks_functions_is_noted(tmp_path: Path) -> None:
    run = tmp_path / "run"
    cuda(run, FAIL_CALL, "nothing")
    assert note(run) == "libcupti lacks functions that are needed"


def test_a_missing_libcupti_is_noted(tmp_path: Path) -> None:
    for name in ("libcupti.so.13", "libcupti.so.12", "libcupti.so"):
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        pytest.skip("this machine has a real libcupti where the loader finds it")
    run = tmp_path / "run"
    cuda(run, tmp_path / "nowhere.so", "nothing")
    assert note(run) == "libcupti not found"


def test_names_that_the_program_gives(tmp_path: Path) -> None:
    run = tmp_path / "run"
    cuda(run, CUDA13, "names")
    names = {(entry["kind"], entry.get(entry["kind"])): entry["name"] for entry in sources(run)[0]["cuda_names"]}
    assert names == {("device", 0): "the only one", ("context", 1): "main context", ("stream", 7): "decode",
                     ("stream", 13): "copies \u4e2d"}
    reconstructed(run)
    assert "device 0 stream 7 (decode)" in {track["label"] for track in dumped(run, "chains.tracks")}
    # Without CUPTI a handle has no number.
    cuda(tmp_path / "off", CUDA13, "names", options=("--cuda", "off"))
    entries = sources(tmp_path / "off")[0]["cuda_names"]
    assert {"handle": "0x7", "kind": "stream", "name": "decode"} in entries, entries


def test_a_clock_that_is_not_ours_is_followed(tmp_path: Path) -> None:
    """CUPTI's clock has another zero here: its offset is measured, and again, and the times come out as ours."""
    run = tmp_path / "run"
    cuda(run, CUDA13, "wait", env={"FAKE_CUPTI_FAIL": "timestamp:7"})
    clock = sources(run)[0]["cuda_clock"]
    assert clock["base"] == "CUPTI" and clock["measured"] >= 2, clock
    assert abs(clock["offset_ns"] + 7_000_000_000_000) <= clock["uncertainty_ns"], clock
    assert abs(clock["drift_ns"]) < 1_000_000, clock
    calls = {e["correlation"]: e for e in events(run, "call")}
    for kernel in events(run, "kernel"):
        assert abs(kernel["begin"] - calls[kernel["correlation"]]["end"]) < 5_000_000_000, kernel


def test_the_collector_depends_on_libc_alone_and_needs_no_cupti(tmp_path: Path) -> None:
    text = subprocess.run(["nm", "-D", "--undefined-only", LIBRARY], text=True, capture_output=True, check=True).stdout
    assert "cupti" not in text and "_Znw" not in text, "CUPTI is looked up at run time, and nothing is made with new"
