"""Drives `teller import` with small traces made here."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import pickle
import shutil
import signal
import sqlite3
import struct
import subprocess
import tarfile
import time
from pathlib import Path

import pytest
import tev
from conftest import as_nobody, expect_one_line, needs_root, run_teller, teller_binary, xxh128sum

def run_import(*args) -> subprocess.CompletedProcess:
    """Runs an import that must succeed."""
    done = run_teller("import", *args)
    assert done.returncode == 0, done.stderr
    return done


def fails(code: int, part: str, *args) -> None:
    """Runs an import that must fail with one line that holds `part`, and leave nothing."""
    out = Path(args[args.index("-o") + 1])
    before = sorted(out.parent.iterdir()) if out.parent.is_dir() else []
    done = run_teller("import", *args)
    expect_one_line(done, code, says=part)
    assert done.stdout == ""
    assert (sorted(out.parent.iterdir()) if out.parent.is_dir() else []) == before


def event(**fields) -> dict:
    return {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 10, "tid": 10, "ts": 100.5, "dur": 2.25,
            "args": {"External id": 7}, **fields}


def import_text(tmp_path: Path, text: str | bytes, *options) -> tev.EventFile:
    source = tmp_path / "trace"  # no ending: the dialect is found by content
    source.write_bytes(text.encode() if isinstance(text, str) else text)
    run_import(source, "-o", tmp_path / "run", "--overwrite", *options)
    return tev.read_tev(tmp_path / "run" / "events" / "0.trace.tev")


def import_events(tmp_path: Path, *events, **top) -> tev.EventFile:
    return import_text(tmp_path, json.dumps({**top, "traceEvents": list(events)}))


def balanced(counts: dict) -> bool:
    buckets = ("events", "metadata", "flows", "duplicates", "malformed")
    return counts["records"] == sum(counts[b] for b in buckets) + sum(counts["unknown"].values())


# --- what events become -----------------------------------------------------------------------------------------

def test_kinds_flags_and_fields(tmp_path):
    file = import_events(
        tmp_path,
        event(args={"External id": 7, "Input Dims": [[2, 3], []], "Ev Idx": 1}),
        event(cat="python_function", name="a.py(1): f", args={"Python id": 3}),
        event(cat="user_annotation", name="ProfilerStep#1"),
        event(cat="cuda_runtime", name="cudaLaunchKernel", args={"cbid": 211, "correlation": 0, "External id": 7}),
        event(cat="cuda_driver", name="cuLaunchKernel", args={"correlation": 5}),
        event(cat="kernel", name="k", pid=1, tid=7, args={"device": 1, "stream": 7, "context": 2, "correlation": 5,
                                                          "graph id": 9, "graph node id": 4, "External id": 8,
                                                          "grid": [1, 2, 3]}),
        event(cat="gpu_memcpy", name="Memcpy", pid=0, tid=7, args={"bytes": 4096, "correlation": 6}),
        event(cat="gpu_user_annotation", name="ProfilerStep#1", pid=1, tid=7, args={}),
        event(cat="cuda_sync", name="Stream Sync", pid=0, tid=7, args={"stream": 7, "device": 0}),
        event(cat="Trace", name="PyTorch Profiler (0)", pid="Spans", tid="PyTorch Profiler"),
        {"ph": "B", "name": "open", "pid": 1, "tid": 2, "ts": 1}, {"ph": "E", "pid": 1, "tid": 2, "ts": 2},
        {"ph": "i", "s": "t", "name": "[memory]", "pid": 10, "tid": 10, "ts": 3, "args": {"Bytes": -16}},
        {"ph": "C", "name": "util", "pid": 1, "tid": 2, "ts": 4, "args": {"GPU": 37.5}},
        {"ph": "s", "id": 5, "pid": 10, "tid": 10, "ts": 5, "cat": "ac2g", "name": "ac2g"},
        {"ph": "f", "id": 5, "pid": 1, "tid": 7, "ts": 5, "cat": "ac2g", "name": "ac2g", "bp": "e"},
        {"ph": "M", "name": "thread_name", "pid": 10, "tid": 10, "ts": 0, "args": {"name": "main"}},
    )
    kinds = [e.kind for e in file.events]
    assert kinds == [tev.RANGE, tev.RANGE, tev.RANGE, tev.API, tev.API, tev.KERNEL, tev.MEMCPY, tev.DEVICE_RANGE,
                     tev.SYNC, tev.WINDOW, tev.PUSH, tev.POP, tev.MARK, tev.COUNTER, tev.FLOW_START, tev.FLOW_END]
    op, python, note, launch, driver, kernel, copy, shadow, _, window, *_, mark, counter, start, end = file.events
    assert (op.begin, op.end, op.external, op.flags) == (100500, 102750, 7, tev.HAS_EXTERNAL | tev.OPERATOR)
    assert op.attrs == {"Input Dims": [[2, 3], []], "Ev Idx": 1}
    assert python.flags & tev.PYTHON and not note.flags & (tev.PYTHON | tev.OPERATOR)
    assert launch.flags & tev.HAS_CORRELATION and launch.correlation == 0 and not launch.flags & tev.DRIVER
    assert driver.flags & tev.DRIVER and driver.correlation == 5
    assert kernel.flags & tev.GRAPH and kernel.external == 9
    assert kernel.attrs == {"graph node id": 4, "External id": 8, "grid": [1, 2, 3]}
    assert (kernel.track.device_label, kernel.track.stream_label, kernel.track.context) == ("1", "7", 2)
    assert shadow.track == kernel.track == end.track
    assert copy.value == 4096 and copy.track.device_label == "0"
    assert window.track.device_label == "Spans" and window.track.kind == 3
    assert mark.attrs == {"Bytes": -16, "s": "t"} and counter.value == 37 and counter.attrs == {"GPU": 37.5}
    assert start.correlation == end.correlation == 5 and start.category == "ac2g"
    assert file.meta["thread_names"] == [{"pid": "10", "tid": "10", "name": "main"}]
    assert balanced(file.meta["counts"]) and file.meta["counts"]["flows"] == 2


def test_dialect_of_2021(tmp_path):
    file = import_events(
        tmp_path,
        event(cat="Operator", tid="10", args={"external id": 3}),
        event(cat="Kernel", pid=0, tid="stream 7", args={"device": 0, "stream": 7, "correlation": 1}),
        event(cat="Memset", pid=0, tid="stream 7", args={}),
        event(cat="Runtime", tid="10", args={"correlation": 1, "external id": 3}),
        {"ph": "f", "id": 1, "pid": 0, "tid": "stream 7", "ts": 1, "cat": "async", "name": "launch", "bp": "e"},
    )
    op, kernel, memset, call, flow = file.events
    assert op.track.tid == 10 and op.external == 3 and op.flags & tev.HAS_EXTERNAL
    assert kernel.kind == tev.KERNEL and kernel.track.stream == 7
    assert memset.track.stream_label in ("7", "stream 7") and call.kind == tev.API
    assert flow.track.kind == 2


def test_header_after_the_events(tmp_path):
    file = import_text(tmp_path, '{"traceEvents":[' + json.dumps(event()) + '],"distributedInfo":{"rank":3,'
                       '"world_size":4,"pg_config":[]},"baseTimeNanoseconds":1711964646000000000,'
                       '"deviceProperties":[{"id":0}],"cupti_version":22}')
    assert (file.meta["rank"], file.meta["world_size"]) == (3, 4)
    assert file.meta["clock"] == {"base": "relative", "unix_offset_ns": 1711964646000000000}
    assert file.meta["producer"] == {"cupti_version": 22} and file.meta["devices"] == [{"id": 0}]


@pytest.mark.parametrize("ts,ns", [("1695835573040567", 1695835573040567000), ("4458676388068.751", 4458676388068751),
                                   ("0.0019", 1), ("1e3", 1000000), ("1.5E-3", 1), ("12345678901234567.891", None),
                                   ('"7.5"', 7500)])
def test_times_are_exact(tmp_path, ts, ns):
    text = '[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":%s,"dur":0}]' % ts
    if ns is None:
        fails_source = tmp_path / "trace"
        fails_source.write_text(text)
        fails(4, "none of its 1 records", fails_source, "-o", tmp_path / "run")
    else:
        assert import_text(tmp_path, text).events[0].begin == ns


def test_malformed_events_cost_only_themselves(tmp_path):
    good = json.dumps(event())
    bad = ['{"ph":"X","name":"no time"}', json.dumps(event(dur=-1)), json.dumps(event(ts="x")), "17", "null",
           '{"ph":"X","ts":}', '{"name":"no phase","ts":1}', '{"ph":"X","ts":1,"dur":2,"args":{"a":[1 2]}}']
    file = import_text(tmp_path, '{"traceEvents":[' + ",\n".join([good, *bad, good]) + "]}")
    assert len(file.events) == 2
    assert file.meta["counts"]["malformed"] == len(bad) and balanced(file.meta["counts"])


def test_lost_brace_and_swallowed_quote(tmp_path):
    good = json.dumps(event())
    lost = '{"ph": "X", "cat": "cpu_op", "name": "x", "ts": 1, "dur": 1, "args": {"a": 1}'
    swallowed = '{"ph": "X", "cat": "cpu_op", "name": "C:\\dir\\", "ts": 1, "dur": 1}'
    for bad in (lost, swallowed):
        file = import_text(tmp_path, '{"traceEvents":[' + ",\n  ".join([good, bad, good, good]) + "]}")
        assert len(file.events) == 3, bad
        assert file.meta["counts"]["malformed"] == 1 and balanced(file.meta["counts"])


def test_unwritable_text_is_mended(tmp_path):
    raw = (b'[{"ph":"X","cat":"cpu_op","name":"C:\\Users\\x\nline","pid":1,"tid":1,"ts":1,"dur":1},'
           b'{"ph":"X","cat":"cpu_op","name":"cut \xe6\x97","pid":1,"tid":1,"ts":2,"dur":1},'
           b'{"ph":"X","cat":"gpu_memcpy","name":"m","pid":1,"tid":1,"ts":3,"dur":0,"args":{"bw":inf,"x":nan,"p":"\\q"}}]')
    file = import_text(tmp_path, raw)
    assert [e.name for e in file.events] == ["C:\\Users\\x\nline", "cut �", "m"]
    assert file.events[2].attrs == {"bw": "inf", "x": "nan", "p": "\\q"}
    assert all(e.flags & tev.REPAIRED for e in file.events) and file.meta["counts"]["repaired"] == 3


def test_unknown_is_kept_and_counted(tmp_path):
    file = import_events(tmp_path, event(cat="quantum_op"), {"ph": "O", "name": "o", "pid": 1, "tid": 1, "ts": 1})
    assert [e.kind for e in file.events] == [tev.UNKNOWN, tev.UNKNOWN]
    assert file.meta["counts"]["unknown"] == {"quantum_op": 1, "ph:O": 1} and balanced(file.meta["counts"])


def test_open_event_has_no_end(tmp_path):
    unfinished = event()
    del unfinished["dur"]
    assert import_events(tmp_path, unfinished).events[0].end == tev.OPEN_NS


def test_bare_array_bom_and_empty(tmp_path):
    assert len(import_text(tmp_path, "\ufeff [" + json.dumps(event()) + ",]").events) == 1
    assert import_text(tmp_path, '{"traceEvents": []}').events == []


def test_gzip_members(tmp_path):
    text = json.dumps({"traceEvents": [event(), event()]}).encode()
    assert len(import_text(tmp_path, gzip.compress(text[:50]) + gzip.compress(text[50:])).events) == 2
    assert len(import_text(tmp_path, gzip.compress(text) + b"\0" * 512).events) == 2


# --- archives, folders and logs ---------------------------------------------------------------------------------

def tar_with(files: dict[str, bytes], folders=(), links=()) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name in folders:
            info = tarfile.TarInfo(name)
            info.type = tarfile.DIRTYPE
            tar.addfile(info)
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        for name in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, "x"
            tar.addfile(info)
    return out.getvalue()


def trace_of(number: int, **top) -> bytes:
    return json.dumps({**top, "traceEvents": [event(ts=number)]}).encode()


def imported_json(*args) -> dict:
    return json.loads(run_import(*args, "--json").stdout)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_every_member_of_an_archive_is_counted_once(tmp_path, pack):
    (tmp_path / "a.tar").write_bytes(pack(tar_with(
        {"d/rank0.json": trace_of(0), "d/rank1.json": trace_of(1), "note.txt": b"hello", "in.tar": tar_with({"x": b"x"})},
        folders=("d", "e"), links=("l",))))
    got = imported_json(tmp_path / "a.tar", "-o", tmp_path / "run")
    (archive,) = got["containers"]
    assert {key: archive[key] for key in ("members", "traces", "archives", "others", "folders", "links")} == {
        "members": 7, "traces": 2, "archives": 1, "others": 1, "folders": 2, "links": 1}
    assert len(got["sources"]) == 2 and len(got["skipped"]) == 3 and got["notes"] == []
    text = run_import(tmp_path / "a.tar", "-o", tmp_path / "run", "--overwrite").stdout
    assert "7 members = 2 traces + 0 logs + 0 copies + 1 archives + 1 other files + 2 folders + 1 links and devices" in text


def test_folders_count_what_they_hold(tmp_path):
    job = tmp_path / "job"
    (job / "sub").mkdir(parents=True)
    (job / "sub" / "rank0.json").write_bytes(trace_of(0))
    (job / "more.tar").write_bytes(tar_with({"rank1.json": trace_of(1)}))
    (job / "serve.log").write_text("INFO 11-03 23:14:01 [core.py:349] up\n")
    (job / "link").symlink_to("sub")
    got = imported_json(job, "-o", tmp_path / "run")
    folder, archive = got["containers"]
    (job / "notes.md").write_text("# Notes\n\nnothing here\n")
    got = imported_json(job, "-o", tmp_path / "run", "--overwrite")
    folder, archive = got["containers"]
    assert counts_of(folder) == {"members": 6, "traces": 1, "logs": 1, "archives": 1, "others": 1, "folders": 1, "links": 1}
    assert archive["members"] == archive["traces"] == 1
    assert {one["why"] for one in got["skipped"]} == {"it is no trace and no log", "it is a link to a folder"}
    assert [log["file"] for log in got["logs"]] == ["serve.log"] and got["log_lines"] == 1


def counts_of(container: dict) -> dict:
    counts = {key: value for key, value in container.items() if key not in ("name", "kind") and value}
    assert counts["members"] == sum(value for key, value in counts.items() if key != "members"), container
    return counts


def test_logs_in_folders_and_archives_are_found_by_what_they_hold(tmp_path):
    job, out = tmp_path / "job", ("-o", tmp_path / "run", "--overwrite")
    (job / "logs").mkdir(parents=True)
    (job / "rank0.json").write_bytes(trace_of(0))
    line = "INFO 11-03 23:14:01 [core.py:349] "
    (job / "logs" / "stdout.0").write_text(line + "zero\n")
    (job / "logs" / "serve.log.gz").write_bytes(gzip.compress((line + "one\n" + line + "two\n").encode()))
    (job / "logs" / "config.log").write_text("learning_rate = 3\nbatch = 4\n")  # no log, whatever its name
    (job / "logs" / "empty.log").write_text("")
    (job / "more.tgz").write_bytes(gzip.compress(tar_with({"node1.log": (line + "three\n").encode()})))
    got = imported_json(job, *out)
    assert counts_of(got["containers"][0]) == {"members": 7, "traces": 1, "logs": 2, "archives": 1, "others": 2, "folders": 1}
    assert counts_of(got["containers"][1]) == {"members": 1, "logs": 1}
    assert sorted(log["file"] for log in got["logs"]) == ["more.tgz: node1.log", "serve.log.gz", "stdout.0"] and got["log_lines"] == 4
    texts = [json.loads(line)["text"].split("] ")[1] for line in (tmp_path / "run" / "logs.jsonl").read_text().splitlines()]
    assert sorted(texts) == ["one", "three", "two", "zero"]
    # Zones go by the names that are shown.
    run_import(job, *out, "--log-timezone", "more.tgz: node1.log=UTC", "--log-timezone", f"{job / 'logs' / 'stdout.0'}=+01:00")
    got = imported_json(job, *out, "--no-logs")
    assert counts_of(got["containers"][0]) == {"members": 7, "traces": 1, "archives": 1, "others": 4, "folders": 1}
    assert got["logs"] == [] and sum(one["why"] == "it is a log (--no-logs)" for one in got["skipped"]) == 3
    # A folder of logs beside a named trace; alone it is no run.
    assert imported_json(job / "rank0.json", job / "logs", *out)["log_lines"] == 3
    fails(2, "it is a log, and no trace is given", job / "logs", *out)
    fails(4, "none of its 4 files is a trace or a log", job / "logs", *out, "--no-logs")


def test_a_log_that_was_found_and_is_damaged_is_skipped(tmp_path):
    job, out = tmp_path / "job", ("-o", tmp_path / "run", "--overwrite")
    job.mkdir()
    (job / "a.json").write_bytes(trace_of(0))
    lines = "".join(f"INFO 11-03 23:14:01 [core.py:349] {i * i}\n" for i in range(2000)).encode()
    (job / "b.log").write_bytes(lines)
    (job / "cut.log.gz").write_bytes(gzip.compress(lines + lines)[:-12])
    done = run_import(job, *out, "--json")
    got = json.loads(done.stdout)
    assert done.returncode == 0 and [log["file"] for log in got["logs"]] == ["b.log"]
    assert got["log_lines"] == 2000 == len((tmp_path / "run" / "logs.jsonl").read_text().splitlines())
    assert counts_of(got["containers"][0]) == {"members": 3, "traces": 1, "logs": 1, "others": 1}
    assert "1 inputs that were found can't be read and were skipped" in done.stderr and "cut.log.gz" in done.stderr
    fails(4, "cut.log.gz", job / "a.json", job / "cut.log.gz", *out)  # named


def test_what_lies_in_a_folder_twice_is_imported_once(tmp_path):
    job, out = tmp_path / "job", ("-o", tmp_path / "run", "--overwrite")
    (job / "copy").mkdir(parents=True)
    trace = json.dumps({"traceEvents": [event(ts=i) for i in range(30_000)]}).encode()  # more than is sniffed at
    log = b"INFO 11-03 23:14:01 [core.py:349] up\n"
    (job / "trace.json").write_bytes(trace)
    (job / "trace.json.gz").write_bytes(gzip.compress(trace))
    (job / "copy" / "t.json").write_bytes(trace)
    (job / "other.json").write_bytes(trace.replace(b'"ts": 29999', b'"ts": 29998'))
    (job / "a.log").write_bytes(log)
    (job / "a.log.gz").write_bytes(gzip.compress(log))
    (job / "b.log").symlink_to("a.log")
    done = run_import(job, *out, "--json")
    got = json.loads(done.stdout)
    assert [source["file"] for source in got["sources"]] == ["t.json", "other.json"] and got["log_lines"] == 1
    assert counts_of(got["containers"][0]) == {"members": 8, "traces": 2, "logs": 1, "copies": 4, "folders": 1}
    assert {Path(one["file"]).name: one["why"] for one in got["skipped"]} == {
        "trace.json": f"it holds the same as {job / 'copy' / 't.json'}",
        "trace.json.gz": f"it holds the same as {job / 'copy' / 't.json'}",
        "a.log.gz": f"it holds the same as {job / 'a.log'}",
        "b.log": f"it holds the same as {job / 'a.log'}"}
    assert done.stderr.count("hold the same as others and were left out") == 1 and "4 inputs" in done.stderr
    assert run_teller("verify", tmp_path / "run").returncode == 0
    # What was named is taken before what was found; what was named twice is a mistake.
    got = imported_json(job, job / "trace.json", "--log", job / "b.log", *out)
    assert [source["file"] for source in got["sources"]] == ["other.json", "trace.json"]
    assert [one["file"] for one in got["logs"]] == ["b.log"]
    fails(2, "it holds the same as", job / "trace.json", job / "trace.json.gz", *out)


def test_equal_logs_of_different_ranks_are_all_read(tmp_path):
    job, out = tmp_path / "job", ("-o", tmp_path / "run", "--overwrite")
    log = b"INFO 11-03 23:14:01 [core.py:349] up\n"
    logs = [job / rank / "stderr.log" for rank in "012"]
    for path in logs:
        path.parent.mkdir(parents=True)
        path.write_bytes(log)
    (job / "t.json").write_bytes(trace_of(0))
    tar = tmp_path / "job.tar"
    tar.write_bytes(tar_with({"t.json": trace_of(0), "0/a.log": log, "1/a.log": log, "1/a.log.gz": gzip.compress(log)}))
    for given, count in ((job,), 3), ((tar,), 2), ((job / "t.json", *(part for path in logs for part in ("--log", path))), 3):
        done = run_import(*given, *out, "--json")
        got = json.loads(done.stdout)
        assert got["log_lines"] == len(got["logs"]) == count
        assert done.stderr.count("it holds the same as") == (2 if given == (tar,) else 1)
        assert ("1/a.log: it holds the same as " in done.stderr and "; both were read" in done.stderr if given == (tar,) else
                "2 logs hold the same as others and were read all the same, the first: " in done.stderr)


def test_joined_archives_are_read_and_what_is_behind_is_said(tmp_path):
    one, two = tar_with({"a.json": trace_of(0)}), tar_with({"b.json": trace_of(1)})
    for data, sources, note in (
            (one + two, 2, None), (gzip.compress(one + two), 2, None), (gzip.compress(one) + gzip.compress(two), 2, None),
            (one + b"\0" * 700, 1, None), (one + b"garbage" * 300, 1, "2100 bytes behind its end are no archive"),
            (gzip.compress(one + b"tail"), 1, "4 bytes behind its end are no archive"),
            (one.rstrip(b"\0") + b"\0" * (-len(one.rstrip(b"\0")) % 512), 1, "it has no end mark")):
        (tmp_path / "x.tar").write_bytes(data)
        done = run_import(tmp_path / "x.tar", "-o", tmp_path / "run", "--overwrite", "--json")
        got = json.loads(done.stdout)
        assert len(got["sources"]) == sources
        assert len(got["notes"]) == (note is not None) and all(note in text for text in got["notes"]), got["notes"]
        assert note is None or note in done.stderr


def test_codes_of_archives(tmp_path):
    out = ("-o", tmp_path / "run")
    broken = bytearray(tar_with({"a.json": trace_of(0), "b.json": trace_of(1)}))
    broken[broken.index(b"b.json") + 150] ^= 1
    (tmp_path / "broken.tar").write_bytes(broken)
    (tmp_path / "cut.tgz").write_bytes(gzip.compress(tar_with({"a.json": trace_of(0)}))[:-20])
    (tmp_path / "none.tar").write_bytes(tar_with({"a.txt": b"hello"}))
    (tmp_path / "folder").mkdir()
    fails(4, "--allow-truncated", tmp_path / "broken.tar", *out)
    fails(4, "--allow-truncated", tmp_path / "cut.tgz", *out)
    fails(4, "none of its 1 files is a trace", tmp_path / "none.tar", *out)
    fails(4, "none of its 0 files is a trace", tmp_path / "folder", *out)
    fails(4, "none of its 1 files is a trace", tmp_path / "none.tar", *out, "--allow-truncated")
    got = imported_json(tmp_path / "broken.tar", *out, "--allow-truncated")
    assert len(got["sources"]) == 1 and "what can be read was kept" in got["notes"][0]


def test_what_was_found_and_is_damaged_is_skipped(tmp_path):
    job, out = tmp_path / "job", ("-o", tmp_path / "run", "--overwrite")
    job.mkdir()
    (job / "a.json").write_bytes(trace_of(0))
    (job / "cut.json.gz").write_bytes(gzip.compress(trace_of(1))[:-12])
    (job / "cut.pickle").write_bytes(pickle.dumps({"version": "2.9", "pg_config": {}, "entries": [{"pg_id": 1}] * 40}, 2)[:-20])
    (job / "cut.tgz").write_bytes(gzip.compress(tar_with({"b.json": trace_of(2)}))[:-20])
    (job / "cut_otlp.json").write_text('{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"lost"}}]}]}]}\n{"resourceLogs":[{"scope')
    done = run_import(job, *out, "--json")
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert [source["file"] for source in got["sources"]] == ["a.json"] and got["log_lines"] == 0
    assert {Path(one["file"]).name for one in got["skipped"]} == {"cut.json.gz", "cut.pickle", "cut.tgz", "cut_otlp.json"}
    assert all(one["why"].startswith("it can't be read: ") for one in got["skipped"])
    (folder,) = got["containers"]
    assert folder["members"] == folder["traces"] + folder["archives"] + folder["others"] == 5 and folder["traces"] == 1
    assert "4 inputs that were found can't be read and were skipped" in done.stderr
    assert sorted(path.name for path in (tmp_path / "run").rglob("*.tev")) == ["0.a.tev"]
    assert run_teller("verify", tmp_path / "run").returncode == 0
    assert "skipped: 4 files" in run_import(job, *out).stdout
    for name in ("cut.json.gz", "cut.pickle", "cut.tgz", "cut_otlp.json"):  # named: an error
        assert run_teller("import", job / "a.json", job / name, *out).returncode == 4, name
    (job / "a.json").unlink()
    fails(4, "none of its 4 traces can be read, the first: ", job, *out)


def test_logs_are_bounded_and_given_once(tmp_path):
    (tmp_path / "t.json").write_bytes(trace_of(0))
    out = ("-o", tmp_path / "run")
    (tmp_path / "bomb.log.gz").write_bytes(gzip.compress(b"a\n" * 3_000_000))
    fails(5, "it has more lines than are read of a log of this size", tmp_path / "t.json", "--log", tmp_path / "bomb.log.gz", *out)
    (tmp_path / "bomb.log.gz").write_bytes(gzip.compress(b" " * 300_000_000))
    fails(5, "it inflates to more than", tmp_path / "t.json", "--log", tmp_path / "bomb.log.gz", *out)
    for name in ("a.log", "b.log", "empty1.log", "empty2.log"):
        (tmp_path / name).write_text("" if "empty" in name else "INFO up\n")
    (tmp_path / "link.log").symlink_to("a.log")
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(b"INFO up\n"))
    for name in ("a.log", "link.log", "a.log.gz", "../" + tmp_path.name + "/a.log"):
        fails(2, "it holds the same as", tmp_path / "t.json", "--log", tmp_path / "a.log", "--log", tmp_path / name, *out)
    fails(2, "it holds the same as", tmp_path / "t.json", tmp_path / "a.log", "--log", tmp_path / "a.log", *out)
    run_import(tmp_path / "t.json", "--log", tmp_path / "empty1.log", "--log", tmp_path / "empty2.log", *out)
    done = run_import(tmp_path / "t.json", "--log", tmp_path / "a.log", "--log", tmp_path / "b.log", *out, "--overwrite", "--json")
    assert json.loads(done.stdout)["log_lines"] == 2 and "b.log: it holds the same as" in done.stderr


def test_a_stray_event_does_not_move_the_years_of_logs(tmp_path):
    base = 1767225600_000_000_000  # 2026-01-01T00:00:00Z
    events = [event(ts=i) for i in range(20)] + [event(ts=-16 * 366 * 86400 * 1_000_000)]
    (tmp_path / "t.json").write_text(json.dumps({"baseTimeNanoseconds": base, "traceEvents": events}))
    (tmp_path / "a.log").write_text("INFO 01-01 00:00:05 [core.py:1] x\n")
    run_import(tmp_path / "t.json", "--log", tmp_path / "a.log", "--log-timezone", "UTC", "-o", tmp_path / "run")
    (line,) = [json.loads(line) for line in (tmp_path / "run" / "logs.jsonl").read_text().splitlines()]
    assert line["t"] == 5_000_000_000


@pytest.mark.parametrize("tail,behind", [(b"garbage", 7), (b"\0" * 600, 0), (b"\0" * 600 + b"x", 1)])
def test_bytes_behind_compressed_data_are_said(tmp_path, tail, behind):
    (tmp_path / "t.json.gz").write_bytes(gzip.compress(trace_of(0)) + tail)
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(b"INFO up\n") + tail)
    done = run_import(tmp_path / "t.json.gz", "--log", tmp_path / "a.log.gz", "-o", tmp_path / "run", "--json")
    got = json.loads(done.stdout)
    assert got["sources"][0]["counts"].get("bytes_behind", 0) == behind
    assert done.stderr.count(f"{behind} bytes behind the compressed data were not read") == (2 if behind else 0), done.stderr


def test_long_and_equal_names_stay_apart(tmp_path):
    long = "\u00e9" * 120
    (tmp_path / "a.tar").write_bytes(tar_with({f"p/{long}1": trace_of(0), f"p/{long}2": trace_of(1),
                                               "p/rank0.json": trace_of(2), "q/rank0.json": trace_of(3)}))
    got = imported_json(tmp_path / "a.tar", "-o", tmp_path / "run")
    names = [source["file"] for source in got["sources"]]
    assert len(set(names)) == 4 and "a.tar: p/rank0.json" in names and "a.tar: q/rank0.json" in names
    files = [source["events_file"] for source in got["sources"]]
    assert len(set(files)) == 4 and all((tmp_path / "run" / name).is_file() for name in files)
    assert all(len(name.encode()) <= len("events/0.") + 100 + len(".tev") for name in files)
    bad = tmp_path.joinpath(os.fsdecode(b"n\xff\xe9.json"))
    bad.write_bytes(trace_of(5))
    assert imported_json(bad, "-o", tmp_path / "bad")["sources"][0]["events_file"] == "events/0.n__.tev"
    assert run_teller("verify", tmp_path / "bad").returncode == 0


LOG = """INFO 12-31 23:59:58 [core.py:1] before the new year
INFO 01-01 00:00:03 [core.py:1] behind it
2026-01-01 00:00:04,500 - root - INFO - local, with a year
2026-01-01T00:00:05Z - root - INFO - UTC
[1767225606.5] [host:537  :1]  srd_iface.c:221  UCX  ERROR Unix time
[  1843.3] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus
"""
NEW_YEAR = 1767225600_000_000_000  # 2026-01-01T00:00:00Z


def log_times(run: Path) -> list[float | None]:
    """Seconds from the new year in UTC; the run's clock begins 10 s before."""
    lines = [json.loads(line) for line in (run / "logs.jsonl").read_text().splitlines()]
    return [None if line["t"] is None else line["t"] / 1e9 - 10 for line in lines]


