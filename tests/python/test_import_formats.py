"""Drives `teller import` with OpenTelemetry spans and execution traces, made here."""
from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
import tev
from conftest import expect_one_line, run_teller

UNIX = 1_764_500_000_000_000_000


def run_import(*args) -> subprocess.CompletedProcess:
    done = run_teller("import", *args)
    assert done.returncode == 0, done.stderr
    return done


def imported(tmp_path: Path, text: str | bytes, *options) -> tev.EventFile:
    source = tmp_path / "trace"
    source.write_bytes(text.encode() if isinstance(text, str) else text)
    run_import(source, "-o", tmp_path / "run", "--overwrite", *options)
    return tev.read_tev(tmp_path / "run" / "events" / "0.trace.tev")


def balanced(counts: dict) -> bool:
    buckets = ("events", "metadata", "flows", "duplicates", "malformed")
    return counts["records"] == sum(counts[b] for b in buckets) + sum(counts["unknown"].values())


# --- OpenTelemetry ----------------------------------------------------------------------------------------------

def value(x) -> dict:
    kind = {str: "stringValue", bool: "boolValue", int: "intValue", float: "doubleValue"}[type(x)]
    return {kind: str(x) if kind == "intValue" else x}


def attributes(**pairs) -> list[dict]:
    return [{"key": key.replace("__", "."), "value": value(x)} for key, x in pairs.items()]


def span(begin: int, end: int | None, name: str = "llm_request", **more) -> dict:
    out = {"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "name": name, "kind": 2,
           "startTimeUnixNano": str(UNIX + begin)}
    if end is not None:
        out["endTimeUnixNano"] = str(UNIX + end)
    return {**out, **more}


def vllm_span(request: str, begin: int = 0, **more) -> dict:
    """As vLLM's V1 engine reports a request: latencies in seconds, 1 s in all."""
    facts = {"gen_ai__request__id": request, "gen_ai__latency__time_in_queue": 0.1,
             "gen_ai__latency__time_to_first_token": 0.3, "gen_ai__latency__e2e": 1.0,
             "gen_ai__latency__time_in_model_prefill": 0.15, "gen_ai__latency__time_in_model_decode": 0.6,
             "gen_ai__usage__prompt_tokens": 40, "gen_ai__usage__completion_tokens": 12, **more}
    return span(begin, begin + 1_000_000_000, attributes=attributes(**facts))


def export(*spans, service: str = "vllm", scope: str = "vllm.llm_engine") -> dict:
    resource = {"attributes": attributes(service__name=service, process__pid=77)}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": scope}, "spans": list(spans)}]}]}


def requests_of(run: Path) -> dict[str, dict]:
    """The run's requests by id."""
    done = run_teller("reconstruct", run)
    assert done.returncode == 0, done.stderr
    done = run_teller("dump", run, "chains", "--json")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["request"]: line for line in lines if line["record"] == "request"}


def test_spans_of_vllm_become_requests(tmp_path):
    file = imported(tmp_path, json.dumps(export(vllm_span("cmpl-a-0"))))
    request, queue, prefill, decode = file.events
    assert request.name == "llm_request request=cmpl-a-0" and request.category == "server" and request.domain == "otlp"
    assert (request.begin, request.end) == (UNIX, UNIX + 1_000_000_000)
    assert request.attrs["trace_id"] == "5b8efff798038103d269b633813fc60c" and request.attrs["scope"] == "vllm.llm_engine"
    assert request.attrs["attributes"]["gen_ai.usage.prompt_tokens"] == 40
    assert [(e.name.split()[0], e.begin - UNIX, e.end - UNIX) for e in (queue, prefill, decode)] == [
        ("queue", 50_000_000, 150_000_000), ("prefill", 150_000_000, 300_000_000), ("decode", 300_000_000, 900_000_000)]
    assert file.meta["clock"] == {"base": "unix", "unix_offset_ns": 0} and file.meta["requests"] == 1
    assert file.meta["resources"] == [{"service.name": "vllm", "process.pid": 77}] and request.track.pid == 77
    assert balanced(file.meta["counts"]) and file.meta["counts"]["events"] == 1
    known = requests_of(tmp_path / "run")
    assert set(known) == {"cmpl-a-0"}
    facts = known["cmpl-a-0"]
    assert facts["first_seen_ns"] == UNIX and facts["first_scheduled_ns"] == UNIX + 150_000_000
    assert facts["first_token_ns"] == UNIX + 300_000_000 and facts["last_ns"] == UNIX + 900_000_000
    assert (facts["prefill_tokens"], facts["decode_tokens"]) == (40, 12)


