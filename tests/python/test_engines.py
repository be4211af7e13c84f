"""Real engines, traced: vLLM as a server and in one process, FSDP2 training, Transformers; SGLang's targets in its source."""
from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from conftest import run_teller, teller_binary
from engine_support import (ENVIRONMENT, PROGRAMS, engine_python, free_port, installed, make_model, run_both,
                            wait_until_ready)
from trace_support import balanced, dumped, events, needs_target, sources, trace

sys.path.insert(0, str(PROGRAMS))
from serve_client import ask_all  # noqa: E402

pytestmark = needs_target
needs_vllm = pytest.mark.skipif(not installed("vllm", "transformers"), reason="vLLM is not installed (scripts/requirements-engines.txt)")
needs_transformers = pytest.mark.skipif(not installed("transformers", "tokenizers"), reason="Transformers is not installed")
needs_torch = pytest.mark.skipif(not installed("torch"), reason="PyTorch is not installed")
REQUESTS = 8


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny Llama."""
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def served(model: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple:
    """(run, answers) of a traced `vllm serve`: concurrent requests, then SIGTERM. Started once."""
    folder = tmp_path_factory.mktemp("served")
    port = free_port()
    command = [teller_binary(), "trace", "-q", "-o", str(folder / "run"), "--", str(Path(engine_python()).parent / "vllm"), "serve", str(model),
               "--port", str(port), "--enforce-eager", "--dtype", "bfloat16", "--max-model-len", "256", "--served-model-name", "tiny",
               "--enable-log-requests"]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=ENVIRONMENT)
    try:
        wait_until_ready(port, process, folder / "log")
        answers = ask_all(port, "tiny", REQUESTS)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
    assert process.returncode in (0, -signal.SIGTERM, 143), (folder / "log").read_text(errors="replace")[-3000:]
    assert run_teller("reconstruct", folder / "run").returncode == 0
    return folder / "run", answers


def hooks_of(run: Path) -> dict:
    """The hooks' counts of each process that installed some, by the last word of its command line or its role."""
    return {meta["pid"]: meta["hooks"] for meta in sources(run) if meta.get("hooks", {}).get("installed")}


def records(run: Path) -> list:
    """The step records."""
    return [e["attrs"] if isinstance(e["attrs"], dict) else json.loads(e["attrs"]) for e in events(run, "step_record")]


def by_request(run: Path) -> dict:
    """The entries of `req` in the step records: request id -> [(phase, new, scheduled, computed)]."""
    rows = defaultdict(list)
    for record in records(run):
        for name, *entry in record["req"]:
            rows[name].append(tuple(entry))
    return rows


def names_by_process(run: Path) -> dict:
    """pid -> names of its ranges, without the request."""
    names = defaultdict(set)
    for event in events(run, "push", "start"):
        names[event["pid"]].add(event["name"].split(" request=")[0])
    return names


@needs_vllm
def test_every_process_of_the_server_is_recorded(served: tuple) -> None:
    run, _ = served
    names = list(names_by_process(run).values())
    for needed in ({"AsyncLLM.generate", "process_outputs", "create_completion"}, {"EngineCore.step", "schedule", "update_from_output"},
                   {"worker.execute_model", "execute_model", "model_forward", "sample"}):
        assert any(needed <= process for process in names), (needed, names)
    balanced(run)


@needs_vllm
def test_what_the_worker_process_does_is_in_the_engines_steps(served: tuple) -> None:
    run, _ = served
    counters = json.loads(run_teller("reconstruct", run, "--json").stdout)["counters"]
    assert counters["worker_calls_unjoined"] == 0, counters
    work = [event for event in events(run, "push") if event["name"] in ("worker.execute_model", "worker.sample_tokens")]
    assert counters["worker_calls_in_steps"] == len(work) > len(events(run, "step_record")), counters
    nodes = [node for node in dumped(run, "chains.nodes") if node["record"] == "node"]
    steps = [step for step in dumped(run, "chains.steps") if step["record"] == "step"]
    for node in nodes:
        if node["name"] == "worker.execute_model":
            # Its step had begun, and scheduled something; the next one but one had not.
            step = node["step"]
            assert steps[step]["begin_ns"] <= node["begin_ns"], node
            assert step + 2 >= len(steps) or node["begin_ns"] < steps[step + 2]["end_ns"], node


