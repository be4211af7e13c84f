"""The demo engine: it serves, its defects are what they claim to be, and the hooks see them."""

from __future__ import annotations

import ast
import functools
import http.client
import importlib
import inspect
import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the demo engine needs torch")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from examples.demo_engine import attention, cli, faults, load, tokenizer  # noqa: E402
from examples.demo_engine.engine import Engine, EngineConfig, InvalidRequestError  # noqa: E402
from examples.demo_engine.kv_cache import BlockPool  # noqa: E402
from examples.demo_engine.model import Attention, ModelConfig  # noqa: E402
from examples.demo_engine.scheduler import SchedulerConfig  # noqa: E402
from examples.demo_engine.server import Server  # noqa: E402

HOOKS = json.loads((ROOT / "examples/demo_engine/hooks.json").read_text())
# Double precision: with it no two tokens come so close that the batch's shape decides between them.
TINY = ModelConfig(width=32, layers=1, heads=2, dtype=torch.float64)
ALL_IDS = [f"req-{index}" for index in range(load.LoadConfig().requests)]
ALL_CASES = [(request_id, index % 2) for index, request_id in enumerate(ALL_IDS)]
TELLTALE = re.compile(r"starv|slow|fault|demo_request|tiled|pinn|debt|switch", re.IGNORECASE)


def make_engine(fault: str = "none", request_id: str = "", **changes: Any) -> Engine:
    """Returns an engine with the given defect, small unless `changes` say otherwise."""
    switch = faults.Switch(fault, request_id)
    config = replace(EngineConfig(model=TINY), **changes)
    return Engine(config, faults.make_policy(switch), faults.make_kernel_choice(switch))


def serve_load(engine: Engine, seed: int = 0, **changes: Any) -> dict[str, list[int]]:
    """Runs a generated load without HTTP; returns the tokens of each request."""
    config = load.LoadConfig(seed=seed, **changes)
    answers = load.run_offline(load.plan_load(config), config.clients, engine)
    return {answer.id: answer.tokens for answer in answers}


@functools.cache
def healthy_tokens(seed: int) -> dict[str, list[int]]:
    """Returns what the tiny engine answers when nothing is wrong."""
    return serve_load(make_engine(), seed)


# --- hooks: a stand-in for the real loader, as small as the contract allows


@dataclass
class Observed:
    """What a tracer would see."""

    records: list[dict[str, Any]] = field(default_factory=list)
    ranges: list[tuple[str, int, int | None]] = field(default_factory=list)
    """Message, duration in ns, number of the step that it ran in."""
    open_ranges: list[str] = field(default_factory=list)


ALLOWED_CALLS = set(
    "len str int float bool min max sum zip enumerate sorted list dict getattr range".split()
)


class Arguments(SimpleNamespace):
    """Arguments by name or position, as hook expressions see them."""

    def __getitem__(self, index: int) -> Any:
        return list(vars(self).values())[index]


def evaluate(expression: str, function: Callable[..., Any], values: dict[str, Any]) -> Any:
    """Evaluates a hook expression on a call's arguments and result."""
    names = {"args": Arguments(**values["arguments"]), "self": values["arguments"].get("self")}
    names["result"] = values.get("result")
    return eval(expression, names)


def wrap(
    target: dict[str, Any], function: Callable[..., Any], seen: Observed
) -> Callable[..., Any]:
    """Returns `function`, observed as `target` asks."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        values = {"arguments": signature.bind(*args, **kwargs).arguments}
        message = target["range"]
        if "request" in target:
            message += f" request={evaluate(target['request'], function, values)}"
        seen.open_ranges.append(message)
        begin = time.perf_counter_ns()
        try:
            values["result"] = function(*args, **kwargs)
        finally:
            duration = time.perf_counter_ns() - begin
            seen.open_ranges.pop()
        if "record" in target:
            record = {
                key: evaluate(text, function, values) for key, text in target["record"].items()
            }
            seen.records.append(json.loads(json.dumps({"v": 1, **record})))
        step = seen.records[-1]["step"] if seen.records and seen.open_ranges else None
        seen.ranges.append((message, duration, step))
        return values["result"]

    return wrapper


def resolve(target: dict[str, Any]) -> tuple[Any, str]:
    """Returns the class or module that holds the target, and the target's name in it."""
    owner: Any = importlib.import_module(target["module"])
    *path, name = target["object"].split(".")
    for part in path:
        owner = getattr(owner, part)
    return owner, name


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> Observed:
    """Wraps all targets of hooks.json."""
    seen = Observed()
    for target in HOOKS["targets"]:
        owner, name = resolve(target)
        monkeypatch.setattr(owner, name, wrap(target, getattr(owner, name), seen))
    return seen