def test_spans_join_the_requests_of_the_engine(tmp_path):
    """The engine's hooks know a request by vLLM's internal id; its span by the caller's."""
    steps = {"traceEvents": [
        {"ph": "X", "cat": "user_annotation", "name": "execute request=cmpl-a-0-871d72e8", "pid": 5, "tid": 5,
         "ts": UNIX / 1000 + 200_000, "dur": 50_000}], "baseTimeNanoseconds": 0}
    (tmp_path / "steps.json").write_text(json.dumps(steps))
    (tmp_path / "spans.json").write_text(json.dumps(export(vllm_span("cmpl-a-0"), vllm_span("cmpl-b-0"))))
    run_import(tmp_path / "steps.json", tmp_path / "spans.json", "-o", tmp_path / "run")
    known = requests_of(tmp_path / "run")
    assert set(known) == {"cmpl-a-0-871d72e8", "cmpl-b-0"}
    counters = json.loads((tmp_path / "run" / "reconstruct.json").read_text())["counters"]
    assert (counters["request_spans"], counters["request_spans_joined"]) == (2, 1)
    assert known["cmpl-a-0-871d72e8"]["first_token_ns"] == UNIX + 300_000_000


def test_v0_latencies_and_missing_ones(tmp_path):
    """vLLM V0 states no prefill time: it begins where the queue ends. What is not stated is not made up."""
    old = span(0, 1000, attributes=attributes(gen_ai__request__id="r1", gen_ai__latency__time_in_queue=2e-7,
                                              gen_ai__latency__time_to_first_token=5e-7))
    none = span(0, 1000, attributes=attributes(gen_ai__request__id="r2"))
    odd = span(0, 1000, attributes=attributes(gen_ai__request__id="r3", gen_ai__latency__time_to_first_token=-4.0,
                                              gen_ai__latency__time_in_queue=1e300))
    file = imported(tmp_path, json.dumps(export(old, none, odd)))
    assert [e.name for e in file.events] == ["llm_request request=r1", "queue request=r1", "prefill request=r1",
                                             "llm_request request=r2", "llm_request request=r3"]
    assert (file.events[1].end - UNIX, file.events[2].end - UNIX) == (200, 500)


def test_generic_spans_keep_who_they_are(tmp_path):
    parent = span(0, 100, "GET /", parentSpanId="00000000000000aa", status={"code": 2, "message": "boom"},
                  links=[{"traceId": "aa"}], events=[{"timeUnixNano": str(UNIX + 5), "name": "exception",
                                                      "attributes": attributes(exception__type="E")}])
    fork = [span(10, 60, "left"), span(40, 90, "right")]
    file = imported(tmp_path, json.dumps(export(parent, *fork, service="gateway")))
    first, mark, left, right = file.events
    assert first.name == "GET /" and first.kind == tev.RANGE and first.flags & tev.HAS_CORRELATION
    assert first.attrs["parent_span_id"] == "00000000000000aa" and first.attrs["links"] == [{"traceId": "aa"}]
    assert first.attrs["status"] == {"code": 2, "message": "boom"}
    assert mark.kind == tev.MARK and mark.name == "exception" and mark.attrs == {"exception.type": "E"}
    assert first.track == left.track and first.track.device_label == "gateway"
    # Spans that overlap keep their length.
    done = run_teller("reconstruct", tmp_path / "run")
    counters = json.loads((tmp_path / "run" / "reconstruct.json").read_text())["counters"]
    assert done.returncode == 0 and counters["overlaps_clipped"] == 0
    assert requests_of(tmp_path / "run") == {}


def test_traces_do_not_nest_in_each_other(tmp_path):
    spans = [vllm_span("r1"), {**span(10, 20, "inner"), "traceId": "ff"}]
    imported(tmp_path, json.dumps(export(*spans)))
    run_teller("reconstruct", tmp_path / "run")
    nodes = [json.loads(line) for line in run_teller("dump", tmp_path / "run", "chains", "--json").stdout.splitlines()]
    inner = next(n for n in nodes if n.get("name") == "inner")
    assert inner["request"] is None