def trace_at_new_year(path: Path) -> Path:
    path.write_bytes(trace_of(5, baseTimeNanoseconds=NEW_YEAR - 10_000_000_000))
    return path


@pytest.mark.parametrize("zone,shift", [("UTC", 0), ("+02:00", -7200), ("-0530", 19800), ("Europe/Berlin", -3600)])
def test_logs_are_placed_by_their_own_times(tmp_path, zone, shift):
    trace = trace_at_new_year(tmp_path / "trace.json")
    (tmp_path / "server.log").write_text(LOG)
    got = imported_json(trace, tmp_path / "server.log", "-o", tmp_path / "run", "--log-timezone", zone)
    assert log_times(tmp_path / "run") == [shift - 2, shift + 3, shift + 4.5, 5, 6.5, None]
    (log,) = got["logs"]
    assert log["by"] == {"stated_zone": 1, "unix_time": 1, "given_zone": 3, "since_boot": 1}
    assert (log["lines"], log["placed"], log["years_taken"], log["doubtful"]) == (6, 5, 2, 0)


def test_a_local_time_without_a_zone_has_no_place(tmp_path):
    trace = trace_at_new_year(tmp_path / "trace.json")
    (tmp_path / "server.log.gz").write_bytes(gzip.compress(LOG.encode()))
    done = run_import(trace, "--log", tmp_path / "server.log.gz", "-o", tmp_path / "run")
    assert "2 of 6 lines placed in time" in done.stdout and "3 local times, and no zone was given" in done.stdout
    assert log_times(tmp_path / "run") == [None, None, None, 5, 6.5, None]
    clockless = tmp_path / "clockless.json"
    clockless.write_bytes(trace_of(5))
    got = imported_json(clockless, tmp_path / "server.log.gz", "-o", tmp_path / "other", "--log-timezone", "UTC")
    assert got["logs"][0]["by"] == {"no_clock": 5, "since_boot": 1}


