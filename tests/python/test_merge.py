"""teller merge: runs of several hosts become one."""
from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import expect_one_line, run_teller, teller_binary
from trace_support import PYTHON, dumped, lines, manifest, needs_target, sources

pytestmark = needs_target

PROGRAM = ("import os, nvtx\n"
           "print('line of', os.environ['RANK'], flush=True)\n"
           "for i in range(3):\n"
           "    nvtx.push_range('step[%d]' % i)\n"
           "    if i == 1: print('during', os.environ['RANK'], flush=True)\n"
           "    nvtx.pop_range()\n")


def record(run: Path, host: str, rank: int) -> None:
    """A traced run on a machine of that name (a UTS namespace)."""
    if os.getuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root and unshare, to have two host names")
    script = 'hostname "$1"; shift; exec "$@"'
    command = ["unshare", "--uts", "sh", "-c", script, "sh", host, teller_binary(), "trace", "-o", str(run), "--", PYTHON, "-c", PROGRAM]
    done = subprocess.run(command, env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2"}, capture_output=True, text=True, timeout=60)
    if "unshare" in done.stderr:
        pytest.skip("namespaces are not allowed here")
    assert done.returncode == 0, done.stderr


@pytest.fixture
def two(tmp_path: Path) -> tuple:
    a, b = tmp_path / "a", tmp_path / "b"
    record(a, "node-a", 0)
    record(b, "node-b", 1)
    return a, b


def test_two_hosts_become_one_run(tmp_path: Path, two: tuple) -> None:
    a, b = two
    # As if the second host had booted an hour later.
    data = manifest(b)
    hour = 3_600_000_000_000
    data["clock"]["unix_offset_ns"] += hour
    (b / "manifest.json").write_text(json.dumps(data))
    before = {path: path.read_bytes() for run in two for path in run.rglob("*") if path.is_file()}
    out = tmp_path / "job"
    done = run_teller("merge", "-o", out, a, b, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["runs"], told["event_files"], told["log_lines"], told["processes"]) == (2, 2, 4, 2)
    assert told["no_clock"] == told["unfinished"] == []
    assert run_teller("verify", out).returncode == 0
    assert [(s["host"], s["rank"]) for s in sources(out)] == [("node-a", 0), ("node-b", 1)]
    merged = {line["text"]: line for line in lines(out)}
    assert merged["line of 0"]["host"] == "node-a" and merged["line of 1"]["host"] == "node-b"
    assert merged["line of 0"]["t"] == lines(a)[0]["t"]
    shift = manifest(out)["merged"][1]["shift_ns"]
    assert abs(shift - hour) < 1_000_000_000
    assert merged["line of 1"]["t"] == lines(b)[0]["t"] + shift
    processes = lines(out, "processes.jsonl")
    assert processes[1]["start"] == lines(b, "processes.jsonl")[0]["start"] + shift
    assert all(path.read_bytes() == content for path, content in before.items())
    again = tmp_path / "again"
    assert run_teller("merge", "-o", again, a, b).returncode == 0
    assert all((again / p.relative_to(out)).read_bytes() == p.read_bytes() for p in out.rglob("*") if p.is_file() and p.name != "manifest.json")


def test_reconstruct_merges_several_runs_first(tmp_path: Path, two: tuple) -> None:
    out = tmp_path / "job"
    done = run_teller("reconstruct", "-o", out, *two)
    assert done.returncode == 0, done.stderr
    told = dumped(out, "chains.sources")
    assert [(s["rank"], s["host"]) for s in told if s["record"] == "source"] == [(0, "node-a"), (1, "node-b")]
    steps = [s for s in dumped(out, "chains.steps") if s["record"] == "step"]
    assert len(steps) == 6
    # A line belongs to a step of its own host.
    logs = [line for line in dumped(out, "chains.logs") if line["record"] == "log"]
    nodes = [node for node in dumped(out, "chains.nodes") if node["record"] == "node"]
    for line in logs:
        if line["text"].startswith("during "):
            assert nodes[steps[line["step"]]["root"]]["source"] == int(line["text"][-1]), line
    assert sum(line["text"].startswith("during ") for line in logs) == 2
    # Two hosts that booted within the same second are two clocks all the same.
    expect_one_line(run_teller("reconstruct", *two), 2, says="name it with -o")


def test_what_cannot_be_merged_is_refused(tmp_path: Path, two: tuple) -> None:
    a, b = two
    expect_one_line(run_teller("merge", "-o", tmp_path / "x", a, a), 2, says="the same events")
    expect_one_line(run_teller("merge", "-o", tmp_path / "x", a, tmp_path / "nowhere"), 3)
    assert not (tmp_path / "x").exists()
    expect_one_line(run_teller("merge", "-o", b, a), 2, says="not empty")
    data = manifest(b)
    del data["clock"]
    data["state"] = "recording"
    (b / "manifest.json").write_text(json.dumps(data))
    (b / "logs.jsonl").write_text('{"t":1,"text":"fine"}\nnot json\n[1]\n{"t":9223372036854775807,"text":"late"}\n')
    told = json.loads(run_teller("merge", "-o", tmp_path / "y", a, b, "--json").stdout)
    assert told["malformed_lines"] == 2 and told["no_clock"] == told["unfinished"] == [str(b)]
    assert [line["t"] for line in lines(tmp_path / "y")][2:] == [1, 9223372036854775807]


def test_times_that_the_first_clock_cannot_tell_are_left_out_and_counted(tmp_path: Path, two: tuple) -> None:
    a, b = two
    data = manifest(b)
    data["clock"]["unix_offset_ns"] += 3_600_000_000_000
    (b / "manifest.json").write_text(json.dumps(data))
    (b / "logs.jsonl").write_text('{"t":9223372036854775807,"text":"late"}\n{"t":18446744073709551615,"text":"later"}\n{"t":1,"text":"fine"}\n')
    told = json.loads(run_teller("merge", "-o", tmp_path / "job", a, b, "--json").stdout)
    assert told["times_out_of_range"] == 2
    times = {line["text"]: line["t"] for line in lines(tmp_path / "job")}
    assert times["late"] is None and times["later"] is None and times["fine"] > 1


def test_a_merge_that_fails_leaves_nothing(tmp_path: Path, two: tuple) -> None:
    a, b = two
    moved = (b / "logs.jsonl").rename(tmp_path / "elsewhere.jsonl")
    (b / "logs.jsonl").symlink_to(moved)
    expect_one_line(run_teller("merge", "-o", tmp_path / "job", a, b), 4, says="is a link or lies outside")
    assert not (tmp_path / "job").exists()


def imported(path: Path, name: str, count: int) -> Path:
    """A run of `count` operators."""
    source = path.with_suffix(".json")
    with source.open("w") as out:
        out.write('{"traceEvents": [')
        for at in range(count):
            out.write(f'{"," if at else ""}{{"ph": "X", "cat": "cpu_op", "name": "{name}{at % 1000}", "pid": 1, "tid": {at % 8}, "ts": {at * 10}, "dur": 9}}')
        out.write("]}")
    assert run_teller("import", source, "-o", path).returncode == 0
    return path


def held(folder: Path) -> dict:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_merge_that_fails_leaves_the_run_that_was_there(tmp_path: Path) -> None:
    a, b = imported(tmp_path / "a", "x", 5), imported(tmp_path / "b", "y", 5)
    assert run_teller("merge", "-o", tmp_path / "m", a, b).returncode == 0
    before = held(tmp_path / "m")
    next((b / "events").iterdir()).unlink()
    for command in (["merge", "-o", tmp_path / "m", a, b], ["reconstruct", "-o", tmp_path / "m", a, b]):
        expect_one_line(run_teller(*command, "--overwrite"), 3, says="is missing")
        assert held(tmp_path / "m") == before
    assert not list(tmp_path.glob("*.importing-*"))


@pytest.mark.parametrize("overwrite", [False, True])
def test_an_interrupted_merge_leaves_no_half_run(tmp_path: Path, overwrite: bool) -> None:
    runs = [imported(tmp_path / f"r{k}", f"op{k}_", 150000) for k in range(2)]
    target = tmp_path / "m"
    if overwrite:
        imported(target, "old", 3)
    before = held(target)
    for delay in (0.003, 0.01, 0.02, 0.03):
        process = subprocess.Popen([teller_binary(), "merge", "-o", target, *runs, *(["--overwrite"] if overwrite else [])],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
        if process.returncode == 0:  # it was faster
            break
        assert process.returncode in (130, -signal.SIGINT), stderr
        assert held(target) == before
        assert not list(tmp_path.glob("*.importing-*"))


def test_a_file_of_events_that_is_not_whole_is_told(tmp_path: Path) -> None:
    a, b = imported(tmp_path / "a", "x", 20000), imported(tmp_path / "b", "y", 5)
    events = next((a / "events").iterdir())
    os.truncate(events, events.stat().st_size // 2)
    done = run_teller("merge", "-o", tmp_path / "m", a, b)
    assert done.returncode == 0 and f"not whole: {events}: " in done.stdout
    told = json.loads(run_teller("merge", "-o", tmp_path / "m", a, b, "--overwrite", "--json").stdout)
    assert len(told["damaged"]) == 1 and told["damaged"][0].startswith(str(events))


def test_what_a_killed_import_left_is_removed_by_the_next(tmp_path: Path) -> None:
    run = imported(tmp_path / "run", "x", 5)
    gone = subprocess.Popen(["true"])
    gone.wait()
    for name in (f"run.importing-{gone.pid}", f"run.importing-{os.getpid()}", "run.importing-mine", f"other.importing-{gone.pid}"):
        (tmp_path / name / "events").mkdir(parents=True)
        (tmp_path / name / "events" / "0.tev").touch()
    # What was written lately may be of a process that another container sees.
    old = time.time() - 2 * 3600
    for path in sorted(tmp_path.glob("*importing*/**"), reverse=True):
        os.utime(path, (old, old))
    assert run_teller("import", tmp_path / "run.json", "-o", run, "--overwrite").returncode == 0
    assert (tmp_path / f"run.importing-{gone.pid}").exists()
    for path in tmp_path.glob("*importing*/events/*"):
        os.utime(path, (old, old))
    assert run_teller("import", tmp_path / "run.json", "-o", run, "--overwrite").returncode == 0
    left = sorted(path.name for path in tmp_path.glob("*importing*"))
    assert left == sorted([f"other.importing-{gone.pid}", f"run.importing-{os.getpid()}", "run.importing-mine"])
