"""Simulated runs: the same bytes for the same options, whole for every later command, and labels that join."""
from __future__ import annotations

import json
import resource
import signal
import subprocess
import time
from collections import defaultdict
from pathlib import Path

import pytest
from conftest import run_teller, teller_binary

STACKS = ("demo", "vllm-v1", "fsdp")
MECHANISMS = [json.loads(line) for line in run_teller("simulate", "--list", "--json").stdout.splitlines()]
CASES = [(stack, one["name"]) for one in MECHANISMS for stack in one["stacks"]]


def simulate(run: Path, *args: object) -> Path:
    done = run_teller("simulate", "-o", run, *args)
    assert done.returncode == 0, done.stderr
    return run


def contents(run: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()}


def labels(run: Path, kind: str) -> list[dict]:
    lines = [json.loads(line) for line in (run / "labels.jsonl").read_text().splitlines()]
    return [line for line in lines if line["label"] == kind]


def dump(run: Path, table: str) -> list[dict]:
    return [json.loads(line) for line in run_teller("dump", run, table, "--json").stdout.splitlines()]


@pytest.mark.parametrize("stack", STACKS)
def test_same_options_same_bytes_and_seeds_differ(stack: str, tmp_path: Path) -> None:
    one, two = (simulate(tmp_path / name, "--stack", stack, "--seed", 5) for name in "ab")
    assert contents(one) == contents(two)
    other = simulate(tmp_path / "c", "--stack", stack, "--seed", 6)
    assert contents(one)["logs.jsonl"] != contents(other)["logs.jsonl"]
    event_file = next(name for name in contents(one) if name.endswith(".tev"))
    assert contents(one)[event_file] != contents(other)[event_file]


@pytest.mark.parametrize(("stack", "fault"), CASES)
def test_run_is_whole_and_labels_join(stack: str, fault: str, tmp_path: Path) -> None:
    run = simulate(tmp_path / "run", "--stack", stack, "--seed", 3, "--fault", fault, "--magnitude", 0.9)
    done = run_teller("reconstruct", run, "--json")
    assert done.returncode == 0, done.stderr
    made = json.loads((run / "reconstruct.json").read_text())
    counters, records = made["counters"], made["total"]["records"]
    assert records["unknown"] == records["malformed"] == records["duplicates"] == 0
    for name in ("pops_without_push", "overlaps_clipped", "without_call", "step_records_unreadable"):
        assert counters[name] == 0, name
    assert bool(counters["open_items"]) == (fault == "missing_collective")
    assert counters["bound_by_correlation"] == counters["device_activities"]
    assert counters["device_in_steps"] == counters["device_activities"]
    assert run_teller("verify", run).returncode == 0
    families = defaultdict(set)
    steps = {step["id"]: step["number"] for step in dump(run, "chains.steps")}
    for node in dump(run, "chains.nodes"):
        if node["step"] is not None:
            families[steps[node["step"]]].add((node["layer"], node["family"]))
    anywhere = set().union(*families.values())
    found = labels(run, "step")
    assert {label["number"] for label in found} == set(families)
    assert any(label["is_anomaly"] for label in found)
    for label in found:
        names = {(op["layer"], op["family"]) for op in label["operators"]}
        assert bool(names) == label["is_anomaly"]
        # A missing operator is not in the step, but in others.
        assert not names or names & families[label["number"]], label
        assert names <= anywhere or fault == "slow_gemm", names - anywhere


@pytest.mark.parametrize(("stack", "fault"), CASES)
def test_only_the_labels_tell_the_fault(stack: str, fault: str, tmp_path: Path) -> None:
    run = simulate(tmp_path / "run", "--stack", stack, "--seed", 3, "--fault", fault)
    healthy = simulate(tmp_path / "healthy", "--stack", stack, "--seed", 3)
    for name, text in contents(run).items():
        assert name == "labels.jsonl" or fault.encode() not in text, name
    ours, theirs = (json.loads((one / "manifest.json").read_text()) for one in (run, healthy))
    for key in ("host", "trace", "clock", "made_by"):
        assert ours[key] == theirs[key]
    assert ours["target"]["argv"] == theirs["target"]["argv"]
    assert ours["artifacts"]["labels"]["options"] == {"seed": 3, "stack": stack}
    assert "from" not in ours["artifacts"]["labels"] or not ours["artifacts"]["labels"]["from"]


@pytest.mark.parametrize("stack", STACKS)
def test_healthy_run_has_no_fault(stack: str, tmp_path: Path) -> None:
    run = simulate(tmp_path / "run", "--stack", stack, "--seed", 9)
    assert not labels(run, "run")[0]["is_fault"]
    assert {label["state"] for label in labels(run, "step")} == {"normal"}
    assert not any(label["is_fault"] for label in labels(run, "request"))