def test_hours_that_a_clock_change_doubles(tmp_path):
    """Berlin, 26 October 2025: at 01:00 UTC clocks go from 03:00 back to 02:00."""
    base = 1761436800_000_000_000  # 2025-10-26T00:00:00Z
    trace = tmp_path / "trace.json"
    trace.write_bytes(trace_of(5, baseTimeNanoseconds=base))
    times = ("02:30:00", "02:59:00", "02:10:00", "03:10:00")
    (tmp_path / "server.log").write_text("".join(f"2025-10-26 {t},000 - root - INFO - x\n" for t in times))
    got = imported_json(trace, tmp_path / "server.log", "-o", tmp_path / "run", "--log-timezone", "Europe/Berlin")
    lines = [json.loads(line)["t"] // 60_000_000_000 for line in (tmp_path / "run" / "logs.jsonl").read_text().splitlines()]
    assert lines == [30, 59, 70, 130] and got["logs"][0]["doubtful"] == 3


def test_zones_of_several_logs_and_wrong_ones(tmp_path):
    trace = trace_at_new_year(tmp_path / "trace.json")
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(f"2026-01-01 00:00:04,500 - root - INFO - {name}\n")
    run_import(trace, "--log", tmp_path / "a.log", "--log", tmp_path / "b.log", "-o", tmp_path / "run",
               "--log-timezone", "UTC", "--log-timezone", "b.log=+01:00")
    assert log_times(tmp_path / "run") == [4.5, 4.5 - 3600]
    out = ("-o", tmp_path / "no")
    fails(2, "there is none of that name", trace, tmp_path / "a.log", *out, "--log-timezone", "Mars/Base")
    fails(2, "there is none of that name", trace, tmp_path / "a.log", *out, "--log-timezone", "../../etc/passwd")
    fails(2, "no log of that name is given", trace, tmp_path / "a.log", *out, "--log-timezone", "c.log=UTC")
    fails(2, "it is a log, and no trace is given", tmp_path / "a.log", *out)


def test_what_a_run_lacks_is_said(tmp_path):
    (tmp_path / "a.json").write_bytes(trace_of(0))
    done = run_import(tmp_path / "a.json", "-o", tmp_path / "run")
    assert "layers: 1 operators" in done.stdout and "missing: no device work" in done.stdout
    (tmp_path / "b.json").write_text(json.dumps([event(cat="kernel", name="k", args={"device": 0, "stream": 7, "correlation": 1})]))
    got = imported_json(tmp_path / "b.json", "-o", tmp_path / "run", "--overwrite")
    assert got["layers"]["kernels"] == 1 and got["layers"]["calls"] == 0
    assert any("no CUDA calls" in text for text in got["missing"]) and any("no operators" in text for text in got["missing"])


# --- one clear line ---------------------------------------------------------------------------------------------

def test_errors(tmp_path):
    out = ("-o", tmp_path / "run")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("hello")
    (tmp_path / "other.json").write_text('{"a": 1}')
    (tmp_path / "numbers.json").write_text("[1, 2]")
    (tmp_path / "png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 100)
    (tmp_path / "good.json").write_text(json.dumps([event()]))
    (tmp_path / "same.json").write_text(json.dumps([event()]))
    fails(3, "No such file", tmp_path / "missing", *out)
    done = run_import(tmp_path, *out)  # a folder stands for the traces in it
    assert "same.json: it holds the same as" in done.stderr and "; it was left out" in done.stderr
    shutil.rmtree(tmp_path / "run")
    fails(4, "it is empty", tmp_path / "empty", *out)
    for name in ("text", "other.json", "numbers.json", "png"):
        fails(4, "not a trace that teller knows", tmp_path / name, *out)
    fails(2, "it holds the same as", tmp_path / "good.json", tmp_path / "same.json", *out)
    fails(3, "No such file", tmp_path / "good.json", "--log", tmp_path / "none.log", *out)
    fails(2, "a file of that name", tmp_path / "good.json", "-o", tmp_path / "text")
    run_import(tmp_path / "good.json", *out)
    fails(2, "--overwrite", tmp_path / "good.json", *out)
    run_import(tmp_path / "good.json", *out, "--overwrite")
    fails(4, "not a trace", tmp_path / "text", *out, "--overwrite")
    assert (tmp_path / "run" / "manifest.json").is_file(), "a failed import took the old run away"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    fails(2, "not a teller run", tmp_path / "good.json", "-o", tmp_path / "mine", "--overwrite")


@pytest.mark.parametrize("made", ["nn/y/z", "nn/y/z/", "there/y/z"])
def test_a_refused_import_leaves_no_folder_that_it_made(tmp_path, made):
    (tmp_path / "there").mkdir()
    (tmp_path / "bad.json").write_text('{"traceEvents": [')
    before = sorted(tmp_path.rglob("*"))
    done = run_teller("import", "bad.json", "-o", made, cwd=tmp_path)
    expect_one_line(done, 4)
    assert sorted(tmp_path.rglob("*")) == before
    (tmp_path / "bad.json").write_text(json.dumps({"traceEvents": [event()]}))
    assert run_teller("import", "bad.json", "-o", made, cwd=tmp_path).returncode == 0
    assert (tmp_path / made / "manifest.json").is_file()


@needs_root
def test_permissions(open_tmp):
    source = open_tmp / "trace.json"
    source.write_text(json.dumps([event()]))
    expect_one_line(as_nobody("import", source, "-o", open_tmp / "run"), 3, says=f"{open_tmp / 'run'}: Permission")
    source.chmod(0o600)
    expect_one_line(as_nobody("import", source, "-o", "/tmp/teller-never"), 3, says="Permission denied")


@pytest.mark.parametrize("packed", [False, True])
def test_truncated(tmp_path, packed):
    text = json.dumps({"traceEvents": [event(ts=i) for i in range(2000)]}).encode()
    source = tmp_path / "cut"
    source.write_bytes(gzip.compress(text)[:-3000] if packed else text[: len(text) // 2])
    fails(4, "--allow-truncated", source, "-o", tmp_path / "run")
    done = run_import(source, "-o", tmp_path / "run", "--allow-truncated")
    assert "warning" in done.stderr
    file = tev.read_tev(tmp_path / "run" / "events" / "0.cut.tev")
    assert file.meta["counts"]["truncated"] is True and 0 < len(file.events) < 2000
    assert [e.begin for e in file.events] == [1000 * i for i in range(len(file.events))]


def test_every_cut_is_an_answer(tmp_path):
    text = json.dumps({"schemaVersion": 1, "traceEvents": [event(), event(name='q"\\')], "distributedInfo": {"rank": 0}})
    source = tmp_path / "cut"
    for size in range(1, len(text)):
        source.write_text(text[:size])
        done = run_teller("import", source, "-o", tmp_path / "run", "--overwrite")
        assert done.returncode == 4, (size, done.stderr)


# --- Nsight Systems ---------------------------------------------------------------------------------------------

def nsys_file(path: Path) -> Path:
    db = sqlite3.connect(path)
    gtid = (1 << 48) | (4211 << 24) | 4212
    gpid = gtid & ~0xFFFFFF
    db.executescript("""
      CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
      CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER, systemClockNs INTEGER);
      CREATE TABLE ThreadNames(nameId INTEGER, globalTid INTEGER);
      CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId, returnValue);
      CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid,
        demangledName, shortName, mangledName, gridX, gridY, gridZ, blockX, blockY, blockZ, graphNodeId, graphId);
      CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, contextId, streamId, correlationId, globalPid,
        bytes, copyKind, srcKind, dstKind);
      CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(timestamp, deviceId, contextId, streamId, correlationId, globalPid,
        eventId, eventSyncId);
      CREATE TABLE CUPTI_ACTIVITY_KIND_NOVELTY(start, end, deviceId, streamId, wonder);
      CREATE TABLE NVTX_EVENTS(start, end, eventType, rangeId, category, text, globalTid, endGlobalTid, textId,
        domainId, uint64Value, jsonText);
      CREATE TABLE SCHED_EVENTS(start, cpu);
      CREATE TABLE ProcessStreams(globalPid, filenameId, contentId);
      CREATE TABLE DIAGNOSTIC_EVENT(timestamp, timestampType, source, severity, text, globalPid);
    """)
    names = {1: "cudaLaunchKernel_v7000", 2: "void gemm<float>(int)", 3: "gemm", 4: "_Z4gemm", 5: "worker",
             6: "a\nERROR b\n", 7: "/tmp/pid_1_stderr.log", 8: "from StringIds"}
    db.executemany("INSERT INTO StringIds VALUES(?,?)", names.items())
    db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1776781226557295056, 5)")
    db.execute("INSERT INTO ThreadNames VALUES(5, ?)", (gtid,))
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?,?,?,?,?,?,?)",
                   [(10, 20, 0, gtid, 1, 1, 0), (30, None, 1, gtid, 2, 1, 700), (50, 40, 0, gtid, 3, 1, 0)])
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(" + ",".join("?" * 18) + ")",
                   [(15, 25, 0, 1, 7, 1, gpid, 2, 3, 4, 8, 1, 1, 128, 1, 1, None, None),
                    (26, 30, 0, 1, 7, 2, gpid, 2, 3, 4, 8, 1, 1, 128, 1, 1, 44, 9)])
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(5, 6, 0, 1, 7, 1, ?, 64, 1, 0, 2)", (gpid,))
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES(0, 0, 1, 7, 1, ?, 3, 4)", (gpid,))
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_NOVELTY VALUES(1, 2, 0, 7, 'x')")
    rows = [(0, None, 75, None, None, "teller", None, 3), (0, None, 33, None, 2, "STEP", None, 3),
            (0, None, 33, None, 4, "RECORD", None, 3), (0, None, 75, None, None, "NCCL", None, 1),
            (1, 9, 59, None, 2, "engine step", None, 3), (2, None, 34, None, 4, '{"v":1, "engine":"e","req":[]}', None, 3),
            (3, None, 59, None, None, None, 8, 1), (4, 8, 60, 77, None, "async", None, 0), (5, 6, 1234, None, None, "?", None, 0)]
    db.executemany("INSERT INTO NVTX_EVENTS(start,end,eventType,rangeId,category,text,textId,domainId,globalTid) "
                   f"VALUES(?,?,?,?,?,?,?,?,{gtid})", rows)
    db.execute("INSERT INTO SCHED_EVENTS VALUES(1, 0)")
    db.execute("INSERT INTO ProcessStreams VALUES(?, 7, 6)", (gpid,))
    db.execute("INSERT INTO DIAGNOSTIC_EVENT VALUES(12, 1, 1, 2, 'careful', ?)", (gpid,))
    db.commit()
    db.close()
    return path


