"""Dialects of PyTorch's profiler, point by point, and what real writers get wrong."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
import tev
from conftest import expect_one_line, run_teller
from test_import import balanced, event, import_events, import_text


def reconstructed(tmp_path: Path) -> dict:
    done = run_teller("reconstruct", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    return json.loads((tmp_path / "run" / "reconstruct.json").read_text())


# --- times ------------------------------------------------------------------------------------------------------

def test_no_time_loses_a_nanosecond(tmp_path):
    """Relative with three decimals, absolute whole and absolute with decimals, of a host that is on since 2001 and before."""
    times = {"5408.913": 5408913, "1711964646123456": 1711964646123456000, "1711964646123456.789": 1711964646123456789,
             "4458676388068.751": 4458676388068751, "0.001": 1, "-3.5": -3500, "1.711964646123456789E15": 1711964646123456789}
    text = ",".join('{"ph":"X","cat":"cpu_op","name":"n","pid":1,"tid":1,"ts":%s,"dur":0.001}' % ts for ts in times)
    file = import_text(tmp_path, '{"traceEvents":[%s]}' % text)
    assert [e.begin for e in file.events] == list(times.values())
    assert all(e.end - e.begin == 1 for e in file.events)


@pytest.mark.parametrize("base,ts,clock", [
    (1711964646000000000, 5.5, {"base": "relative", "unix_offset_ns": 1711964646000000000}),
    (None, 1711964646123456, {"base": "unix", "unix_offset_ns": 0}),
    (None, 4458676388068.751, {"base": "relative", "unix_offset_ns": None})], ids=["relative", "absolute", "of the host"])
def test_clocks(tmp_path, base, ts, clock):
    top = {} if base is None else {"baseTimeNanoseconds": base}
    assert import_events(tmp_path, event(ts=ts), **top).meta["clock"] == clock


# --- the top-level object ---------------------------------------------------------------------------------------

def test_keys_in_any_order(tmp_path):
    members = {"schemaVersion": "1", "deviceProperties": '[{"id":0,"name":"H100"}]', "displayTimeUnit": '"ms"',
               "distributedInfo": '{"backend":"nccl","rank":3,"world_size":8,"pg_config":[{"pg_name":"0","ranks":[0,1]}]}',
               "baseTimeNanoseconds": "7000", "trace_id": '"A1"', "host_name": '"node-1"', "traceName": '"t.json"',
               "traceEvents": "[%s]" % json.dumps(event()), "record_shapes": "1"}
    before = None
    for turn in range(len(members)):
        keys = list(members)[turn:] + list(members)[:turn]
        file = import_text(tmp_path, "{" + ",".join(f'"{k}":{members[k]}' for k in keys) + "}")
        meta = {k: v for k, v in file.meta.items() if k != "producer"}
        before = before or meta
        assert meta == before and len(file.events) == 1
        assert file.meta["producer"]["trace_id"] == "A1" and file.meta["host"] == "node-1"
    assert (before["rank"], before["world_size"]) == (3, 8) and before["distributed"]["pg_config"][0]["ranks"] == [0, 1]


def test_keys_of_an_event_in_any_order(tmp_path):
    fields = event(cat="kernel", args={"device": 0, "stream": 7, "correlation": 3})
    turned = [dict(list(fields.items())[i:] + list(fields.items())[:i]) for i in range(len(fields))]
    first, *rest = import_events(tmp_path, *turned).events
    assert all(e == first for e in rest) and first.correlation == 3


# --- categories -------------------------------------------------------------------------------------------------

def test_dialect_of_2022(tmp_path):
    """Flows are called async_…; the profiler numbers its events."""
    file = import_events(
        tmp_path,
        event(args={"Trace name": "PyTorch Profiler", "Trace iteration": 0, "External id": 4, "Profiler Event Index": 3,
                    "Call stack": "a.py(1): f;b.py(2): g", "Module Hierarchy": "top"}),
        {"ph": "s", "id": 5, "pid": 10, "tid": 10, "ts": 5, "cat": "async_cpu_to_gpu", "name": "async_gpu"},
        {"ph": "f", "id": 5, "pid": 0, "tid": "stream 7", "ts": 6, "cat": "async_cpu_to_gpu", "name": "async_gpu", "bp": "e"})
    op, start, end = file.events
    assert op.external == 4 and op.attrs["Call stack"] == "a.py(1): f;b.py(2): g"
    assert start.kind == tev.FLOW_START and end.kind == tev.FLOW_END and end.category == "async_cpu_to_gpu"


@pytest.mark.parametrize("category,kind,flag", [
    ("xpu_runtime", tev.API, 0), ("xpu_driver", tev.API, tev.DRIVER), ("xpu_sync", tev.SYNC, 0), ("mtia_runtime", tev.API, 0),
    ("mtia_ccp_events", tev.KERNEL, 0), ("hpu_op", tev.API, 0), ("glow_runtime", tev.API, 0),
    ("privateuse1_runtime", tev.API, 0), ("privateuse1_driver", tev.API, tev.DRIVER), ("collective_comm", tev.RANGE, 0),
    ("cuda_profiler_range", tev.DEVICE_RANGE, 0), ("cuda_event", tev.SYNC, 0), ("overhead", tev.OVERHEAD, 0)])
def test_accelerators_of_others(tmp_path, category, kind, flag):
    file = import_events(tmp_path, event(cat=category, args={"correlation": 9}))
    (only,) = file.events
    assert only.kind == kind and only.flags & flag == flag and only.correlation == 9
    assert file.meta["counts"]["unknown"] == {}


def test_rows_of_streams(tmp_path):
    """Annotations of a stream lie off by a nanosecond or two, waits in a row of their own: both are of that stream."""
    on = {"device": 0, "stream": 7, "context": 1}
    file = import_events(
        tmp_path,
        event(cat="kernel", pid=0, tid=7, ts=10, dur=5, args={**on, "correlation": 1}),
        event(cat="gpu_user_annotation", name="ProfilerStep#1", pid=0, tid=7, ts=9.999, dur=5.002, args={}),
        event(cat="cuda_sync", name="Stream Sync", pid=0, tid=1007, ts=11, dur=1,
              args={"cuda_sync_kind": "Stream Sync", "stream": 7, "device": 0, "context": 1, "correlation": 2}),
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 1007, "ts": 0, "args": {"name": "stream 7 (sync)"}})
    kernel, shadow, sync = file.events
    assert kernel.track == shadow.track == sync.track and sync.kind == tev.SYNC
    assert (shadow.begin, shadow.end) == (9999, 15001)
    report = reconstructed(tmp_path)
    assert report["total"]["records"]["links"] == 2 and report["counters"]["overlaps_clipped"] == 0


def test_threads_and_rows_that_are_no_numbers(tmp_path):
    file = import_events(tmp_path, event(tid=-1377421248), event(pid="Spans", tid="PyTorch Profiler", cat="Trace"),
                         event(cat="python_function", pid=0, tid=0, args={"Python id": 1, "Python parent id": None}),
                         event(pid="Traces", tid="Trace Id: 1", cat="user_annotation"))
    odd, span, python, row = file.events
    assert odd.track.tid == -1377421248 and odd.track.kind == 1
    assert span.kind == tev.WINDOW and span.track.kind == 3 and row.track.device_label == "Traces"
    assert python.attrs["Python parent id"] is None
    assert reconstructed(tmp_path)["total"]["records"]["metadata"] == 1


def test_what_has_no_category_is_a_range_of_its_thread(tmp_path):
    """As JAX and TensorFlow write it."""
    meta = {"ph": "M", "pid": 701, "tid": 9, "name": "thread_name", "args": {"name": "python"}}
    step = {"ph": "X", "pid": 701, "tid": 9, "name": "$step", "ts": 10.0, "dur": 50.0}
    fusion = {"ph": "X", "pid": 701, "tid": 9, "name": "fusion.1", "ts": 12.0, "dur": 5.0, "args": {"hlo_op": "fusion.1"}}
    other = event(pid=701, tid=9, ts=20.0, dur=1.0, cat="nobody knows")
    file = import_events(tmp_path, meta, step, fusion, other)
    assert [one.kind for one in file.events] == [tev.RANGE, tev.RANGE, tev.UNKNOWN]
    assert file.events[1].attrs == {"hlo_op": "fusion.1"} and file.events[1].track.tid == 9
    assert file.meta["counts"]["unknown"] == {"(no category)": 2, "nobody knows": 1} and balanced(file.meta["counts"])
    assert file.meta["complete_events"] == {"": 2, "nobody knows": 1}
    assert reconstructed(tmp_path)["total"]["records"]["nodes"] == 2


def test_rocm(tmp_path):
    """hip calls have CUDA's category; a kernel's pid is the device's number."""
    file = import_events(tmp_path, event(cat="cuda_runtime", name="hipLaunchKernel", args={"cid": 3, "correlation": 4}),
                         event(cat="kernel", pid=9, tid=0, ts=200, args={"device": 9, "stream": 0, "correlation": 4}))
    assert file.events[0].kind == tev.API and file.events[1].track.device_label == "9"
    assert reconstructed(tmp_path)["counters"]["bound_by_correlation"] == 1