# --- the parts


@pytest.mark.parametrize(
    ("count", "context"), [(1, 1), (1, 17), (1, 200), (64, 64), (20, 84), (9, 300)]
)
def test_both_kernels_compute_causal_attention(count: int, context: int) -> None:
    torch.manual_seed(count * 1000 + context)
    queries = torch.randn(count, 4, 8)
    keys, values = torch.randn(context, 4, 8), torch.randn(context, 4, 8)
    start = context - count
    expected = torch.nn.functional.scaled_dot_product_attention(
        queries.transpose(0, 1),
        keys.transpose(0, 1),
        values.transpose(0, 1),
        attn_mask=torch.ones(count, context).tril(start).bool(),
    )
    expected = expected.transpose(0, 1).reshape(count, -1)
    for kernel in (attention.direct_attention, attention.tiled_attention):
        torch.testing.assert_close(kernel(queries, keys, values, start), expected)


def test_pool_hands_out_all_or_nothing_and_takes_back() -> None:
    pool = BlockPool(total=4, block_size=16)
    first: list[int] = []
    second: list[int] = []
    assert pool.grow(first, 33) and len(first) == 3 and pool.free == 1
    assert not pool.grow(second, 17) and second == [] and pool.free == 1
    assert pool.grow(first, 48) and len(first) == 3
    pool.pin(9)
    assert pool.free == 0 and not pool.grow(second, 1)
    pool.unpin()
    pool.release(first)
    assert pool.free == 4 and first == []


def test_load_depends_on_its_seed_alone() -> None:
    plan = load.plan_load(load.LoadConfig(seed=5))
    assert plan == load.plan_load(load.LoadConfig(seed=5))
    assert plan != load.plan_load(load.LoadConfig(seed=6))
    assert [planned.id for planned in plan] == ALL_IDS
    assert all(planned.max_tokens > 50 for planned in plan)


def test_text_survives_the_tokenizer() -> None:
    assert tokenizer.decode(tokenizer.encode("naïve ≠ plain")) == "naïve ≠ plain"


# --- the engine without a defect


@pytest.mark.parametrize("seed", [0, 1])
def test_healthy_engine_serves_everyone_all_the_time(seed: int, observed: Observed) -> None:
    engine = make_engine()
    tokens = serve_load(engine, seed)
    plan = load.plan_load(load.LoadConfig(seed=seed))
    assert [len(tokens[planned.id]) for planned in plan] == [planned.max_tokens for planned in plan]
    assert not engine.ledger.passed_over and not engine.ledger.preempted
    assert max(engine.ledger.waited.values(), default=0) < 10
    assert engine.scheduler.pool.free == engine.scheduler.pool.total and not engine.has_work
    assert 150 <= engine.ledger.steps <= 300
    crowded = sum(len(record["req"]) >= 4 for record in observed.records)
    assert crowded > 0.85 * len(observed.records)


def test_chunks_and_company_do_not_change_tokens() -> None:
    expected = healthy_tokens(0)
    chunky = make_engine(scheduler=SchedulerConfig(max_chunk=37, token_budget=60, max_seqs=3))
    assert serve_load(chunky) == expected


def test_real_shortage_preempts_the_youngest_and_changes_no_tokens() -> None:
    engine = make_engine(blocks=60)
    assert serve_load(engine) == healthy_tokens(0)
    assert sum(engine.ledger.preempted.values()) > 3
    assert engine.scheduler.pool.free == 60


def test_idle_steps_do_no_harm() -> None:
    engine = make_engine()
    assert engine.step() == [] and engine.ledger.steps == 1