def test_nsys(tmp_path):
    source = nsys_file(tmp_path / "profile")
    before = hashlib.sha256(source.read_bytes()).hexdigest()
    run_import(source, "-o", tmp_path / "run")
    assert hashlib.sha256(source.read_bytes()).hexdigest() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["profile", "run"]
    file = tev.read_tev(tmp_path / "run" / "events" / "0.profile.tev")
    by = {}
    for e in file.events:
        by.setdefault(e.category, []).append(e)
    call, failed = by["CUPTI_ACTIVITY_KIND_RUNTIME"]
    assert call.name == "cudaLaunchKernel_v7000" and (call.track.pid, call.track.tid) == (4211, 4212)
    assert call.track.name == "worker" and not call.flags & (tev.DRIVER | tev.FAILED)
    assert failed.end == tev.OPEN_NS and failed.value == 700 and failed.flags & tev.DRIVER and failed.flags & tev.FAILED
    kernel, node = by["CUPTI_ACTIVITY_KIND_KERNEL"]
    assert kernel.name == "void gemm<float>(int)" and kernel.track.pid == 4211
    assert kernel.attrs == {"shortName": "gemm", "grid": [8, 1, 1], "block": [128, 1, 1]}
    assert node.flags & tev.GRAPH and node.external == 9 and node.attrs["graphNodeId"] == 44
    (copy,) = by["CUPTI_ACTIVITY_KIND_MEMCPY"]
    assert copy.name == "Memcpy HtoD (Pageable -> Device)" and copy.value == 64
    (recorded,) = by["CUPTI_ACTIVITY_KIND_CUDA_EVENT"]
    assert recorded.begin == 10 and recorded.flags & tev.REPAIRED and recorded.attrs == {"eventId": 3, "eventSyncId": 4}
    (step,) = by["STEP"]
    assert step.domain == "teller" and step.kind == tev.RANGE
    (record,) = by["RECORD"]
    assert record.kind == tev.STEP_RECORD and record.attrs["engine"] == "e"
    unfinished, across, _ = by["NVTX_EVENTS"]
    assert unfinished.name == "from StringIds" and unfinished.domain == "NCCL" and unfinished.end == tev.OPEN_NS
    assert across.correlation == 77 and across.flags & tev.HAS_CORRELATION
    counts = file.meta["counts"]
    assert balanced(counts) and counts["malformed"] == 1 and counts["metadata"] == 4
    assert counts["unknown"] == {"CUPTI_ACTIVITY_KIND_NOVELTY": 1, "NVTX_EVENTS:1234": 1}
    assert file.meta["rows"]["NVTX_EVENTS"] == 9 and file.meta["tables_ignored"] == {"SCHED_EVENTS": 1}
    assert file.meta["clock"]["unix_offset_ns"] == 1776781226557295056
    logs = [json.loads(line) for line in (tmp_path / "run" / "logs.jsonl").read_text().splitlines()]
    assert logs == [
        {"t": 12, "stream": "profile", "pid": 4211, "text": "careful", "level": "warning"},
        {"t": None, "stream": "stderr", "source": "pid_1_stderr.log", "pid": 4211, "text": "a"},
        {"t": None, "stream": "stderr", "source": "pid_1_stderr.log", "pid": 4211, "text": "ERROR b"}]


