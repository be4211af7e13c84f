#!/usr/bin/env python3
"""Makes the first seeds of the fuzz targets: one small input for each form that a reader knows. What fuzzing adds to
tests/fuzz/corpus/ comes from scripts/check_fuzz.sh with FUZZ_MERGE=1; this only writes what is missing.

    tests/fuzz/make_seeds.py
"""
from __future__ import annotations

import gzip
import io
import json
import pickle
import random
import sqlite3
import struct
import tarfile
import tempfile
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMPAT = HERE.parent / "compat" / "v1.0.run"


def put(target: str, name: str, data: bytes | str) -> None:
    path = HERE / "corpus" / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_bytes(data.encode() if isinstance(data, str) else data)


def kineto() -> None:
    op = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 5.125, "dur": 2,
          "args": {"External id": 7, "Record function id": 3, "Input Dims": [[2, 3], []]}}
    events = [
        op, {**op, "cat": "python_function", "name": "a.py(1): f", "args": {"Python id": 1}},
        {**op, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "args": {"cbid": 211, "correlation": 5, "External id": 7}},
        {**op, "cat": "kernel", "name": "void k<1>(int)", "pid": 0, "tid": 7,
         "args": {"device": 0, "stream": 7, "context": 1, "correlation": 5, "graph id": 2, "grid": [1, 2, 3]}},
        {**op, "cat": "gpu_memcpy", "name": "Memcpy", "pid": 0, "tid": 7, "args": {"bytes": 64, "device": 0, "stream": 7}},
        {"ph": "s", "id": 5, "pid": 1, "tid": 1, "ts": 5, "cat": "ac2g", "name": "ac2g"},
        {"ph": "f", "id": 5, "pid": 0, "tid": 7, "ts": 6, "cat": "ac2g", "name": "ac2g", "bp": "e"},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "ts": 0, "args": {"name": "main"}},
        {"ph": "C", "name": "util", "pid": 1, "tid": 2, "ts": 4, "args": {"GPU": 37.5}},
        {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 3, "args": {"Bytes": -16}}]
    whole = {"schemaVersion": 1, "deviceProperties": [{"id": 0}], "distributedInfo": {"rank": 0, "world_size": 2},
             "baseTimeNanoseconds": 1711964646000000000, "displayTimeUnit": "ms", "traceEvents": events, "traceName": "t"}
    put("kineto", "today", json.dumps(whole))
    put("kineto", "today.gz", gzip.compress(json.dumps(whole).encode(), mtime=0))
    put("kineto", "array", json.dumps(events, indent=1))
    put("kineto", "former", json.dumps({"traceEvents": [
        {**op, "cat": "Operator", "tid": "10", "args": {"external id": 3}},
        {**op, "cat": "Kernel", "pid": 0, "tid": "stream 7", "args": {"stream": 7, "correlation": 1}},
        {"ph": "B", "name": "open", "pid": 1, "tid": 2, "ts": 1}, {"ph": "E", "pid": 1, "tid": 2, "ts": 2},
        {"ph": "b", "id": "0x1f", "name": "a", "pid": 1, "tid": 2, "ts": 1}, {"ph": "O", "ts": 1}]}))
    put("kineto", "broken", b'[{"ph":"X","cat":"cpu_op","name":"C:\\Users\\x\nl\xe9\xff\\ud800","pid":-1,"tid":1,"ts":1e3,"dur":NaN},'
                            b'{"ph":"X","ts":1,"dur":1,"args":{"a":inf,"b":[1,],/* c */"s":0x262ca50,},}, 17,{"ph":"X","name":"cut"')


def execution_trace() -> None:
    def node(ident: int, name: str, parent: int, **more) -> dict:
        return {"id": ident, "name": name, "ctrl_deps": parent, "inputs": {"values": [], "shapes": [[2]], "types": ["T"]},
                "outputs": {}, "attrs": [{"name": "rf_id", "type": "uint64", "value": 10 + ident},
                                         {"name": "tid", "type": "uint64", "value": 1},
                                         {"name": "scope", "type": "uint64", "value": 0}], **more}
    nodes = [node(2, "[pytorch|profiler|execution_trace|thread]", 1), node(4, "aten::mm", 3), node(3, "aten::linear", 2)]
    put("execution_trace", "today", json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "time": "2026-01-01 00:00:00",
                                                "start_ts": 1, "nodes": nodes, "finish_ts": 2}))
    put("execution_trace", "timed", json.dumps({"schema": "1.0.3", "pid": 1, "nodes": [
        node(3, "a", 2, ts=1.5, inclusive_dur=2), node(4, "b", 3, ts=2, dur=1)]}))
    put("execution_trace", "first", json.dumps({"schema": "1.0.1", "pid": 1, "nodes": [
        {"id": 3, "name": "a", "parent": 2, "rf_id": 1, "tid": 1, "scope": 7, "inputs": [], "op_schema": ""}]}))