@pytest.mark.parametrize("packed", [False, True])
def test_lines_of_the_file_exporter(tmp_path, packed):
    lines = [json.dumps(export(vllm_span(f"r{i}", i))) for i in range(3)]
    lines.insert(1, '{"resourceSpans":[{"resource":{"attr')  # its writer died here
    lines.insert(3, "garbage")
    lines.append(json.dumps({"resourceMetrics": [{"scopeMetrics": []}]}))
    text = "\n".join(lines).encode() + b"\n"
    file = imported(tmp_path, gzip.compress(text) if packed else text)
    counts = file.meta["counts"]
    assert counts["events"] == 3 and counts["malformed"] == 2 and counts["unknown"] == {"resourceMetrics": 1}
    assert balanced(counts)


def test_other_spellings(tmp_path):
    """The messages' own field names, numbers that are no text, the former name of scopes, many lines."""
    text = json.dumps({"resource_spans": [{"resource": {}, "instrumentation_library_spans": [{"spans": [
        {"trace_id": "aa", "span_id": "bb", "name": "n", "kind": "SPAN_KIND_CLIENT", "start_time_unix_nano": UNIX,
         "end_time_unix_nano": UNIX + 7, "attributes": [{"key": "a", "value": {"array_value": {"values": [
             {"int_value": "3"}, {"kvlist_value": {"values": [{"key": "k", "value": {"bool_value": True}}]}}]}}}]}]}]}]},
                      indent=2)
    (only,) = imported(tmp_path, text).events
    assert (only.begin, only.end, only.category) == (UNIX, UNIX + 7, "client")
    assert only.attrs["attributes"] == {"a": [3, {"k": True}]} and only.attrs["span_id"] == "bb"
    assert only.track.device_label == "unknown service"


def test_prompts_are_left_out(tmp_path):
    secret = attributes(gen_ai__prompt="SECRET", gen_ai__usage__prompt_tokens=3, llm__prompts__0__content="SECRET")
    done_span = span(0, 9, attributes=secret, events=[{"timeUnixNano": str(UNIX), "name": "e",
                                                       "attributes": attributes(gen_ai__completion="SECRET")}])
    file = imported(tmp_path, json.dumps(export(done_span)))
    assert file.meta["content_left_out"] == 3
    assert file.events[0].attrs["attributes"]["gen_ai.prompt"] == "<left out: 8 bytes>"
    assert file.events[0].attrs["attributes"]["gen_ai.usage.prompt_tokens"] == 3
    for path in (tmp_path / "run").rglob("*"):
        assert path.is_dir() or b"SECRET" not in path.read_bytes()


# Keys under which programs put prompts, in several spellings, and keys whose values are no content.
CONTENT_KEYS = ("my.app.prompt", "chatHistory", "request.body", "requestBody", "llm.inputMessages.0.text", "user_input",
                "http.request.header.x-debug", "langfuse.observation.output", "formatted-prompt", "db.query.text",
                "tool.arguments", "promptTokenIds", "gen_ai.response", "documents.0", "Body")
SECRET_KEYS = ("openaiApiKey", "x-api-key", "db.password", "HF_TOKEN", "sessionToken", "aws.secretAccessKey", "authorization")


def hidden_in(place: str, pairs: list[dict]) -> dict:
    """An export with attributes at one of the places where OpenTelemetry has some."""
    kvlist = [{"key": "deep", "value": {"kvlistValue": {"values": [
        {"key": "deeper", "value": {"array_value": {"values": [{"kvlist_value": {"values": pairs}}]}}}]}}}]
    spans = {"span": span(0, 9, attributes=pairs), "kvlist": span(0, 9, attributes=kvlist),
             "link": span(0, 9, links=[{"traceId": "aa", "attributes": pairs}]),
             "event": span(0, 9, events=[{"time_unix_nano": UNIX, "name": "e", "attributes": pairs}]),
             "status": span(0, 9, status={"code": 2, "details": pairs})}
    out = export(spans.get(place, span(0, 9)))
    if place == "resource":
        out["resourceSpans"][0]["resource"]["attributes"] += pairs
    if place == "log":
        out["resourceLogs"] = [{"scopeLogs": [{"logRecords": [{"timeUnixNano": str(UNIX), "body": {"kvlistValue": {"values": pairs}}}]}]}]
    return out