@needs_vllm
def test_server_and_engine_speak_of_the_same_requests(served: tuple) -> None:
    run, _ = served
    counters = json.loads(run_teller("reconstruct", run, "--json").stdout)["counters"]
    assert counters["request_names_joined"] == REQUESTS, counters
    requests = [request for request in dumped(run, "chains.requests") if request["record"] == "request"]
    generated = [node for node in dumped(run, "chains.nodes") if node["record"] == "node" and node["family"] == "AsyncLLM.generate"]
    assert len(generated) == REQUESTS
    for node in generated:
        request = requests[node["request"]]
        assert request["prefill_tokens"] > 0 and request["first_seen_ns"] <= node["begin_ns"] < request["first_scheduled_ns"], (node, request)


@needs_vllm
def test_the_servers_targets_are_all_found(served: tuple) -> None:
    run, _ = served
    report = json.loads(run_teller("hooks", "check", "vllm_v1", "--json", "--python", engine_python()).stdout)
    lacking = {f"{t['module']}:{t['object']}" for t in report["files"][0]["targets"] if t["status"] != "there"}
    for counts in hooks_of(run).values():
        missing = [line for line in counts["details"] if line.startswith("vllm.") and line.split(": not there")[0] not in lacking]
        assert not missing and counts["record_errors"] == counts["own_errors"] == counts["failed"] == counts["invalid"] == 0, counts
        assert counts["not_function"] == 0, counts["details"]


@needs_vllm
def test_every_request_of_the_server_is_in_its_steps(served: tuple) -> None:
    run, answers = served
    rows = by_request(run)
    assert len(answers) == REQUESTS
    for number, answer in enumerate(answers):
        ids = [name for name in rows if name.startswith(f"cmpl-mine-{number}-")]
        assert len(ids) == 1, (number, sorted(rows))
        scheduled = sum(entry[2] for entry in rows[ids[0]])
        cached = rows[ids[0]][0][3]
        usage = answer["usage"]
        # The last token is sampled and not computed again.
        assert scheduled + cached == usage["prompt_tokens"] + usage["completion_tokens"] - 1, (usage, rows[ids[0]])
        assert [entry[1] for entry in rows[ids[0]]] == [1] + [0] * (len(rows[ids[0]]) - 1)
    chains = dumped(run, "chains")
    tokens = {r["request"]: r["prefill_tokens"] + r["decode_tokens"] for r in chains if r["record"] == "request"}
    assert {name: sum(entry[2] for entry in entries) for name, entries in rows.items()}.items() <= tokens.items()
    steps = [r for r in chains if r["record"] == "step"]
    assert sum(step["row_count"] > 0 for step in steps) == sum(any(r.get(k) for k in ("req", "wait", "preempt")) for r in records(run))


@needs_vllm
def test_the_counts_of_the_served_run_balance(served: tuple) -> None:
    run, _ = served
    assert run_teller("verify", run).returncode == 0
    stats = json.loads(run_teller("stats", run, "--json").stdout)
    records = stats["reconstruction"]["total"]["records"]
    assert records["nodes"] > 0 and records["malformed"] == records["unknown"] == 0
    assert records["records_in"] == sum(count for name, count in records.items() if name != "records_in")