@pytest.mark.parametrize(
    ("prompt", "max_tokens", "part"),
    [([], 5, "empty"), ([1], 0, "empty"), ([1] * 1000, 100, "1100"), ([256], 1, "vocabulary")],
)
def test_hopeless_requests_are_refused(prompt: list[int], max_tokens: int, part: str) -> None:
    engine = make_engine()
    with pytest.raises(InvalidRequestError, match=part):
        engine.add_request("a", prompt, max_tokens)
    engine.add_request("a", [1], 1)
    with pytest.raises(InvalidRequestError, match="before"):
        engine.add_request("a", [1], 1)


# --- the defects, by the engine's own books


@pytest.mark.parametrize(("request_id", "seed"), ALL_CASES)
def test_starve_hits_any_request(request_id: str, seed: int) -> None:
    engine = make_engine("starve", request_id)
    tokens = serve_load(engine, seed)
    assert engine.ledger.passed_over[request_id] >= 15
    assert set(engine.ledger.passed_over) == {request_id}
    assert not engine.ledger.preempted
    assert tokens == healthy_tokens(seed)


@pytest.mark.parametrize(("request_id", "seed"), ALL_CASES)
def test_memory_hits_any_request(request_id: str, seed: int) -> None:
    engine = make_engine("memory", request_id)
    tokens = serve_load(engine, seed)
    assert engine.ledger.preempted_dry[request_id] >= 3
    assert engine.ledger.preempted == {request_id: engine.ledger.preempted_dry[request_id]}
    assert engine.ledger.recomputed_tokens[request_id] > 3 * 100
    assert not engine.ledger.passed_over
    assert tokens == healthy_tokens(seed)
    engine.scheduler.pool.unpin()
    assert engine.scheduler.pool.free == engine.scheduler.pool.total