@pytest.mark.parametrize("place", ["span", "kvlist", "link", "event", "status", "resource", "log"])
def test_no_prompt_or_secret_is_stored_wherever_it_stands(tmp_path, place):
    pairs = [{"key": key, "value": {"stringValue": "SECRETVALUE-77aa"}} for key in CONTENT_KEYS + SECRET_KEYS]
    pairs += attributes(gen_ai__usage__prompt_tokens=3, gen_ai__output__type="json", http__request__body__size=9)
    file = imported(tmp_path, json.dumps(hidden_in(place, pairs)))
    for path in (tmp_path / "run").rglob("*"):
        assert path.is_dir() or b"SECRETVALUE" not in path.read_bytes(), path
    assert file.meta["content_left_out"] == len(CONTENT_KEYS) and file.meta["secrets_redacted"] == len(SECRET_KEYS)
    stored = b"".join(p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file()).replace(b'\\"', b'"')
    for kept in (b"gen_ai.usage.prompt_tokens", b"json", b"http.request.body.size"):
        assert kept in stored


def test_secrets_in_texts_of_spans_are_redacted(tmp_path):
    token, password = "hf_" + "aB3" * 10, "scheme://user:hunter2hunter2@host/"
    told = span(0, 9, name=f"GET {password}", status={"code": 2, "message": f"token {token} refused"}, traceState=f"k=Bearer {token}",
                attributes=attributes(exception__message=f"api_key={token}", process__command_line=f"serve --api-key {token}"),
                events=[{"timeUnixNano": str(UNIX), "name": f"call {password}"}])
    out = export(told)
    out["resourceSpans"][0]["resource"]["attributes"].append(
        {"key": "process.command_args", "value": {"arrayValue": {"values": [{"stringValue": x} for x in ("serve", "--api-key", "plain")]}}})
    out["resourceLogs"] = [{"scopeLogs": [{"logRecords": [{"timeUnixNano": str(UNIX), "body": {"stringValue": f"prompt: 'secret words', key {token}"}}]}]}]
    file = imported(tmp_path, json.dumps(out))
    for path in (tmp_path / "run").rglob("*"):
        for secret in (token, "hunter2", "secret words"):
            assert path.is_dir() or secret.encode() not in path.read_bytes(), (path, secret)
    assert file.events[0].attrs["status"]["message"] == "token <redacted:hf_token> refused"
    assert file.meta["resources"][0]["process.command_args"] == ["serve", "--api-key", "<redacted:api_key>"]
    assert file.meta["secrets_redacted"] == 9


def test_log_records_become_log_lines(tmp_path):
    logs = {"resourceLogs": [{"resource": {"attributes": attributes(service__name="vllm", process__pid=77)}, "scopeLogs": [
        {"logRecords": [{"timeUnixNano": str(UNIX), "severityText": "ERROR", "body": {"stringValue": "out of memory"}},
                        {"observedTimeUnixNano": str(UNIX + 1), "severityText": f"INFO hf_{'aB3' * 10}", "body": {"stringValue": "two\nlines"}},
                        {"body": None}]}]}]}
    file = imported(tmp_path, json.dumps(logs))
    assert balanced(file.meta["counts"]) and file.meta["counts"]["malformed"] == 1
    lines = [json.loads(line) for line in (tmp_path / "run" / "logs.jsonl").read_text().splitlines()]
    assert lines == [{"t": UNIX, "stream": "vllm", "pid": 77, "text": "out of memory", "level": "ERROR"},
                     {"t": UNIX + 1, "stream": "vllm", "pid": 77, "text": "two lines", "level": "INFO <redacted:hf_token>"}]


def test_broken_spans_cost_only_themselves(tmp_path):
    bad = [{"name": "no time"}, span(5, 5, startTimeUnixNano="soon"), span(0, 1, endTimeUnixNano="1e9"), 17,
           span(0, 1, startTimeUnixNano="99999999999999999999")]
    back = span(100, 50, "clock set back")
    file = imported(tmp_path, json.dumps(export(*bad, back, span(0, None, "open"))))
    counts = file.meta["counts"]
    assert counts["malformed"] == len(bad) and counts["clipped"] == 1 and balanced(counts)
    assert file.events[0].flags & tev.REPAIRED and file.events[0].end == file.events[0].begin
    assert file.events[1].end == tev.OPEN_NS