def otlp() -> None:
    def text(key: str, value: str) -> dict:
        return {"key": key, "value": {"stringValue": value}}
    latencies = [{"key": "gen_ai.latency." + k, "value": {"doubleValue": v}} for k, v in (
        ("time_in_queue", 0.1), ("time_to_first_token", 0.3), ("time_in_model_prefill", 0.15), ("time_in_model_decode", 0.5))]
    span = {"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "name": "llm_request", "kind": 2,
            "startTimeUnixNano": "1764500000000000000", "endTimeUnixNano": "1764500001000000000",
            "attributes": [text("gen_ai.request.id", "cmpl-a-0"), text("gen_ai.prompt", "secret"), *latencies,
                           {"key": "gen_ai.usage.prompt_tokens", "value": {"intValue": "40"}}],
            "events": [{"timeUnixNano": "1764500000000000005", "name": "e"}], "links": [{"traceId": "aa"}], "status": {"code": 2}}
    spans = {"resourceSpans": [{"resource": {"attributes": [text("service.name", "vllm")]},
                                "scopeSpans": [{"scope": {"name": "s"}, "spans": [span]}]}]}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"timeUnixNano": "1764500000000000000", "severityText": "ERROR",
                                                            "body": {"stringValue": "two\nlines"}}]}]}]}
    put("otlp", "lines", "\n".join([json.dumps(spans), '{"resourceSpans":[{"cut', json.dumps(logs), "garbage", '{"resourceMetrics":[{}]}']))
    put("otlp", "printed", json.dumps(spans, indent=1))
    put("otlp", "spelt", json.dumps({"resource_spans": [{"instrumentation_library_spans": [{"spans": [
        {"name": "n", "kind": "SPAN_KIND_CLIENT", "start_time_unix_nano": 1764500000000000000, "attributes": [
            {"key": "a", "value": {"kvlist_value": {"values": [{"key": "k", "value": {"array_value": {"values": [
                {"bool_value": True}]}}}]}}}]}]}]}]}))


def nsys() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.sqlite"
        db = sqlite3.connect(path)
        db.executescript("""
          PRAGMA page_size = 512;
          CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
          CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs);
          CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId, returnValue);
          CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid,
            demangledName, shortName, gridX, gridY, gridZ, graphNodeId, graphId);
          CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, streamId, globalPid, syncType, eventSyncId);
          CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(timestamp, deviceId, streamId, correlationId, globalPid, eventSyncId);
          CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start, globalPid, deviceId, bytes, memoryOperationType);
          CREATE TABLE NVTX_EVENTS(start, end, eventType, rangeId, category, text, globalTid, textId, domainId, binaryData);
          CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId, schemaId, idx, flags, type, name, offset);
          CREATE TABLE NVTX_PAYLOAD_ENUM_ENTRIES(domainId, schemaId, idx, name, value);
          CREATE TABLE ProcessStreams(globalPid, filenameId, contentId);
          INSERT INTO StringIds VALUES(1, 'cudaLaunchKernel_v7000'), (2, 'void k<float>(int)'), (3, 'stderr.log');
          INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1776781226557295056);
          INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(10, 20, 0, 70664917946484, 1, 1, 0), (30, NULL, 1, 5, 2, 1, 700);
          INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(15, 25, 0, 1, 7, 1, 70664917942272, 2, 2, 8, 1, 1, 44, 9);
          INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(15, 25, 0, 7, 5, 1, 4);
          INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES(0, 0, 7, 1, 5, 4);
          INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES(3, 5, 0, 4096, 1);
          INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES(1, 9, 0, NULL, 18, 'NCCL communicator ID', NULL),
            (1, 9, 1, NULL, 22, 'Message size [bytes]', 8), (1, 9, 2, NULL, 10, 'Reduction operation', 16);
          INSERT INTO NVTX_PAYLOAD_ENUM_ENTRIES VALUES(1, 10, 0, 'Sum', 0);
          INSERT INTO ProcessStreams VALUES(5, 3, 2);
        """)
        payload = struct.pack("<QQQQ", 1, 9, 24, 56) + struct.pack("<QQii", 0xABCD, 4096, 0, 0)
        db.executemany("INSERT INTO NVTX_EVENTS VALUES(?,?,?,?,?,?,?,?,?,?)", [
            (0, None, 75, None, None, "NCCL", 5, None, 1, None), (1, 9, 59, None, None, "ncclAllReduce", 5, None, 1, payload),
            (2, 8, 60, 77, None, None, 5, 2, 0, b"short"), (0, None, 75, None, None, "teller", 5, None, 3, None),
            (0, None, 33, None, 4, "RECORD", 5, None, 3, None), (2, None, 34, None, 4, '{"v":1}', 5, None, 3, None)])
        db.commit()
        db.execute("VACUUM")
        db.close()
        put("nsys", "small", path.read_bytes())