def test_ranks_are_one_job(tmp_path: Path) -> None:
    run = simulate(tmp_path / "run", "--stack", "fsdp", "--ranks", 4, "--fault", "clock_cap", "--rank", 2,
                   "--magnitude", 1, "--seed", 2)
    sources = [record["meta"] for record in dump(run, "events") if record["record"] == "source"]
    assert [(meta["rank"], meta["world_size"]) for meta in sources] == [(rank, 4) for rank in range(4)]
    causes = [label for label in labels(run, "step") if label["is_anomaly"]]
    across = [label for label in causes if label["view"] == "horizontal"]
    assert across and all(label["ranks"] == [2] for label in across)
    assert {label["rank"] for label in causes if label["view"] == "vertical"} == {2}
    assert all(op["rank"] == 2 for label in across for op in label["operators"])


def test_collectives_end_together(tmp_path: Path) -> None:
    run = simulate(tmp_path / "run", "--stack", "fsdp", "--ranks", 2, "--seed", 2)
    ends = defaultdict(list)
    for event in dump(run, "events"):
        if event["record"] == "kernel" and event["name"].startswith("ncclDevKernel"):
            ends[event["pid"]].append(event["end"] if "end" in event else event["begin"] + event["duration"])
    first, second = ends.values()
    assert first == second and len(first) > 100


def test_data_set(tmp_path: Path) -> None:
    args = ("--data-set", tmp_path / "set", "--runs", 6, "--seed", 4, "--stacks", "demo,fsdp", "--faulty-share", 1,
            "--only", "slow_gemm,kv_leak,clock_cap")
    assert run_teller("simulate", *args).returncode == 0
    listed = [json.loads(line) for line in (tmp_path / "set/runs.jsonl").read_text().splitlines()]
    assert [(one["name"], one["stack"]) for one in listed] == [
        (f"run-{i:04d}", ("demo", "fsdp")[i % 2]) for i in range(6)]
    made = {labels(tmp_path / "set" / one["name"], "run")[0]["provenance"]["mechanism"] for one in listed}
    assert made <= {"slow_gemm", "kv_leak", "clock_cap"} and made
    assert len({one["seed"] for one in listed}) == 6
    again = run_teller("simulate", *args)
    assert again.returncode != 0 and len(again.stderr.strip().splitlines()) == 1
    before = contents(tmp_path / "set")
    assert run_teller("simulate", *args, "--overwrite").returncode == 0
    assert contents(tmp_path / "set") == before


def test_interrupted_data_set_leaves_whole_runs(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    process = subprocess.Popen([teller_binary(), "simulate", "--data-set", folder, "--runs", "5000", "--seed", "1"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (folder / "run-0002/manifest.json").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate()
    assert process.returncode == 130 and "stopped after" in error
    listed = [json.loads(line)["name"] for line in (folder / "runs.jsonl").read_text().splitlines()]
    assert listed == sorted(path.name for path in folder.glob("run-*"))
    assert run_teller("verify", folder / listed[-1]).returncode == 0


@pytest.mark.parametrize("args", [
    (), ("-o", "x", "--stack", "nope"), ("-o", "x", "--fault", "nope"), ("-o", "x", "--magnitude", "2"),
    ("-o", "x", "--magnitude", "nan"), ("-o", "x", "--requests", "0"), ("-o", "x", "--blocks", "1"),
    ("-o", "x", "--fault", "slow_link"), ("-o", "x", "--fault", "kv_leak", "--request", "req-999"),
    ("-o", "x", "--stack", "fsdp", "--ranks", "4000"), ("-o", "x", "--seed", "-1"),
    ("-o", "x", "--fault", "kv_leak", "--from-step", "5", "--to-step", "2"),
    ("--data-set", "x", "--runs", "0"), ("--data-set", "x", "--runs", "2", "--stacks", "nope"),
    ("--data-set", "x", "--runs", "2", "--only", "nope"), ("--data-set", "x", "--runs", "2", "--faulty-share", "7"),
    ("--data-set", "x", "--runs", "2", "--fault", "kv_leak"), ("--data-set", "x", "--runs", "2", "--requests", "8"),
    ("--data-set", "x", "--runs", "2", "--stacks", "demo,fsdp", "--only", "kv_leak"),
])
def test_wrong_options_get_one_line(args: tuple, tmp_path: Path) -> None:
    done = run_teller("simulate", *args, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_written_whole_is_not_there(tmp_path: Path) -> None:
    def small_files_only() -> None:  # as on a full disk: writing more fails
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = run_teller("simulate", "-o", tmp_path / "run", preexec_fn=small_files_only)
    assert done.returncode == 6, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()