def test_nsys_damage(tmp_path):
    whole = nsys_file(tmp_path / "profile").read_bytes()
    source = tmp_path / "cut"
    for size in (15, 50, 100, 4096, len(whole) // 2, len(whole) - 1):
        source.write_bytes(whole[:size])
        fails(4, "", source, "-o", tmp_path / "run")
    source.write_bytes(whole[: len(whole) - 4096])
    assert run_teller("import", source, "-o", tmp_path / "run", "--allow-truncated").returncode in (0, 4)
    other = tmp_path / "other"
    sqlite3.connect(other).execute("CREATE TABLE notes(x)")
    fails(4, "not a trace that teller knows", other, "-o", tmp_path / "run")


# --- runs -------------------------------------------------------------------------------------------------------

def test_same_input_same_bytes(tmp_path):
    source = tmp_path / "a.json"
    source.write_text(json.dumps({"traceEvents": [event(ts=i, name=f"n{i}") for i in range(500)]}))
    log = tmp_path / "serve.log"
    log.write_bytes(b"INFO up\r\n\nWARNING cut \xff\n")
    nsys = nsys_file(tmp_path / "b.sqlite")
    for out in ("one", "deeper/two"):
        run_import(source, nsys, "--log", log, "-o", tmp_path / out)
    files = [sorted(p.relative_to(tmp_path / out) for p in (tmp_path / out).rglob("*") if p.is_file())
             for out in ("one", "deeper/two")]
    assert files[0] == files[1] and len(files[0]) == 4
    for name in files[0]:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "deeper/two" / name).read_bytes(), name
    logs = [json.loads(line) for line in (tmp_path / "one" / "logs.jsonl").read_text().splitlines()]
    assert logs[-2:] == [{"t": None, "stream": "serve.log", "text": "INFO up", "t_from": "no_time"},
                         {"t": None, "stream": "serve.log", "text": "WARNING cut \ufffd", "t_from": "no_time", "raw": 1}]
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text())
    assert manifest["state"] == "sealed"
    assert manifest["sources"][0]["xxh128"] == xxh128sum(source)
    for artefact in manifest["artifacts"].values():
        for entry in artefact["files"]:
            assert entry["xxh128"] == xxh128sum(tmp_path / "one" / entry["path"])