def test_many_attributes_do_not_make_it_slow(tmp_path):
    many = [{"key": f"k{i}", "value": {"intValue": i}} for i in range(200_000)]
    (only,) = imported(tmp_path, json.dumps(export(span(0, 9, attributes=many)))).events
    assert only.attrs["attributes"]["k1023"] == 1023 and only.attrs["attributes"]["left_out"] == 200_000 - 1024
    nodes = [node(3, "aten::mm", 2, attrs=[{"name": f"k{i}", "value": i} for i in range(200_000)])]
    (only,) = imported(tmp_path, json.dumps(execution_trace(*nodes))).events
    assert only.attrs["left_out"] == 200_000 - 1024


def test_what_is_no_otlp_says_so(tmp_path):
    for text in ('{"resourceSpans": 1', '{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}'):
        source = tmp_path / "trace"
        source.write_text(text)
        expect_one_line(run_teller("import", source, "-o", tmp_path / "run"), 4)
        assert not (tmp_path / "run").exists()
    assert imported(tmp_path, '{"resourceSpans":[]}').events == []


# --- execution traces -------------------------------------------------------------------------------------------

def node(ident: int, name: str, parent: int, tid: int = 1, rf: int = 0, scope: int = 0, **more) -> dict:
    """As PyTorch writes a node since schema 1.0.2."""
    attrs = [{"name": n, "type": t, "value": v} for n, t, v in (
        ("rf_id", "uint64", rf), ("fw_parent", "uint64", 0), ("seq_id", "int64", -1), ("scope", "uint64", scope),
        ("tid", "uint64", tid), ("fw_tid", "uint64", 0), ("op_schema", "string", ""))]
    return {"id": ident, "name": name, "ctrl_deps": parent, "attrs": attrs,
            "inputs": {"values": [[8, 9, 0, 4, 4, "cpu"]], "shapes": [[2, 2]], "types": ["Tensor(float)"]},
            "outputs": {"values": [], "shapes": [], "types": []}, **more}


def execution_trace(*nodes, **top) -> dict:
    return {"schema": "1.1.1-chakra.0.0.4", "pid": 10, "time": "2026-01-01 00:00:00", "start_ts": 5, "nodes": [
        *nodes, node(1, "[pytorch|profiler|execution_trace|process]", 1, tid=0, scope=7)], "finish_ts": 9, **top}


# Written as calls end: mm(4) in linear(3), then add(5); a second thread begins in between.
NODES = [node(2, "[pytorch|profiler|execution_trace|thread]", 1, scope=7), node(4, "aten::mm", 3, rf=12),
         node(3, "aten::linear", 2, rf=11), node(7, "aten::add", 6, tid=2, rf=21),
         node(6, "[pytorch|profiler|execution_trace|thread]", 1, tid=2, scope=7),
         node(5, "ProfilerStep#3", 2, rf=13, scope=7)]


def test_execution_trace_in_its_order(tmp_path):
    source = tmp_path / "trace"
    source.write_text(json.dumps(execution_trace(*NODES)))
    done = run_import(source, "-o", tmp_path / "run")
    assert "states no times" in done.stderr
    file = tev.read_tev(tmp_path / "run" / "events" / "0.trace.tev")
    by = {e.name: e for e in file.events}
    assert set(by) == {"aten::linear", "aten::mm", "ProfilerStep#3", "aten::add"}
    linear, mm, step, other = (by[n] for n in ("aten::linear", "aten::mm", "ProfilerStep#3", "aten::add"))
    assert linear.begin < mm.begin < mm.end < linear.end < step.begin < step.end
    assert (linear.begin, linear.end) == (0, 3)
    assert linear.flags & tev.OPERATOR and not step.flags & tev.OPERATOR
    assert (mm.track.pid, mm.track.tid, other.track.tid) == (10, 1, 2)
    assert mm.attrs["parent"] == 3 and mm.attrs["rf_id"] == 12 and mm.attrs["inputs"]["shapes"] == [[2, 2]]
    assert "op_schema" not in mm.attrs
    meta = file.meta
    assert meta["dialect"] == "execution_trace" and meta["times"] == "order" and meta["clock"]["base"] == "order"
    assert meta["producer"]["schema"] == "1.1.1-chakra.0.0.4" and meta["counts"]["metadata"] == 3
    assert balanced(meta["counts"]) and meta["counts"]["events"] == 4
    done = run_teller("reconstruct", tmp_path / "run")
    assert done.returncode == 0, done.stderr