LINES = """(EngineCore_DP0 pid=2010410) INFO 12-22 21:44:40 [core.py:349] Iteration(515): 0 context requests, 0 context tokens
[2026-07-21 08:04:41 TP0 EP0] Decode batch. #running-req: 3, #token: 12
[rank2]:[E626 23:10:17.921506443 ProcessGroupNCCL.cpp:1896] [PG ID 2 PG GUID 3 Rank 2] Watchdog caught collective operation timeout
host:123:456 [0] NCCL INFO comm 0x55 rank 1 nranks 8
[2026-05-05 06:16:47] node-01:189884:189884 [3] plugin/net.cc:12 NCCL WARN x
[ 1843.3] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus
[2025-04-02 15:02:00,117 E 135782 135782] (raylet) node_manager.cc:3069: boom
[06/24/2026-15:44:20] [TRT-LLM] [RANK 0] [E] failed
[1784621081.896649] [host:537  :1]  srd_iface.c:221  UCX  ERROR no
2024-03-15 12:39:26,101 - root - INFO - request_id=abc-1 rids=['a-1', 'b-2']
{"asctime": "2024-03-15 12:39:26,101", "levelname": "ERROR", "message": "Added request cmpl-a-0."}
Traceback (most recent call last):
  File "a.py", line 1, in f
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
The above exception was the direct cause of the following exception:
INFO:     10.0.0.1:52348 - "POST /v1/completions HTTP/1.1" 200 OK
"""
RECORDS = """{"v":1,"engine":"demo","step":17,"req":[["req-3","prefill",1,32,0],["req-1","decode",0,1,57]],"wait":[["req-4",0,"grammar"]],"preempt":[["req-2",64]],"kv":[3,64],"tokens":[33,256],"seqs":[2,8]}
{"v":2,"engine":"demo","n":12,"req":[],"wait":[["a",0],["b",1]]}
{"v":2,"engine":"demo","n":13,"req":[["a","decode",0,1,1]],"wait":12}
execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086)
step[EXTEND bs=15 toks=15360]
void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1> >(int, float)
_ZN2at6native13vectorized_elEv
model.py(12): forward
"""


def flight() -> None:
    entry = {"record_id": 0, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": 1, "p2p_seq_id": 0,
             "op_id": 1, "profiling_name": "nccl:all_reduce", "time_created_ns": 1_764_500_000_000_000_000, "input_sizes": [[4]],
             "input_dtypes": ["Float"], "output_sizes": [[4]], "output_dtypes": ["Float"], "state": "completed",
             "time_discovered_started_ns": 1_764_500_000_000_000_100, "time_discovered_completed_ns": 1_764_500_000_000_000_200,
             "retired": True, "timeout_ms": 600000, "is_p2p": False, "frames": [{"name": "f", "filename": "a.py", "line": 3}]}
    dump = {"version": "2.4", "nccl_version": "2.21.5", "entries": [entry, {**entry, "state": "scheduled", "collective_seq_id": 2}],
            "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
            "pg_status": {"0": {"last_enqueued_collective": 2, "last_started_collective": 1, "last_completed_collective": 1}}}
    for protocol in (2, 4, 5):
        put("flight", f"pickle{protocol}", pickle.dumps(dump, protocol=protocol))
    put("flight", "json", json.dumps({**dump, "entries": [{**entry, "process_group": ["0", "default_pg"]}]}))
    put("flight", "calls", b"cos\nsystem\n(S'true'\ntR.")
    put("flight", "circle", b"\x80\x04]q\x00h\x00a.")