def test_json_summary(tmp_path):
    source = tmp_path / "a.json"
    source.write_text(json.dumps([event()]))
    summary = json.loads(run_import(source, "-o", tmp_path / "run", "--json").stdout)
    assert summary["sources"][0]["counts"]["events"] == 1 and summary["log_lines"] == 0


# --- hostile files ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("size", [1 << 20, 1500000, (2 << 20) - 20, 5 << 20])
def test_large_member_is_no_end(tmp_path, size):
    file = import_text(tmp_path, '{"traceEvents":[' + json.dumps(event()) + '],"foo":"' + "x" * size + '"}')
    assert len(file.events) == 1 and file.meta["counts"]["truncated"] is False


DEEP = "[" * 200000 + "]" * 200000


@pytest.mark.parametrize("key", ["foo", "distributedInfo", "deviceProperties", "host_name", "baseTimeNanoseconds"])
@pytest.mark.parametrize("value", [DEEP, '{"a":' * 65 + "1" + "}" * 65, '{"rank":' + DEEP + "}"],
                         ids=["arrays", "objects", "in an object"])
def test_deep_member_is_left_out(tmp_path, key, value):
    source = tmp_path / "trace"
    source.write_text('{"%s":%s,"traceEvents":[%s]}' % (key, value, json.dumps(event())))
    done = run_import(source, "-o", tmp_path / "run")
    assert "nested too deeply" in done.stderr
    file = tev.read_tev(tmp_path / "run" / "events" / "0.trace.tev")
    assert len(file.events) == 1 and file.meta["members_left_out"] == 1 and file.meta["rank"] is None


def test_member_as_deep_as_allowed_is_kept(tmp_path):
    value = "[" * 64 + "]" * 64
    file = import_text(tmp_path, '{"foo":%s,"traceEvents":[%s]}' % (value, json.dumps(event())))
    assert json.dumps(file.meta["other"]["foo"]) == value and "members_left_out" not in file.meta


def test_many_members_are_read(tmp_path):
    members = ",".join('"%d":1' % i for i in range(200000))
    text = '{%s,"many":{%s},"traceEvents":[%s]}' % (members, members, json.dumps(event()))
    assert len(import_text(tmp_path, text).events) == 1


@pytest.mark.parametrize("field", ['"args":{"a":%s}', '"args":%s', '"name":%s', '"pid":%s', '"novelty":%s'])
def test_deep_event_is_malformed(tmp_path, field):
    bad = '{"ph":"X","cat":"cpu_op","ts":1,"dur":1,' + field % DEEP + "}"
    meta = '{"ph":"M","name":"thread_name","pid":1,"tid":1,"ts":0,"args":{"name":%s}}' % DEEP
    file = import_text(tmp_path, '{"traceEvents":[%s,%s,%s]}' % (bad, meta, json.dumps(event())))
    assert len(file.events) == 1 and file.meta["counts"]["malformed"] == 2 and balanced(file.meta["counts"])


def test_views_are_not_read(tmp_path):
    source = nsys_file(tmp_path / "profile")
    db = sqlite3.connect(source)
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x AS start, x+1 AS end FROM c"
    db.execute("CREATE VIEW CUPTI_ACTIVITY_KIND_ENDLESS AS " + endless)
    db.execute("CREATE VIEW CUPTI_ACTIVITY_KIND_DRIVER AS " + endless + " WHERE x < 0")
    db.execute("CREATE VIEW MORE_EVENTS AS " + endless)
    db.commit()
    db.close()
    done = run_teller("import", source, "-o", tmp_path / "run", timeout=60)
    assert done.returncode == 0 and "3 views" in done.stderr, done.stderr
    meta = tev.read_tev(tmp_path / "run" / "events" / "0.profile.tev").meta
    assert meta["views_ignored"] == 3 and meta["tables_ignored"] == {"SCHED_EVENTS": 1}


def test_values_of_other_types(tmp_path):
    source = nsys_file(tmp_path / "profile")
    db = sqlite3.connect(source)
    db.execute("INSERT INTO StringIds VALUES(0, NULL)")
    db.execute("INSERT INTO NVTX_EVENTS(start,end,eventType,text,globalTid,domainId) VALUES('a','b',59,x'00ff',NULL,'d')")
    db.execute("INSERT INTO NVTX_EVENTS(start,end,eventType,text,globalTid,category) VALUES(1,2,59,'n',1.5e300,x'41')")
    db.execute("INSERT INTO DIAGNOSTIC_EVENT VALUES('x', 1, 1, 'y', 'other', x'00')")
    db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES('soon', 1.5)")
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start,end,deviceId,streamId,gridX,shortName) VALUES(1,2,0,'s','g','n')")
    db.commit()
    db.close()
    run_import(source, "-o", tmp_path / "run")
    file = tev.read_tev(tmp_path / "run" / "events" / "0.profile.tev")
    (odd,) = (e for e in file.events if e.name == "n")
    assert odd.attrs == {"category": "A", "globalTid": 1.5e300} and file.meta["counts"]["malformed"] == 2
    kernel = [e for e in file.events if e.category == "CUPTI_ACTIVITY_KIND_KERNEL"][-1]
    assert kernel.attrs == {"streamId": "s", "shortName": "n", "gridX": "g"}
    assert file.meta["clock"] == {"base": "relative", "unix_offset_ns": 1776781226557295056, "system_clock_ns": 5}
    logs = [json.loads(line) for line in (tmp_path / "run" / "logs.jsonl").read_text().splitlines()]
    assert {"t": None, "stream": "profile", "text": "other"} in logs


