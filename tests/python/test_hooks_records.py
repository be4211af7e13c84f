"""The step records of engines that cannot run here (SGLang needs CUDA, vLLM V0 is gone): their expressions, on stand-ins with the
attributes that the source of the engine has."""
from __future__ import annotations

import json
import sys
from types import SimpleNamespace as Fake

from conftest import ROOT

sys.path.insert(0, str(ROOT / "python_hooks"))
from teller_hooks import record  # noqa: E402
from teller_hooks.targets import Target  # noqa: E402


def target_of(file: str, path: str) -> Target:
    """A target that comes with teller."""
    data = json.loads((ROOT / "python_hooks/targets" / f"{file}.json").read_text())
    return Target(next(entry for entry in data["targets"] if entry["object"] == path), data["stack"])


def evaluated(target: Target, owner: object, arguments: tuple, result: object, names: tuple = ()) -> dict:
    """The record as it would be sent."""
    given = record.Arguments(arguments, {}, names, {})
    earlier = target.before(owner, given, None) if target.before else None
    fields = {key: expression(owner, given, result, earlier) for key, expression in target.record.items()}
    return json.loads(json.dumps({key: record._field(key, value) for key, value in fields.items() if value is not None}))


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
    got = {key: record._field(key, expression(scheduler, None, ([], outputs, False), earlier)) for key, expression in target.record.items()}
    assert got == {"engine": "vllm-v0", "req": [["new", "prefill", 1, 16, 0], ["old", "decode", 0, 1, 31]], "wait": [["gone", 0]],
                   "preempt": [["gone", 44]], "tokens": [17, 256], "seqs": [2, 8], "queue": [1, 2]}
