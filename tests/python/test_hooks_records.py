"""The step records of engines that cannot run here (SGLang needs CUDA, vLLM V0 is gone): their expressions, on stand-ins with the
attributes that the source of the engine has."""
from __future__ import annotations

import _imp
import json
import sys
from importlib.machinery import ModuleSpec
from types import SimpleNamespace as Fake
from typing import Any

import pytest
from conftest import ROOT
from trace_support import BUILD

sys.path.insert(0, str(ROOT / "python_hooks"))
from teller_hooks import bridge, counters, fields, record  # noqa: E402
from teller_hooks.targets import Target  # noqa: E402

EXTENSION = BUILD / "preload/teller_native.abi3.so"


def target_of(file: str, path: str) -> Target:
    """A target that comes with teller."""
    data = json.loads((ROOT / "python_hooks/targets" / f"{file}.json").read_text())
    return Target(next(entry for entry in data["targets"] if entry["object"] == path), data["stack"])


def evaluated(target: Target, owner: object, arguments: tuple, result: object, names: tuple = ()) -> dict:
    """The record as it would be sent."""
    given = record.Arguments(arguments, {}, names, {})
    earlier = target.before(owner, given, None) if target.before else None
    return sent({key: expression(owner, given, result, earlier) for key, expression in target.record.expressions.items()})


def sent(values: dict) -> dict:
    """The values of a record's fields as a reader finds them."""
    return json.loads(record._encode({key: record._field(key, value) for key, value in values.items() if value is not None}))


def sglang_request(name: str, prompt: int, output: int, cached: int) -> Fake:
    """A Req."""
    return Fake(rid=name, origin_input_ids=[0] * prompt, output_ids=[0] * output, cached_tokens=cached)


def sglang_record(mode: str, requests: list, extend: list | None, prefix: list | None, decoding: list | None = None) -> dict:
    """What run_batch of a batch sends."""
    batch = Fake(reqs=requests, forward_mode=Fake(name=mode), extend_lens=extend, prefix_lens=prefix, decoding_reqs=decoding,
                 extend_num_tokens=sum(extend) if extend else None)
    allocator = Fake(free_pages=[0] * 40, release_pages=[0] * 3, size=128, page_size=2)
    scheduler = Fake(forward_ct=7, waiting_queue=[sglang_request("w", 5, 0, 0)], token_to_kv_pool_allocator=allocator,
                     max_prefill_tokens=512, running_batch=Fake(reqs=requests), max_running_requests=32)
    return evaluated(target_of("sglang", "Scheduler.run_batch"), scheduler, (batch,), None, ("batch",))


def test_sglang_extend() -> None:
    """A request with a cached prefix, and the second chunk of another."""
    got = sglang_record("EXTEND", [sglang_request("a", 20, 0, 8), sglang_request("b", 64, 0, 0)], [12, 32], [8, 32])
    assert got == {"engine": "sglang", "step": 7, "req": [["a", "prefill", 1, 12, 8], ["b", "prefill", 0, 32, 32]], "wait": [["w", 0]],
                   "kv": [43, 64], "tokens": [44, 512], "seqs": [2, 32], "queue": [1, 2]}


def test_sglang_decode_and_mixed() -> None:
    got = sglang_record("DECODE", [sglang_request("a", 20, 3, 8)], None, None)
    assert got["req"] == [["a", "decode", 0, 1, 22]] and got["tokens"] == [1, 512]
    old = sglang_request("old", 9, 2, 0)
    got = sglang_record("MIXED", [sglang_request("new", 6, 0, 0), old], [6, 1], [0, 10], [old])
    assert got["req"] == [["new", "prefill", 1, 6, 0], ["old", "decode", 0, 1, 10]]


def v0_group(name: str, computed: int) -> Fake:
    """A SequenceGroup."""
    return Fake(request_id=name, first_seq=Fake(data=Fake(_num_computed_tokens=computed)))


def test_rows_are_converted_only_where_they_must_be() -> None:
    rows = [("a", "decode", 0, 1, 2), ("b", "prefill", 1, 3, 4)]
    assert record._field("req", rows) is rows
    for odd, plain in (([(7, "decode", True, 1, 2)], [["7", "decode", 1, 1, 2]]), ([["a", 1]], [["a", 1]]), ([()], None), ([("a", object())], None)):
        try:
            assert record._field("wait", odd) == plain
        except (IndexError, TypeError):
            assert plain is None