def tar_of(**members: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        for name, kind in (("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE)):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = kind, "a"
            tar.addfile(link)
    return out.getvalue()


def zstd_frames() -> bytes:
    """A frame with a raw block, as its format says, between frames to skip."""
    skippable = struct.pack("<II", 0x184D2A50, 3) + b"abc"
    frame = struct.pack("<I", 0xFD2FB528) + bytes([0x20, 5]) + (1 | 5 << 3).to_bytes(3, "little") + b"[\n1,\n"
    return frame + skippable + frame


def archive() -> None:
    one, two = tar_of(a=b'{"traceEvents":[]}'), tar_of(b=b"x" * 700)
    put("archive", "tar", one)
    put("archive", "tar.gz", gzip.compress(one, mtime=0))
    put("archive", "joined", gzip.compress(one + two, mtime=0))
    put("archive", "tail", gzip.compress(one + b"garbage" * 99, mtime=0))
    put("archive", "members.gz", gzip.compress(b"[1,", mtime=0) + gzip.compress(b"2]", mtime=0) + b"\0" * 40 + b"tail")
    put("archive", "cut.gz", gzip.compress(b"[" + b"1," * 2000, mtime=0)[:-9])
    put("archive", "frames.zst", zstd_frames())
    put("archive", "frames_tail.zst", zstd_frames() + b"tail")
    put("archive", "skippable_first.zst", struct.pack("<II", 0x184D2A5F, 3) + b"abc" + zstd_frames())
    put("archive", "zeros.gz", gzip.compress(bytes(300_000), mtime=0))
    put("archive", "raw.deflate", zlib.compress(b"not gzip"))
    long_name = io.BytesIO()
    with tarfile.open(fileobj=long_name, mode="w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("\u00e9" * 120)
        info.size = 1
        tar.addfile(info, io.BytesIO(b"x"))
    put("archive", "pax", gzip.compress(long_name.getvalue(), mtime=0))


METRICS = """# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m\\"\\n"} 3.0
vllm:kv_cache_usage_perc{engine="0"} 0.25
vllm:e2e_request_latency_seconds_bucket{le="+Inf",model_name="m"} 12 1764500000000
sglang:num_running_reqs{tp_rank="0"} NaN
sglang:token_usage -Inf
broken{a="b 1
http_requests_total 0x10
"""


def model() -> None:
    default = HERE.parents[1] / "models" / "default" / "bundle.json"
    bundle = json.loads(default.read_text())
    for key in ("self_test", "seen", "training"):  # large, and free in form
        bundle[key] = {} if key != "seen" else []
    bundle["words"] = bundle["words"][:4]
    bundle["model"]["words"] = 6
    put("model", "bundle", b"\x00" + json.dumps(bundle).encode())
    header = json.dumps({"a": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]},
                         "b": {"dtype": "F32", "shape": [], "data_offsets": [8, 12]}}).encode()
    put("model", "weights", b"\x01" + struct.pack("<Q", len(header)) + header + struct.pack("<fff", 1, 2, 3))


def artefacts() -> None:
    culprit = {"rank": 1, "waited_ns": 5, "share": 0.5, "collectives": 3}
    texts = [
        (COMPAT / "findings.json").read_text(),
        json.dumps({"format": "teller.diagnosis", "version": 1, "is_abnormal": True, "verdict": "abnormal", "probability": 0.9,
                    "fault_type": "memory", "steps": [{"step": 0, "logit": 1.5}], "requests": [{"id": "r1", "score": 1}],
                    "evidence": [{"text": "t", "locator": {"log_lines": [0]}}], "explanation": "e"}),
        json.dumps({"format": "teller.horizontal", "version": 1, "ranks": [0, 1], "collectives": 3,
                    "verdict": {"culprits": [culprit], "link": None, "uniform": False, "doing": "device work", "text": "t"},
                    "pace": {"units": 3, "step_ns": 5.5, "own_ns": [1, 2]}, "clocks": [], "kinds": []}),
        json.dumps({"format": "teller.snapshot", "version": 1, "taken": {"begin_ns": 1, "window_ns": 5, "samples": 3, "whole_job": True},
                    "gaps": [], "processes": [
                        {"pid": 5, "ppid": 1, "role": "worker", "state": "S", "rank": 0, "world_size": 2, "argv": ["python", "a.py"],
                         "threads": [{"tid": 5, "name": "python", "behaviour": "waits", "cpu_share": 0.1, "syscall": "futex",
                                      "futex": 77, "lock_owner": 6, "owns_gil": True, "waits_on": {"target": "pipe:[3]"},
                                      "stack": [{"layer": "FE", "function": "f", "file": "a.py", "line": 3}]},
                                     {"tid": 6, "futex": 77, "syscall": "recvfrom", "waits_on": {"protocol": "tcp", "peer": "1.1.1.1:1"}}]},
                        {"pid": 7, "ppid": 1, "role": "worker", "state": "Z", "rank": 1, "exit": 1, "signal": 9, "argv": ["python", "a.py"]}]}),
        '{"t":1,"kind":"process","pid":5,"cpu_ns":3,"rss_bytes":4096}\n{"t":2,"kind":"host","load":[1,2,3]}\nbroken\n',
        '{"t":1,"stream":"stderr","pid":5,"text":"ERROR 11-03 23:14:01 [core.py:349] boom"}\n17\n',
        json.dumps([{"pid": 5, "thread_name": "MainThread", "os_thread_id": 5, "owns_gil": True,
                     "frames": [{"name": "f", "filename": "a.py", "line": 3, "short_filename": "a.py"}]}])]
    names = ("findings", "diagnosis", "horizontal", "snapshot", "context", "logs", "pyspy")
    for number, (name, text) in enumerate(zip(names, texts, strict=True)):
        put("artefacts", name, bytes([number]) + text.encode())
    put("artefacts", "gdb", bytes([6]) + b'Thread 2 (Thread 0x7f00 (LWP 123) "name"):\n#0  0x00007f in futex () at a.c:3\n#1  f<int> (a=1)\n')


def binary() -> None:
    for path in sorted((COMPAT / "events").glob("*.tev")):
        put("event_file", path.name, path.read_bytes())
    for name in ("chains.tcol",):
        put("column_file", name, (COMPAT / name).read_bytes())
    put("manifest", "compat", (COMPAT / "manifest.json").read_bytes())
    put("json_files", "labels", b"\x00" + b'{"label":"run","format":"teller.labels","version":1,"is_fault":true,"fault_type":"memory"}\n'
        b'{"label":"step","view":"vertical","step":3,"state":"cause","fault_type":"memory"}\n')
    put("json_files", "vocabulary", b"\x01" + b'{"format":"teller.tpe","version":1,"vocab_size":16,"specials":["<pad>","<unk>","<cls>",'
        b'"<sep>","<mask>","<ghost>"],"symbols":["[BE,a]","[BE,b]"],"merges":[[6,7]]}')
    put("json_files", "baseline", b"\x02" + b'{"format":"teller.baseline","version":1,"entries":[{"name":"n","runs":[],"keys":[]}]}')
    random.seed(7)
    put("reconstruct", "random", bytes(random.randrange(256) for _ in range(2 + 64 * 24)))
    put("nvtx_payload", "random", bytes(random.randrange(256) for _ in range(300)))
    # One schema of two numbers (entries of flags, type, offset, name), and a payload of it.
    text = b"\x00\x12\x00number\x00\x00\x0a\x08size\x00"
    put("nvtx_payload", "schema", bytes([1, 0, 40]) + struct.pack("<H", len(text)) + text + struct.pack("<QQQQ", 1, 40, 16, 32) +
        struct.pack("<QQ", 7, 8))


if __name__ == "__main__":
    kineto()
    execution_trace()
    otlp()
    nsys()
    put("log_lines", "formats", LINES)
    put("step_record", "records", RECORDS)
    put("metrics", "engine", METRICS)
    flight()
    archive()
    model()
    artefacts()
    binary()