@pytest.mark.parametrize("value", ["abc", 1.5, b"\x01", 2**63 - 1, ""], ids=repr)
def test_a_time_that_can_not_be_read_is_malformed_and_never_an_open_end(tmp_path, value):
    """Ends and starts of calls, kernels, copies, ranges and events of all tables alike."""
    source = nsys_file(tmp_path / "profile")
    run_import(source, "-o", tmp_path / "before")
    before = tev.read_tev(tmp_path / "before" / "events" / "0.profile.tev")
    db = sqlite3.connect(source)
    gtid = (1 << 48) | (4211 << 24) | 4212
    for table in ("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                  "CUPTI_ACTIVITY_KIND_NOVELTY"):
        db.executemany(f"INSERT INTO {table}(start,end) VALUES(?,?)", [(900, value), (value, 900)])
    for kind in (59, 60, 70, 71):
        db.executemany("INSERT INTO NVTX_EVENTS(start,end,eventType,globalTid) VALUES(?,?,?,?)",
                       [(900, value, kind, gtid), (value, 900, kind, gtid)])
    db.execute("INSERT INTO NVTX_EVENTS(start,eventType,globalTid) VALUES(?,34,?)", (value, gtid))
    # Correlation 1 has a call, whose time stands for that of an event that was not collected.
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT(timestamp,correlationId,globalPid) VALUES(?,1,?)",
               (value, gtid & ~0xFFFFFF))
    db.commit()
    db.close()
    run_import(source, "-o", tmp_path / "run")
    file = tev.read_tev(tmp_path / "run" / "events" / "0.profile.tev")
    assert [(e.begin, e.end, e.name) for e in file.events] == [(e.begin, e.end, e.name) for e in before.events]
    counts, old = file.meta["counts"], before.meta["counts"]
    assert balanced(counts) and counts["malformed"] - old["malformed"] == counts["records"] - old["records"] == 18


def test_a_start_of_the_session_that_can_not_be_read_is_said(tmp_path):
    source = nsys_file(tmp_path / "profile")
    db = sqlite3.connect(source)
    db.execute("UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = 'soon'")
    db.commit()
    db.close()
    done = run_import(source, "-o", tmp_path / "run")
    assert "the start of its session (utcEpochNs) is no whole number" in done.stderr


def test_names_do_not_steer_the_terminal(tmp_path):
    evil = "a\x1b]0;pwn\x07\u202e\u009b31m"
    good, cut, text = (tmp_path / (evil + name) for name in ("good", "cut", "text"))
    good.write_text('{"traceEvents":[],"x":%s}' % DEEP)
    cut.write_text("[" + json.dumps(event()) + ",")
    text.write_text('{"%s":1}' % ("\x1b[31m" * 9))
    done = [run_teller("import", good, cut, "--allow-truncated", "-o", tmp_path / (evil + "run"))]
    assert done[0].returncode == 0, done[0].stderr
    done += [run_teller("import", *args, "-o", tmp_path / "run") for args in ((text,), (cut,), (good, good))]
    assert [d.returncode for d in done] == [0, 4, 4, 2]
    for shown in (d.stdout + d.stderr for d in done):
        assert not set(shown) & set("\x1b\x07\u202e\u009b") and "\\x1b" in shown


def test_attrs_are_not_kept(tmp_path):
    """Memory does not grow with the trace, though no two events say the same."""
    peaks = []
    for count in (20000, 200000):
        source = tmp_path / f"{count}.json"
        with source.open("w") as out:
            out.write("[")
            for i in range(count):
                out.write('%s{"ph":"X","cat":"cpu_op","name":"n","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"x":"%0400d"}}'
                          % ("," if i else "", i, i))
            out.write("]")
        process = subprocess.Popen([teller_binary(), "import", source, "-o", tmp_path / str(count)],
                                   stdout=subprocess.DEVNULL)
        peaks.append(0)
        while process.poll() is None:  # memory of its own: a mapped file is the system's to keep or drop
            status = Path(f"/proc/{process.pid}/status").read_text()
            own = [int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon:")]
            peaks[-1] = max([peaks[-1], *own])
            time.sleep(0.002)
        assert process.returncode == 0
    assert peaks[1] < peaks[0] + 30000, peaks  # KiB; the attrs alone are 80 MB


def test_help_has_examples():
    done = run_teller("import", "--help")
    assert done.returncode == 0 and "Examples" in done.stdout and "--allow-truncated" in done.stdout


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupt_leaves_nothing(tmp_path, asked):
    source = tmp_path / "big.json"
    one = json.dumps(event())
    with source.open("w") as out:
        out.write("[" + one)
        for _ in range(300):
            out.write(("," + one) * 2000)
        out.write("]")
    process = subprocess.Popen([teller_binary(), "import", source, "-o", tmp_path / "run"], stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 10
    while time.time() < deadline and not any(tmp_path.glob("run.importing-*/events/*")):
        time.sleep(0.005)
    process.send_signal(asked)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 128 + asked, stderr
    assert stderr.startswith("teller: error: ") and stderr.count("\n") == 1 and "stopped on request" in stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["big.json"]


def test_an_input_in_the_run_that_it_would_replace_is_refused(tmp_path):
    source = tmp_path / "trace.json"
    source.write_text(json.dumps([event()]))
    run = tmp_path / "run"
    assert run_teller("import", source, "-o", run).returncode == 0
    inside = run / "trace.json"
    inside.write_bytes(source.read_bytes())
    for given in ([inside], [run], [source, "--log", inside]):
        expect_one_line(run_teller("import", *given, "-o", run, "--overwrite"), 2, says="lies in it")
    assert inside.read_bytes() == source.read_bytes()


@needs_root
def test_a_folder_in_a_folder_that_cannot_be_read_is_skipped(open_tmp):
    (open_tmp / "in/locked").mkdir(parents=True)
    (open_tmp / "in/trace.json").write_text(json.dumps([event()]))
    (open_tmp / "in/locked").chmod(0o700)
    (open_tmp / "out").mkdir()
    (open_tmp / "out").chmod(0o777)
    done = as_nobody("import", open_tmp / "in", "-o", open_tmp / "out/run", "--json")
    assert done.returncode == 0, done.stderr
    assert [s["why"] for s in json.loads(done.stdout)["skipped"]] == ["it can't be read: Permission denied"]


@pytest.mark.parametrize("kind", ["blanks", "zeros behind", "rows"])
def test_interrupt_where_nothing_is_found(tmp_path, kind):
    """Not only between events: in blanks that inflate without end, in padding, and inside of SQLite."""
    source = tmp_path / "big"
    if kind == "rows":
        db = sqlite3.connect(nsys_file(source))
        db.execute("INSERT INTO SCHED_EVENTS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x < 3000000)"
                   " SELECT x, 0 FROM c")
        db.commit()
        db.close()
    else:
        blank = gzip.compress(b" " * (64 << 20), 1)
        source.write_bytes(gzip.compress(b"[") + blank * 200 if kind == "blanks" else gzip.compress(b'{"traceEvents":[]}'))
    if kind == "zeros behind":
        os.truncate(source, 1 << 35)
    process = subprocess.Popen([teller_binary(), "import", source, "-o", tmp_path / "run"], stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 20
    while time.time() < deadline and not any(tmp_path.glob("run.importing-*/events/*")):
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    try:
        _, stderr = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 143, stderr
    assert stderr.count("\n") == 1 and "stopped on request" in stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["big"]


# --- Nsight Systems: payloads, events, memory -------------------------------------------------------------------

def payload(schema: int, fields: bytes, domain: int = 1) -> bytes:
    return struct.pack("<QQQQ", domain, schema, len(fields), 32 + len(fields)) + fields


@pytest.mark.parametrize("pids,bound", [((7,), 2), ((7, 8), 0)])
def test_device_rows_without_a_process_are_of_the_only_one_that_made_calls(tmp_path, pids, bound):
    source = tmp_path / "old.sqlite"
    db = sqlite3.connect(source)
    db.execute("CREATE TABLE StringIds (id INTEGER, value TEXT)")
    db.execute("INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'gemm')")
    db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT)")
    db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT, correlationId INT, shortName INT)")
    for number in range(2):
        thread = pids[number % len(pids)] << 24 | 9
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 1)", (100 * number, 100 * number + 9, thread, number))
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, ?, 2)", (100 * number + 20, 100 * number + 50, number))
    db.commit()
    run_import(source, "-o", tmp_path / "run")
    assert run_teller("reconstruct", tmp_path / "run").returncode == 0
    assert json.loads((tmp_path / "run" / "reconstruct.json").read_text())["counters"]["bound_by_correlation"] == bound