def test_counters_and_memory(tmp_path):
    file = import_events(tmp_path, {"ph": "C", "name": "GPU 0 Utilization", "pid": 0, "ts": 1, "args": {"GPU": 83}},
                         {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 2,
                          "args": {"Addr": 140, "Bytes": -512, "Total Allocated": 1024, "Device Type": 1, "Device Id": 0}})
    counter, memory = file.events
    assert counter.kind == tev.COUNTER and counter.value == 83
    assert memory.kind == tev.MARK and memory.attrs["Total Allocated"] == 1024


# --- what writers get wrong -------------------------------------------------------------------------------------

BROKEN = {
    "control characters": (b'"name":"a\x01b\tc"', "a\x01b\tc"),
    "a lone surrogate": (b'"name":"x\\ud83dy"', "x�y"),
    "the second half alone": (b'"name":"\\udc00"', "�"),
    "a pair": (b'"name":"\\ud83d\\ude00"', "\U0001f600"),
    "Latin-1": (b'"name":"caf\xe9"', "caf�"),
    "a cut character": (b'"name":"\xe6\x97"', "�"),
    "a Windows path": (b'"name":"C:\\Users\\x"', "C:\\Users\\x"),
    "a trailing comma": (b'"name":"n","args":{"a":1,},', "n"),
    "a comma in an argument's list": (b'"name":"n","args":{"a":[1,2, ]}', "n"),
    "a comment": (b'"name":"n" /* what it is */', "n"),
    "numbers that are none": (b'"name":"n","args":{"a":NaN,"b":-Infinity,"c":0x1f,"d":1.#INF}', "n"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_text(tmp_path, kind):
    text, name = BROKEN[kind]
    raw = b'{"traceEvents":[{"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":1,' + text + b"}, %s]}" % json.dumps(event()).encode()
    file = import_text(tmp_path, raw)
    assert [e.name for e in file.events] == [name, "aten::add"]
    counts = file.meta["counts"]
    assert balanced(counts) and counts["malformed"] == 0
    assert counts["repaired"] == (0 if kind == "a pair" else 1) and bool(file.events[0].flags & tev.REPAIRED) == (kind != "a pair")


def test_nan_is_no_time(tmp_path):
    raw = '[{"ph":"X","cat":"cpu_op","name":"n","pid":1,"tid":1,"ts":NaN,"dur":1},{"ph":"X","cat":"cpu_op","name":"n","pid":1,' \
          '"tid":1,"ts":1,"dur":Infinity},%s]' % json.dumps(event())
    file = import_text(tmp_path, raw)
    assert len(file.events) == 1 and file.meta["counts"]["malformed"] == 2


def test_an_array_as_nccl_plugins_write_it(tmp_path):
    """A bare array that begins with an empty event, ends with a comma, and has addresses as numbers."""
    text = '[\n{},\n{"name":"AllReduce","cat":"COLL","ph":"b","id":3,"pid":7,"tid":1,"ts":5.5,"args":{"Stream":0x262ca50}},\n' \
           '{"name":"AllReduce","cat":"COLL","ph":"e","id":3,"pid":7,"tid":1,"ts":9.5},\n]\n'
    file = import_text(tmp_path, text)
    assert [e.kind for e in file.events] == [tev.RANGE_START, tev.RANGE_END]
    assert file.events[0].attrs == {"Stream": "0x262ca50"} and file.meta["counts"]["malformed"] == 1
    assert reconstructed(tmp_path)["total"]["records"]["nodes"] == 2


# --- what must not be lost or made up -------------------------------------------------------------------------------

ONE = '{"ph":"X","cat":"cpu_op","name":"n","pid":1,"tid":1,"ts":1,"dur":2}'


def test_arguments_hold_no_events(tmp_path):
    inner = '{"ph":"X","name":"INNER","pid":9,"tid":9,"ts":7,"dur":1}'
    file = import_text(tmp_path, '{"traceEvents":[%s,%s]}' % (ONE, ONE[:-1] + ',"args":{"l":[{"a":1},%s]}}' % inner))
    assert [e.name for e in file.events] == ["n", "n"] and file.meta["counts"]["malformed"] == 0


def test_what_stands_behind_the_document(tmp_path):
    document = '{"traceEvents":[%s]}' % ONE
    file = import_text(tmp_path, document + "\n " + document)
    assert len(file.events) == 1 and file.meta["counts"]["bytes_after_document"] == len(document)
    assert "bytes_after_document" not in import_text(tmp_path, document + " \n").meta["counts"]


@pytest.mark.parametrize("text,offset", [
    ('"1790857026000000001"', 1790857026000000001), ("1.790857026e18", 1790857026000000000), ("7000.0", 7000),
    ("18446744073709551615", None), ("1.5", None), ('"soon"', None), ("1e30", None), ("[1]", None)])
def test_base_of_times(tmp_path, text, offset):
    file = import_text(tmp_path, '{"baseTimeNanoseconds":%s,"traceEvents":[%s]}' % (text, ONE))
    assert file.meta["clock"] == {"base": "relative", "unix_offset_ns": offset}
    assert file.meta.get("members_left_out", 0) == (1 if offset is None else 0)


@pytest.mark.parametrize("before", ['"resourceSpans":[]', '"nodes":[]', '"resourceSpans":[{}]'])
def test_events_make_it_kineto(tmp_path, before):
    file = import_text(tmp_path, '{%s,"traceEvents":[%s]}' % (before, ONE))
    assert file.meta["dialect"] == "kineto" and len(file.events) == 1


def test_ids_of_more_than_64_bits_differ(tmp_path):
    ids = ["0x1ffffffffffffffffff", "0x2ffffffffffffffffff", "0x1ffffffffffffffffff", "0x10"]
    events = [event(ph="s", id=one) for one in ids]
    found = [e.correlation for e in import_events(tmp_path, *events).events]
    assert found[0] == found[2] != found[1] and found[3] == 16 and 0 not in found


@pytest.mark.parametrize("dur", ['""', "null", "{}", "true"])
def test_no_duration_is_not_an_open_end(tmp_path, dur):
    file = import_text(tmp_path, '{"traceEvents":[%s,%s]}' % (ONE, ONE.replace('"dur":2', '"dur":' + dur)))
    assert len(file.events) == 1 and file.meta["counts"]["malformed"] == 1


def test_escaped_keys_are_the_same(tmp_path):
    text = '{"trace\\u0045vents":[%s]}' % ONE.replace('"dur"', '"du\\u0072"').replace('"ph"', '"p\\u0068"')
    (one,) = import_text(tmp_path, text).events
    assert (one.begin, one.end) == (1000, 3000)


def test_comments_are_mended_inside_of_events_only(tmp_path):
    inside = '{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"n","ts":1,/* c */"dur":1,},{"ph":"X","cat":"cpu_op","name":"n","ts":2,"dur":1}]}'
    counts = import_text(tmp_path, inside).meta["counts"]
    assert (counts["events"], counts["malformed"], counts["repaired"]) == (2, 0, 1)
    counts = import_text(tmp_path, inside.replace(",},", "},/* between */")).meta["counts"]
    assert (counts["events"], counts["malformed"]) == (2, 1)
    (tmp_path / "bad").write_text('{/* before */' + inside[1:])
    expect_one_line(run_teller("import", tmp_path / "bad", "-o", tmp_path / "new"), 4)


# --- ids of asynchronous events ---------------------------------------------------------------------------------

def asynchronous(phase: str, name: str, ts: int, **more) -> dict:
    return {"ph": phase, "cat": "req", "name": name, "pid": 1, "tid": 1, "ts": ts, **more}


ID_FORMS = {"id": lambda n: {"id": f"0x{n}"}, "local": lambda n: {"id2": {"local": f"0x{n}"}},
            "global": lambda n: {"id2": {"global": f"0x{n}"}}, "number": lambda n: {"id2": {"local": n}},
            "scope": lambda n: {"id": "0x1", "scope": f"s{n}"}}


@pytest.mark.parametrize("form", ID_FORMS)
@pytest.mark.parametrize("key", ["id2", "id\\u0032"], ids=["plain", "escaped"])
def test_asynchronous_ranges_end_where_their_id_does(tmp_path, form, key):
    one, two = ID_FORMS[form](1), ID_FORMS[form](2)
    text = json.dumps({"traceEvents": [asynchronous("b", "r1", 0, **one), asynchronous("b", "r2", 5, **two),
                                       asynchronous("e", "r1", 20, **one), asynchronous("e", "r2", 30, **two)]})
    file = import_text(tmp_path, text.replace('"id2"', f'"{key}"'))
    first, second, first_end, second_end = file.events
    assert first.correlation == first_end.correlation != second.correlation == second_end.correlation
    assert file.meta["counts"]["malformed"] == 0


def test_a_local_id_is_of_its_process(tmp_path):
    local, everywhere = {"id2": {"local": "0x1"}}, {"id2": {"global": "0x1"}}
    ids = [e.correlation for e in import_events(
        tmp_path, asynchronous("b", "a", 0, **local), {**asynchronous("b", "b", 1, **local), "pid": 2},
        asynchronous("b", "c", 2, **everywhere), {**asynchronous("b", "d", 3, **everywhere), "pid": 2},
        asynchronous("b", "e", 4, id="0x1"), asynchronous("s", "f", 5, **local), asynchronous("n", "g", 6, **local)).events]
    assert ids[0] != ids[1] and ids[2] == ids[3] == ids[4] == 1 and ids[0] == ids[5] == ids[6] != 1


@pytest.mark.parametrize("phase", ["b", "e", "S", "F", "s", "f"])
@pytest.mark.parametrize("odd", [{"id2": {"local": {}}}, {"id2": {}}, {"id2": "0x1"}, {"id2": {"local": "1", "global": "1"}},
                                 {"id2": {"local": ""}}, {"id2": {"local": "1" * 5000}}, {"id": {"local": "0x1"}}, {"id": [1]}],
                         ids=lambda odd: json.dumps(odd)[:30])
def test_an_id_that_nobody_can_read_is_counted(tmp_path, phase, odd):
    file = import_events(tmp_path, event(), asynchronous(phase, "r", 0, **odd), asynchronous("n", "kept", 1, **odd))
    assert file.meta["counts"]["malformed"] == 1 and balanced(file.meta["counts"])
    assert [e.name for e in file.events] == ["aten::add", "kept"]


# --- ranks ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("rank", [8, "8", 8.0, " 8 ", "8.0", 0.8e1], ids=repr)
def test_a_rank_is_a_number_however_it_is_written(tmp_path, rank):
    file = import_events(tmp_path, event(), distributedInfo={"rank": rank, "world_size": rank})
    assert (file.meta["rank"], file.meta["world_size"]) == (8, 8)
    assert type(file.meta["rank"]) is int and type(file.meta["world_size"]) is int
    assert file.meta["distributed"]["rank"] == rank


@pytest.mark.parametrize("rank", ["eight", -1, 8.5, 2**31, 1e300, True, [8], {"rank": 8}, ""], ids=repr)
def test_what_is_no_rank_is_said(tmp_path, rank):
    (tmp_path / "trace").write_text(json.dumps({"traceEvents": [event()], "distributedInfo": {"rank": rank, "world_size": rank}}))
    done = run_teller("import", tmp_path / "trace", "-o", tmp_path / "run")
    assert done.returncode == 0
    assert 'its distributedInfo states "rank": ' in done.stderr and 'states "world_size": ' in done.stderr
    meta = tev.read_tev(tmp_path / "run" / "events" / "0.trace.tev").meta
    assert meta["rank"] is None and meta["world_size"] is None


def test_no_rank_is_nothing_to_say(tmp_path):
    (tmp_path / "trace").write_text(json.dumps({"traceEvents": [event()], "distributedInfo": {"rank": None}}))
    done = run_teller("import", tmp_path / "trace", "-o", tmp_path / "run")
    assert done.returncode == 0 and "distributedInfo" not in done.stderr