@needs_vllm
def test_offline_outputs_are_the_same_and_the_records_say_what_happened(model: Path, tmp_path: Path) -> None:
    environment = {**ENVIRONMENT, "VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
    line, = run_both(tmp_path / "run", engine_python(), PROGRAMS / "vllm_offline.py", model, marker="RESULT ", env=environment)
    rows = by_request(tmp_path / "run")
    for answer in json.loads(line.removeprefix("RESULT ")):
        mine = [entries for name, entries in rows.items() if name.split("-")[0] == answer["id"]]
        assert len(mine) == 1
        phases = Counter(entry[0] for entry in mine[0])
        firsts = [entry for entry in mine[0] if entry[1]]
        assert phases["prefill"] >= 1 and firsts[0] == mine[0][0]
        assert firsts[0][3] == answer["cached"]  # what the prefix cache gave
        if len(firsts) == 1:  # a request that was never preempted computes each token once
            assert sum(entry[2] for entry in mine[0]) == answer["prompt"] - answer["cached"] + len(answer["tokens"]) - 1
            computed = answer["cached"]
            for _, _, scheduled, before in mine[0]:
                assert before == computed
                computed += scheduled
    said = records(tmp_path / "run")
    assert [record["step"] for record in said] == list(range(1, len(said) + 1))
    held = {name: tokens for record in said for name, tokens in record["preempt"]}
    assert held and all(tokens > 0 for tokens in held.values())  # what they held before, not what is left
    assert any(len(entries) > 1 and entries[0][0] == entries[1][0] == "prefill" and not entries[1][1] for entries in rows.values())
    assert all(0 <= record["kv"][0] <= record["kv"][1] == 8 and record["tokens"][0] <= 48 for record in said)
    assert all(record["tokens"][0] == sum(entry[3] for entry in record["req"]) for record in said)
    counts, = hooks_of(tmp_path / "run").values()
    assert counts["missing"] == counts["record_errors"] == counts["own_errors"] == 0, counts


@needs_vllm
def test_kv_connectors_and_what_they_bring(model: Path, tmp_path: Path) -> None:
    environment = {**ENVIRONMENT, "VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
    done = trace(tmp_path / "run", engine_python(), PROGRAMS / "vllm_kv_transfer.py", model, tmp_path / "blocks", options=("-q",), env=environment,
                 timeout=280, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    answers = [line for line in done.stdout.splitlines() if line.startswith("TOKENS ")]
    assert len(answers) == 2 and answers[0] == answers[1]
    rows = {name.split("-")[0]: entries for name, entries in by_request(tmp_path / "run").items()}
    assert rows["0"][0] == ("prefill", 1, 77, 0) and rows["1"][0] == ("prefill", 1, 13, 64)
    names = Counter((e["name"], e["category"]) for e in events(tmp_path / "run", "push"))
    steps = len(events(tmp_path / "run", "step_record"))
    assert names["ExampleConnector.start_load_kv", "BE"] == names["ExampleConnector.wait_for_save", "BE"] == steps == 8
    assert names["ExampleConnector.build_connector_meta", "FE"] == steps
    assert names["ExampleConnector.get_num_new_matched_tokens", "FE"] == names["ExampleConnector.update_state_after_alloc", "FE"] == 2


@needs_torch
def test_fsdp2_training_with_two_ranks(tmp_path: Path) -> None:
    environment = {**ENVIRONMENT, "OMP_NUM_THREADS": "1"}
    command = (engine_python(), "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", PROGRAMS / "fsdp_train.py")
    for attempt in range(4):
        try:
            lines = run_both(tmp_path / "run", *command, marker="LOSSES ", env=environment, options=("--overwrite",))
            break
        except AssertionError as error:
            # On a busy machine PyTorch 2.13 ends with this now and then, without teller as well: a thread of its own outlives its owner.
            if attempt == 3 or "terminate called without an active exception" not in str(error):
                raise
    assert len(lines) == 2 and lines[0].split("[")[1] == lines[1].split("[")[1]
    ranks = {meta["pid"]: meta["rank"] for meta in sources(tmp_path / "run") if meta.get("world_size") == 2}
    assert sorted(ranks.values()) == [0, 1]
    for pid in ranks:
        names = Counter(e["name"] for e in events(tmp_path / "run", "push", "start") if e["pid"] == pid)
        assert names["optimizer.step"] == names["train iteration"] == names["backward"] == 6
        assert names["c10d::all_gather_single"] and names["c10d::reduce_scatter_single"] and names["c10d::all_reduce"] == 6
        assert names["fsdp2 pre_forward"] == names["fsdp2 post_backward"] == 12 and names["dataloader.next"] == 7
    assert run_teller("reconstruct", tmp_path / "run").returncode == 0
    chains = dumped(tmp_path / "run", "chains")
    forward = [r for r in chains if r["record"] == "node" and r["name"] == "fsdp2 pre_forward"]
    steps = {r["id"] for r in chains if r["record"] == "step"}
    assert sum(node["step"] in steps for node in forward) >= 20  # the first iteration has no beginning


@needs_transformers
def test_transformers_generate(model: Path, tmp_path: Path) -> None:
    lines = run_both(tmp_path / "run", engine_python(), PROGRAMS / "hf_generate.py", model, marker="TOKENS ", env=ENVIRONMENT)
    assert len(lines) == 2
    names = Counter((e["name"], e["category"]) for e in events(tmp_path / "run", "push"))
    assert names["generate", "STEP"] == names["sample", "FE"] == names["prefill", "FE"] == 2


def test_sglangs_targets_are_in_its_source() -> None:
    """TELLER_SGLANG_SOURCE is a folder with an unpacked sglang; it needs CUDA packages to run, not to be read."""
    folder = os.environ.get("TELLER_SGLANG_SOURCE", "")
    if not folder and importlib.util.find_spec("sglang") is None:
        pytest.skip("SGLang is not installed, and TELLER_SGLANG_SOURCE names no unpacked one")
    place = ("--site", folder) if folder else ("--python", engine_python())
    done = run_teller("hooks", "check", "sglang", *place)
    assert done.returncode == 0, done.stdout