def test_execution_trace_of_the_first_schema(tmp_path):
    """1.0.1: all flat."""
    flat = [{"id": 3, "name": "aten::mm", "rf_id": 11, "parent": 2, "fw_parent": 0, "seq_id": -1, "scope": 0, "tid": 1,
             "fw_tid": 0, "op_schema": "s", "inputs": [[1]], "input_shapes": [[2]], "input_types": ["T"], "outputs": []}]
    (only,) = imported(tmp_path, json.dumps({"schema": "1.0.1", "pid": 10, "nodes": flat})).events
    assert only.name == "aten::mm" and only.track.tid == 1
    assert only.attrs == {"id": 3, "parent": 2, "rf_id": 11, "fw_parent": 0, "seq_id": -1, "fw_tid": 0, "op_schema": "s",
                          "inputs": [[1]], "input_shapes": [[2]], "input_types": ["T"]}


def test_execution_trace_with_times_of_a_linker(tmp_path):
    nodes = [node(4, "aten::mm", 3, ts=1000.5, inclusive_dur=2.25), node(3, "aten::linear", 2, ts=1000, inclusive_dur=10)]
    file = imported(tmp_path, json.dumps(execution_trace(*nodes)))
    by = {e.name: e for e in file.events}
    assert (by["aten::mm"].begin, by["aten::mm"].end) == (1000500, 1002750) and file.meta["times"] == "stated"


def kineto(*operators, pid: int = 10) -> dict:
    return {"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": name, "pid": pid, "tid": 55, "ts": ts, "dur": 2,
                             "args": {"Record function id": rf}} for name, rf, ts in operators], "baseTimeNanoseconds": 7000}