def test_vllm_v0() -> None:
    new, old, gone = v0_group("new", 0), v0_group("old", 31), v0_group("gone", 44)
    config = Fake(max_num_batched_tokens=256, max_num_seqs=8)
    target = target_of("vllm_v0", "Scheduler.schedule")
    scheduler = Fake(waiting=[new], swapped=[], running=[old, gone], scheduler_config=config)
    earlier = target.before(scheduler, None, None)
    gone.first_seq.data._num_computed_tokens = 0
    scheduler.waiting, scheduler.running = [gone], [new, old]
    outputs = Fake(scheduled_seq_groups=[Fake(seq_group=new, token_chunk_size=16), Fake(seq_group=old, token_chunk_size=1)],
                   num_prefill_groups=1, num_batched_tokens=17)
    got = sent({key: expression(scheduler, None, ([], outputs, False), earlier) for key, expression in target.record.expressions.items()})
    assert got == {"engine": "vllm-v0", "req": [["new", "prefill", 1, 16, 0], ["old", "decode", 0, 1, 31]], "wait": [["gone", 0]],
                   "preempt": [["gone", 44]], "tokens": [17, 256], "seqs": [2, 8], "queue": [1, 2]}


def native() -> Any:
    """The extension, without a collector."""
    if not EXTENSION.exists():
        pytest.skip("the extension is not built: no Python headers were found")
    module = _imp.create_dynamic(ModuleSpec("teller_native", None, origin=str(EXTENSION)))
    _imp.exec_dynamic(module)
    return module


class Text(str):
    """What could run code of the program."""


PLAIN = [
    {"v": 1, "engine": "e", "step": None, "req": [("a", "decode", 0, 1, 2)], "wait": [("b", 0), ("c", 0, "grammar")], "preempt": []},
    {"v": 2, "req": [], "wait": 17, "kv": (3, 64), "more": {"x": [True, False, None, -(2**63), 2**63 - 1]}, "text": "a\"b\\c"},
    {"v": 1, "req": [(f"cmpl-{number:032x}", "prefill", 1, number, 0) for number in range(3000)]},
]


@pytest.mark.parametrize("values", PLAIN, ids=("all", "reference", "long"))
def test_the_extension_writes_what_python_would(values: dict) -> None:
    plain = {key: record._field(key, value) for key, value in values.items() if value is not None}
    assert native().record_text(values).decode() == record._encode(plain)


@pytest.mark.parametrize("values", [
    {"req": [("a", True)]}, {"req": [(1, 2)]}, {"req": [["a", 1]]}, {"req": ("a",)}, {"req": 3}, {"wait": [()]}, {"a": 1.5}, {"a": 2**63},
    {"a": Text("x")}, {"a": "\u00e9"}, {"a": "\ud800"}, {"a": "\n"}, {"a": "\x7f"}, {"a": {1}}, {1: 2}, {"a": object()}, [], "x",
], ids=repr)
def test_the_extension_leaves_the_rest_to_python(values: object) -> None:
    assert native().record_text(values) is None


def test_the_extension_does_not_follow_a_circle() -> None:
    circle: list = []
    circle.append(circle)
    assert native().record_text({"a": circle}) is None


def test_one_bad_expression_costs_one_field() -> None:
    failed: list = []
    got = fields.Fields({"good": "self", "bad": "self.nothing", "wait": "result.nothing"}, "(1,)").values(
        5, None, None, None, lambda key, error: failed.append(key))
    assert got == {"v": 1, "good": 5} and failed == ["bad", "wait"]


def test_waiting_requests_are_listed_again_only_after_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0]
    monkeypatch.setattr(fields, "monotonic_ns", lambda: now[0])
    owner = Fake(key=(1, "a"), waiting=[("w", 0)])
    made = fields.Fields({"req": "[]", "wait": "list(self.waiting)"}, "self.key")

    def values(of: object = owner) -> tuple:
        got = made.values(of, None, None, None, None)
        return got["v"], got["wait"], got.get("n")

    assert values() == (1, [("w", 0)], 1)
    assert values() == (2, 1, None)
    owner.key = (2, "a")
    assert values() == (1, [("w", 0)], 2)
    assert values(Fake(key=(2, "a"), waiting=[])) == (1, [], 3)  # another engine's
    assert values() == (1, [("w", 0)], 4)
    now[0] += fields._REPEAT_NS
    assert values() == (1, [("w", 0)], 5)
    owner.key = None
    assert values() == (1, [("w", 0)], None)  # not known whether it is the same
    owner.key = (2, "a")
    made.forget()
    assert values() == (1, [("w", 0)], 6)


def test_a_list_that_could_not_be_written_is_not_referred_to(monkeypatch: pytest.MonkeyPatch) -> None:
    sent_texts: list = []
    monkeypatch.setattr(bridge, "mark", lambda category, text: sent_texts.append(json.loads(text)))
    monkeypatch.setattr(counters, "count_record_error", lambda *_unused: None)
    target = Target({"module": "m", "object": "o", "same_wait": "(1,)", "record": {"req": "[]", "wait": "self.waiting"}}, "s")
    owner = Fake(waiting=[("w", object())])
    for _ in range(2):
        record.send_record(target, owner, None, None, None)
    owner.waiting = [("w", 0)]
    for _ in range(2):
        record.send_record(target, owner, None, None, None)
    assert [(text["v"], text.get("wait")) for text in sent_texts] == [(1, None), (1, None), (1, [["w", 0]]), (2, 3)]