def nsys_with_payloads(path: Path) -> sqlite3.Connection:
    """Schemas as Nsight exports those of NCCL: offsets missing for the first entry, each twice (two processes)."""
    db = sqlite3.connect(path)
    db.executescript("""
      CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
      CREATE TABLE NVTX_EVENTS(start, end, eventType, rangeId, category, text, globalTid, textId, domainId, binaryData BLOB);
      CREATE TABLE NVTX_PAYLOAD_SCHEMAS(domainId, schemaId, name, type, flags, numEntries, payloadSize, alignTo);
      CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId, schemaId, idx, flags, type, name, description, arrayOrUnionDetail, offset);
      CREATE TABLE NVTX_PAYLOAD_ENUM_ENTRIES(domainId, schemaId, idx, name, value, isFlag);
      INSERT INTO StringIds VALUES(1, 'ncclAllReduce'), (2, 'ncclCommInitRank');
      INSERT INTO NVTX_PAYLOAD_ENUM_ENTRIES VALUES(1, 500, 0, 'Sum', 0, 0), (1, 500, 1, 'Max', 2, 0);
      INSERT INTO NVTX_EVENTS VALUES(0, NULL, 75, NULL, NULL, 'NCCL', 5, NULL, 1, NULL);
    """)
    entries = [(1, 20, 0, None, 18, "NCCL communicator ID", None), (1, 20, 1, None, 22, "Message size [bytes]", 8),
               (1, 20, 2, None, 500, "Reduction operation", 16), (1, 21, 0, None, 18, "NCCL communicator ID", None),
               (1, 21, 1, None, 5, "No. of ranks", 8), (1, 21, 2, None, 5, "Rank", 12), (1, 22, 0, None, 18, "a", None),
               (1, 22, 1, 16, 5, "list", None), (1, 22, 2, None, 5, "behind", None)]
    for row in entries * 2:
        db.execute("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId,schemaId,idx,flags,type,name,offset) VALUES(?,?,?,?,?,?,?)", row)
    return db


def test_nccl_payloads_of_nsight(tmp_path):
    db = nsys_with_payloads(tmp_path / "profile")
    rows = [(1, 9, 1, payload(20, struct.pack("<QQii", 0xFEDCBA9876543210, 4096, 2, 0))),
            (2, 8, 2, payload(21, struct.pack("<Qiii", 7, 8, 3, 0)))]
    db.executemany("INSERT INTO NVTX_EVENTS VALUES(?,?,59,NULL,NULL,NULL,5,?,1,?)", rows)
    db.commit()
    db.close()
    run_import(tmp_path / "profile", "-o", tmp_path / "run")
    file = tev.read_tev(tmp_path / "run" / "events" / "0.profile.tev")
    reduce, init = file.events
    assert reduce.attrs == {"payload": {"NCCL communicator ID": 0xFEDCBA9876543210, "Message size [bytes]": 4096,
                                        "Reduction operation": "Max"}, "collective": "AllReduce", "bytes": 4096,
                            "reduction": "Max", "communicator": "0xfedcba9876543210"}
    assert init.attrs["operation"] == "CommInitRank" and (init.attrs["rank"], init.attrs["nranks"]) == (3, 8)
    assert file.meta["tables_ignored"] == {} and "payloads_unknown" not in file.meta


def test_payloads_that_lie(tmp_path):
    """Sizes beyond the bytes, schemas that nobody knows, fields that are not there: null or counted, never read."""
    db = nsys_with_payloads(tmp_path / "profile")
    good = payload(20, struct.pack("<QQ", 1, 2))
    bad = [b"", b"x" * 31, payload(99, b"12345678"), good[:16] + struct.pack("<Q", 1 << 60) + good[24:]]
    for data in [*bad, good, payload(22, b"\x01" * 32)]:
        db.execute("INSERT INTO NVTX_EVENTS VALUES(1,9,59,NULL,NULL,'r',5,NULL,1,?)", (data,))
    db.execute("INSERT INTO NVTX_EVENTS VALUES(1,9,59,NULL,NULL,'r',5,NULL,1,'text')")
    db.commit()
    db.close()
    run_import(tmp_path / "profile", "-o", tmp_path / "run")
    file = tev.read_tev(tmp_path / "run" / "events" / "0.profile.tev")
    *unknown, short, list_, text = (e.attrs for e in file.events)
    assert [a["binaryDataBytes"] for a in unknown] == [len(b) for b in bad] and file.meta["payloads_unknown"] == len(bad)
    assert short["payload"] == {"NCCL communicator ID": 1, "Message size [bytes]": 2, "Reduction operation": None}
    assert list_["payload"] == {"a": 0x0101010101010101, "list": None, "behind": None}
    assert text == {"binaryData": "text"}


def test_waits_name_who_recorded_the_event(tmp_path):
    """By eventSyncId: handles of events are used again."""
    source = nsys_file(tmp_path / "profile")
    db = sqlite3.connect(source)
    db.executescript("""
      CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, contextId, streamId, correlationId, globalPid,
        syncType, eventId, eventSyncId);
      CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start, globalPid, deviceId, contextId, address, bytes, memKind, memoryOperationType);
      INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT SELECT 8, 0, 1, 9, 41, globalPid, 3, 5 FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT;
      INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SELECT 20, 30, 0, 1, 7, 50, globalPid, 2, 3, 5 FROM ProcessStreams;
      INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SELECT 20, 30, 0, 1, 7, 51, globalPid, 3, 0, 0 FROM ProcessStreams;
      INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS SELECT 3, globalPid, 0, 1, 64, 4096, 2, 0 FROM ProcessStreams;
      INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS SELECT 4, globalPid, 0, 1, 64, 4096, 2, 1 FROM ProcessStreams;
    """)
    db.commit()
    db.close()
    run_import(source, "-o", tmp_path / "run")
    file = tev.read_tev(tmp_path / "run" / "events" / "0.profile.tev")
    waits, whole = (e for e in file.events if e.category == "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION")
    assert waits.name == "Stream Wait Event" and waits.attrs["wait_on_cuda_event_record_corr_id"] == 41
    assert waits.attrs["wait_on_stream"] == 9 and "wait_on_stream" not in whole.attrs
    memory = [e for e in file.events if e.category == "CUDA_GPU_MEMORY_USAGE_EVENTS"]
    assert [(e.kind, e.name, e.value) for e in memory] == [(20, "allocate", 4096), (20, "free", -4096)]
    assert memory[0].attrs["address"] == 64


def test_damage_of_a_related_table_costs_what_it_adds(tmp_path):
    """The table that says who recorded an event is damaged: the waits themselves are all in a bucket."""
    source = nsys_file(tmp_path / "profile")
    db = sqlite3.connect(source)
    db.executescript("""
      CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, contextId, streamId, correlationId, globalPid,
        syncType, eventId, eventSyncId);
      INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SELECT 20, 30, 0, 1, 7, 50, globalPid, 2, 3, 5 FROM ProcessStreams;
      INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SELECT 21, 30, 0, 1, 7, 50, globalPid, 2, 3, 5 FROM ProcessStreams;
    """)
    db.commit()
    (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_CUDA_EVENT'").fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    db.close()
    data = bytearray(source.read_bytes())
    data[(page - 1) * size] = 0xFF
    source.write_bytes(data)
    fails(4, "--allow-truncated", source, "-o", tmp_path / "run")
    run_import(source, "-o", tmp_path / "run", "--allow-truncated")
    file = tev.read_tev(tmp_path / "run" / "events" / "0.profile.tev")
    waits = [e for e in file.events if e.category == "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"]
    assert len(waits) == 2 and balanced(file.meta["counts"]) and file.meta["counts"]["truncated"] is True


def test_start_end_ranges_of_nsight_keep_their_length(tmp_path):
    source = nsys_file(tmp_path / "profile")
    db = sqlite3.connect(source)
    gtid = (1 << 48) | (4211 << 24) | 4212
    db.executemany("INSERT INTO NVTX_EVENTS(start,end,eventType,rangeId,text,domainId,globalTid) VALUES(?,?,60,?,?,0,?)",
                   [(100, 200, 81, "first", gtid), (150, 300, 82, "second", gtid)])
    db.commit()
    db.close()
    run_import(source, "-o", tmp_path / "run")
    assert run_teller("reconstruct", tmp_path / "run").returncode == 0
    nodes = [json.loads(line) for line in run_teller("dump", tmp_path / "run", "chains", "--json").stdout.splitlines()]
    (second,) = (n for n in nodes if n.get("name") == "second")
    assert second["end_ns"] - second["begin_ns"] == 150