def test_execution_trace_beside_the_profiler(tmp_path):
    """Nodes become links at the times of the operators that they are: nothing is counted twice."""
    (tmp_path / "et.json").write_text(json.dumps(execution_trace(*NODES)))
    (tmp_path / "prof.json").write_text(json.dumps(kineto(("aten::linear", 11, 100), ("aten::mm", 12, 101),
                                                          ("ProfilerStep#3", 13, 110))))
    done = run_import(tmp_path / "et.json", tmp_path / "prof.json", "-o", tmp_path / "run")
    assert "1 of its 4 nodes are not in prof.json" in done.stderr
    file = tev.read_tev(tmp_path / "run" / "events" / "0.et.tev")
    by = {e.name: e for e in file.events}
    assert all(e.kind == tev.FLOW_END and e.category == "execution_trace" for e in file.events)
    assert by["aten::mm"].begin == 101000 and by["aten::mm"].track.tid == 55 and by["aten::mm"].correlation == 12
    assert file.meta["tied"] == {"source": "prof.json", "nodes": 3, "not": 1}
    assert file.meta["clock"] == {"base": "relative", "unix_offset_ns": 7000}
    assert file.meta["counts"]["flows"] == 4 and balanced(file.meta["counts"])
    done = run_teller("reconstruct", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    total = json.loads((tmp_path / "run" / "reconstruct.json").read_text())["total"]["records"]
    assert total["nodes"] == 3 and total["links"] == 4


@pytest.mark.parametrize("other", [kineto(("aten::linear", 11, 100), ("aten::mm", 12, 1), pid=11),
                                   kineto(("aten::linear", 12, 100), ("aten::mm", 11, 1)), kineto(("aten::mm", 12, 1))],
                         ids=["of another process", "other calls", "too few"])
def test_execution_trace_of_another_process_is_not_tied(tmp_path, other):
    (tmp_path / "et.json").write_text(json.dumps(execution_trace(*NODES)))
    (tmp_path / "prof.json").write_text(json.dumps(other))
    run_import(tmp_path / "prof.json", tmp_path / "et.json", "-o", tmp_path / "run")
    meta = tev.read_tev(tmp_path / "run" / "events" / "1.et.tev").meta
    assert meta["times"] == "order" and "tied" not in meta


OPERATORS = (("aten::linear", 11, 100), ("aten::mm", 12, 101), ("ProfilerStep#3", 13, 110))


@pytest.mark.parametrize("order", [("a", "b", "et"), ("b", "a", "et"), ("et", "b", "a")], ids="-".join)
@pytest.mark.parametrize("second,tied", [(OPERATORS, None), ((*OPERATORS[:2], ("aten::other", 13, 110)), "a.json"),
                                         ((*OPERATORS, ("aten::add", 21, 120)), "b.json")],
                         ids=["alike", "worse", "better"])
def test_an_execution_trace_is_tied_by_content_and_not_by_the_order_of_inputs(tmp_path, order, second, tied):
    """Two containers: both processes have the same id, and both ran the same program."""
    (tmp_path / "et.json").write_text(json.dumps(execution_trace(*NODES)))
    (tmp_path / "a.json").write_text(json.dumps(kineto(*OPERATORS)))
    (tmp_path / "b.json").write_text(json.dumps({**kineto(*((n, rf, ts + 1000) for n, rf, ts in second)), "traceName": "b"}))
    done = run_import(*(tmp_path / f"{name}.json" for name in order), "-o", tmp_path / "run")
    (path,) = (tmp_path / "run" / "events").glob("*.et.tev")
    meta = tev.read_tev(path).meta
    if tied:
        assert meta["times"] == "tied" and meta["tied"]["source"] == tied and "tied_to_none_of" not in meta
    else:
        assert meta["times"] == "order" and "tied" not in meta and meta["tied_to_none_of"] == ["a.json", "b.json"]
        assert "its calls are in 2 traces of a process 10 alike (a.json, b.json): it is tied to none of them" in done.stderr


def test_broken_execution_traces(tmp_path):
    bad = [{"id": 5}, {"name": "x"}, 17, {"id": "a", "name": "b"}, node(9, "deep", 2, inputs=json.loads("[" * 70 + "]" * 70))]
    file = imported(tmp_path, json.dumps(execution_trace(*NODES, *bad)))
    assert file.meta["counts"]["malformed"] == len(bad) and balanced(file.meta["counts"])
    source = tmp_path / "cut"
    text = json.dumps(execution_trace(*NODES))
    source.write_text(text[: len(text) // 2])
    expect_one_line(run_teller("import", source, "-o", tmp_path / "new"), 4, says="--allow-truncated")
    run_import(source, "-o", tmp_path / "new", "--allow-truncated")
    source.write_text('{"schema":"1.1.1","nodes":[{}]}')
    expect_one_line(run_teller("import", source, "-o", tmp_path / "newer"), 4, says="has an id and a name")


def test_parents_that_go_in_circles(tmp_path):
    """Ids and parents are anybody's: order comes out, nothing hangs."""
    nodes = [node(3, "a", 4), node(4, "b", 3), node(4, "c", 4), node(5, "d", 10**18)]
    file = imported(tmp_path, json.dumps(execution_trace(*nodes)))
    assert len(file.events) == 4 and all(e.begin < e.end for e in file.events)


REAL = """
import sys, torch
from torch.profiler import ExecutionTraceObserver, profile
et = ExecutionTraceObserver()
et.register_callback(sys.argv[1])
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
with profile(activities=[torch.profiler.ProfilerActivity.CPU]) as prof:
    et.start()
    for _ in range(3):
        model(torch.ones(2, 8)).sum().backward()
    et.stop()
et.unregister_callback()
prof.export_chrome_trace(sys.argv[2])
"""


def test_what_pytorch_writes(tmp_path):
    pytest.importorskip("torch")
    et, prof = tmp_path / "et.json", tmp_path / "prof.json"
    subprocess.run([sys.executable, "-c", REAL, et, prof], check=True, capture_output=True, timeout=300)
    nodes = [n for n in json.loads(et.read_text())["nodes"] if not n["name"].startswith("[pytorch|")]
    run_import(et, "-o", tmp_path / "alone")
    alone = tev.read_tev(tmp_path / "alone" / "events" / "0.et.tev")
    assert len(alone.events) == len(nodes) > 20 and balanced(alone.meta["counts"])
    by_id = {e.attrs["id"]: e for e in alone.events}
    for n in nodes:  # every node lies inside its parent
        parent = by_id.get(n["ctrl_deps"])
        assert parent is None or parent.begin < by_id[n["id"]].begin < by_id[n["id"]].end < parent.end
    run_import(et, prof, "-o", tmp_path / "both")
    both = tev.read_tev(tmp_path / "both" / "events" / "0.et.tev")
    assert both.meta["times"] == "tied" and both.meta["tied"]["not"] <= len(nodes) // 10
    times = {e.attrs.get("Record function id"): e for e in tev.read_tev(tmp_path / "both/events/1.prof.tev").events}
    ties = [e for e in both.events if e.correlation in times and times[e.correlation].name == e.name]
    assert len(ties) >= both.meta["tied"]["nodes"] and all(e.begin == times[e.correlation].begin for e in ties)