@pytest.mark.parametrize("request_id", ["req-1", "req-5"])
def test_slow_op_makes_attention_of_one_request_work_harder(
    request_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts the tensor operators behind each call of attend(): work, which no busy machine changes."""
    calls = count_operators_of_attention(monkeypatch)
    engine = make_engine("slow-op", request_id, model=ModelConfig(layers=2))
    serve_load(engine, requests=6, output_tokens=(16, 24))
    healthy = max(count for name, count in calls if name != request_id)
    assert min(count for name, count in calls if name == request_id) > 0
    assert median(count for name, count in calls if name == request_id) >= 3 * healthy
    assert not engine.ledger.passed_over and not engine.ledger.preempted


def test_slow_op_changes_no_tokens() -> None:
    assert serve_load(make_engine("slow-op", "req-2")) == healthy_tokens(0)


def count_operators_of_attention(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Counts operators from now on; the list gets (request id, operators) of each call of attend()."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class CountOperators(TorchDispatchMode):
        count = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            CountOperators.count += 1
            return func(*args, **(kwargs or {}))

    calls: list[tuple[str, int]] = []
    attend = Attention.attend

    def counted(self: Attention, request_id: str, *args: Any) -> Any:
        before = CountOperators.count
        with CountOperators():
            result = attend(self, request_id, *args)
        calls.append((request_id, CountOperators.count - before))
        return result

    monkeypatch.setattr(Attention, "attend", counted)
    return calls


# --- the defects, by what the hooks see


def test_rows_account_for_every_request_in_every_step(observed: Observed) -> None:
    serve_load(make_engine("memory", "req-4"))
    computed: Counter[str] = Counter()
    served_before: set[str] = set()
    for number, record in enumerate(observed.records, start=1):
        assert record["step"] == number
        for request_id, held in record["preempt"]:
            assert held == computed.pop(request_id)
            served_before.discard(request_id)
        for request_id, phase, is_new, scheduled, before in record["req"]:
            assert before == computed[request_id] and scheduled > 0
            assert is_new == (request_id not in served_before)
            assert phase == "prefill" or scheduled == 1
            computed[request_id] += scheduled
            served_before.add(request_id)
        assert all(held == computed[request_id] for request_id, held in record["wait"])
        rows = [row[0] for row in record["req"] + record["wait"]]
        assert len(rows) == len(set(rows)) and {row[0] for row in record["preempt"]} <= set(rows)
        assert record["tokens"] == [sum(row[3] for row in record["req"]), 160]
        assert len(record["req"]) <= record["seqs"][0] <= record["seqs"][1] == 8
        assert 0 <= record["kv"][0] <= record["kv"][1]


def test_rows_show_who_is_passed_over(observed: Observed) -> None:
    serve_load(make_engine("starve", "req-9"))
    passed_over: Counter[str] = Counter()
    for record in observed.records:
        if record["tokens"][0] < record["tokens"][1] and record["kv"][0] > 0:
            passed_over.update(request_id for request_id, _ in record["wait"])
    assert set(passed_over) == {"req-9"} and passed_over["req-9"] >= 15


def test_rows_show_who_loses_its_blocks(observed: Observed) -> None:
    serve_load(make_engine("memory", "req-9"))
    preempted: Counter[str] = Counter()
    for before, record in zip(observed.records, observed.records[1:], strict=False):
        for request_id, _ in record["preempt"]:
            preempted[request_id] += 1
            assert before["kv"][0] == 0
    assert set(preempted) == {"req-9"} and preempted["req-9"] >= 3


def test_ranges_nest_in_steps_and_name_requests(observed: Observed) -> None:
    engine = make_engine()
    engine.warm_up()
    serve_load(engine, requests=3, output_tokens=(5, 5))
    names = Counter(message.partition(" request=")[0] for message, _, _ in observed.ranges)
    expected = {target["range"] for target in HOOKS["targets"] if ".server" not in target["module"]}
    assert set(names) == expected
    rows = sum(len(record["req"]) for record in observed.records)
    in_steps = [message for message, _, step in observed.ranges if step is not None]
    assert sum(message.startswith("attention request=req-") for message in in_steps) == rows
    assert not any("warmup" in message for message in in_steps)


def test_hook_file_keeps_to_the_contract() -> None:
    assert (HOOKS["format"], HOOKS["version"], HOOKS["stack"]) == ("teller.hooks", 1, "demo")
    known = {"module", "object", "layer", "range", "role", "request", "record", "when"}
    for target in HOOKS["targets"]:
        owner, name = resolve(target)
        assert callable(getattr(owner, name)) and set(target) <= known
        assert target["layer"] in {"STEP", "FE", "BE"}
        for expression in [target.get("request"), *target.get("record", {}).values()]:
            if expression:
                check_expression(expression)
    assert [target.get("role") for target in HOOKS["targets"]].count("step") == 1


def check_expression(expression: str) -> None:
    """Fails on anything outside the subset of Python that docs/hooks.md allows."""
    bound = {"self", "args", "result"} | ALLOWED_CALLS
    nodes = list(ast.walk(ast.parse(expression, mode="eval")))
    bound |= {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in nodes:
        if isinstance(node, ast.Name):
            assert node.id in bound
        elif isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            assert node.func.attr in {"items", "keys", "values", "get"}
        else:
            assert not isinstance(node, ast.Lambda | ast.NamedExpr | ast.Await | ast.Yield)


@pytest.mark.parametrize("fault", faults.FAULTS)
def test_nothing_visible_tells_the_switch(
    fault: str, observed: Observed, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        serve_load(make_engine(fault, "req-2", log_every=1), requests=6)
    visible = [json.dumps(HOOKS)] + [message for message, _, _ in observed.ranges]
    visible += [json.dumps(record) for record in observed.records]
    visible += [f"{line.name} {line.filename} {line.getMessage()}" for line in caplog.records]
    assert not [text for text in visible if TELLTALE.search(text)]
    preempted = [line for line in caplog.messages if line.startswith("Preempting request req-2:")]
    assert bool(preempted) == (fault == "memory")


# --- HTTP


@pytest.fixture
def server() -> Iterator[Server]:
    """Serves a tiny engine on a free port."""
    server = Server(make_engine())
    server.start()
    yield server
    server.stop()


def ask(
    server: Server, body: Any, path: str = "/v1/completions", **headers: str
) -> tuple[int, dict[str, Any]]:
    """Sends one request, a GET where there is no body; returns status and answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    payload = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST" if payload else "GET", path, payload, names)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


def test_http_completes(server: Server) -> None:
    assert ask(server, None, "/health") == (200, {"status": "ok"})
    body = {"prompt": "one two", "max_tokens": 4}
    status, answer = ask(server, body, X_Request_Id="req-7")
    assert status == 200 and answer["id"] == "req-7"
    assert answer["usage"] == {"prompt_tokens": 7, "completion_tokens": 4, "total_tokens": 11}
    status, again = ask(server, {"prompt": list(b"one two"), "max_tokens": 4})
    assert status == 200 and again["id"] == "cmpl-0" and again["choices"] == answer["choices"]


@pytest.mark.parametrize(
    ("body", "path", "request_id", "status"),
    [
        (None, "/nowhere", "a", 404),
        ({"prompt": "x"}, "/v1/other", "a", 404),
        (b"{", "/v1/completions", "a", 400),
        ([1], "/v1/completions", "a", 400),
        ({"prompt": 3}, "/v1/completions", "a", 400),
        ({"prompt": [1.5]}, "/v1/completions", "a", 400),
        ({"prompt": "x", "max_tokens": "4"}, "/v1/completions", "a", 400),
        ({"prompt": "x", "max_tokens": 5000}, "/v1/completions", "a", 400),
        ({"prompt": "x"}, "/v1/completions", "a b", 400),
    ],
)
def test_http_refuses(server: Server, body: Any, path: str, request_id: str, status: int) -> None:
    answer = ask(server, body, path, X_Request_Id=request_id)
    assert answer[0] == status and answer[1]["error"]


def test_a_failed_engine_says_so(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(server.engine.runner, "execute", fail)
    assert ask(server, {"prompt": "x"})[0] == 503
    server._engine_thread.join(10)
    assert ask(server, {"prompt": "x"})[0] == 503
    assert ask(server, None, "/health")[0] == 503
    assert "boom" in caplog.text


# --- the program


@pytest.mark.parametrize(
    ("environment", "part"),
    [
        (
            {"DEMO_FAULT": "gremlin", "DEMO_REQUEST": "req-1"},
            "one of none, starve, slow-op, memory",
        ),
        ({"DEMO_FAULT": "starve"}, "DEMO_REQUEST="),
        ({"DEMO_FAULT": "memory", "DEMO_REQUEST": "req 1"}, "DEMO_REQUEST="),
    ],
)
def test_bad_switch_is_refused_in_one_line(
    environment: dict[str, str],
    part: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("DEMO_REQUEST", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cli.main([]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1 and part in printed.err


def test_switch_defaults_to_none() -> None:
    assert faults.read_switch({}) == faults.Switch()
    assert faults.read_switch({"DEMO_FAULT": "none", "DEMO_REQUEST": "req-1"}) == faults.Switch()


def start_program(*options: str, **environment: str) -> subprocess.Popen[str]:
    """Starts the demo engine as a user would."""
    return subprocess.Popen(
        [sys.executable, "-m", "examples.demo_engine", *options],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_program_serves_its_load_over_http_and_stops(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.json"
    options = ("--requests", "8", "--seed", "3", "--ledger", str(ledger))
    program = start_program(*options, DEMO_FAULT="memory", DEMO_REQUEST="req-5")
    out, err = program.communicate(timeout=50)
    assert program.returncode == 0
    *lines, last = out.splitlines()
    assert [line.split(":")[0] for line in lines] == ALL_IDS[:8]
    assert re.fullmatch(r"8 requests, 0 failed, \d+ steps", last)
    assert all(
        re.match(r"(INFO|WARNING) \d\d-\d\d \d\d:\d\d:\d\d \[\w+\.py:\d+\] ", line)
        for line in err.splitlines()
    )
    assert not TELLTALE.search(out + err)
    assert json.loads(ledger.read_text())["preempted_dry"]["req-5"] >= 3


def test_program_serves_until_told_to_stop() -> None:
    program = start_program("--serve", DEMO_FAULT="starve", DEMO_REQUEST="req-99")
    assert program.stdout is not None
    line = program.stdout.readline()
    port = int(line.rpartition(":")[2])
    status, _ = ask(SimpleNamespace(port=port), {"prompt": "x", "max_tokens": 2})  # type: ignore[arg-type]
    assert status == 200
    program.send_signal(signal.SIGTERM)
    _, err = program.communicate(timeout=20)
    assert program.returncode == 0
    assert err.splitlines()[-1] == "DEMO_REQUEST=req-99: no such request came"


def test_a_taken_port_is_named_in_one_line(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEMO_FAULT", raising=False)
    with pytest.raises(SystemExit, match=f"listening on port {server.port}: "):
        cli.main(["--port", str(server.port)])
