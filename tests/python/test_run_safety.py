"""A run is not read through links, not overwritten by what its own commands write, and what a trace calls itself never
reaches the terminal raw."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import expect_one_line, run_teller, teller_binary

RAW = "x\u009b31m\u202ey"
TRACE = {"traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": f"aten::{RAW}", "pid": 1, "tid": 1, "ts": 1, "dur": 10},
    {"ph": "X", "cat": RAW, "name": "a", "pid": 1, "tid": 1, "ts": 2, "dur": 3}]}
LOG = "2026-01-01 00:00:00,000 INFO hello\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with logs, reconstructed."""
    (tmp_path / "trace.json").write_text(json.dumps(TRACE))
    (tmp_path / "a.log").write_text(LOG)
    out = tmp_path / "run"
    done = run_teller("import", tmp_path / "trace.json", "--log", tmp_path / "a.log", "-o", out)
    assert done.returncode == 0, done.stderr
    assert run_teller("reconstruct", out).returncode == 0
    assert run_teller("verify", out).returncode == 0
    return out


def link_away(run: Path, name: str) -> None:
    (run / name).rename(run.parent / "elsewhere")
    (run / name).symlink_to(run.parent / "elsewhere")


def list_outside(run: Path, name: str) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    entry = manifest["artifacts"][name]["files"][0]
    shutil.copy(run / entry["path"], run.parent / "outside")
    entry["path"] = "../outside"
    (run / "manifest.json").write_text(json.dumps(manifest))


def list_wrongly(run: Path, name: str) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["artifacts"][name] = 5
    (run / "manifest.json").write_text(json.dumps(manifest))


def problems(run: Path) -> list[dict]:
    done = run_teller("verify", run, "--json")
    assert done.returncode == 4, done.stdout
    return json.loads(done.stdout)["problems"]


@pytest.mark.parametrize("name", ["events", "logs.jsonl", "chains.tcol"])
def test_a_link_in_place_of_an_artefact_is_told(run: Path, name: str) -> None:
    link_away(run, name)
    artefact = name.split(".")[0]
    told = [problem for problem in problems(run) if problem["artifact"] == artefact]
    assert told and "is a link or lies outside" in told[0]["problem"]
    reader = {"events": "stats", "logs": "reconstruct", "chains": "report"}[artefact]
    expect_one_line(run_teller(reader, run), 4, says="is a link or lies outside")
    expect_one_line(run_teller("dump", run), 4, says="is a link or lies outside")


@pytest.mark.parametrize("name", ["events", "logs"])
def test_a_path_that_leads_out_is_told(run: Path, name: str) -> None:
    list_outside(run, name)
    assert any("../outside is a link or lies outside" in problem["problem"] for problem in problems(run))
    expect_one_line(run_teller("reconstruct", run), 4, says="../outside")


def test_an_entry_that_lists_no_files_is_told(run: Path) -> None:
    list_wrongly(run, "logs")
    assert [problem["artifact"] for problem in problems(run)][0] == "logs"
    expect_one_line(run_teller("reconstruct", run), 4, says="lists no files")


@pytest.mark.parametrize("name", ["events", "logs.jsonl"])
def test_what_a_dead_recorder_left_is_not_read_through_links_either(run: Path, name: str) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["artifacts"] = {}
    (run / "manifest.json").write_text(json.dumps(manifest))
    link_away(run, name)
    assert any("is a link" in problem["problem"] for problem in problems(run))
    expect_one_line(run_teller("reconstruct", run), 4, says="is a link")


@pytest.mark.parametrize("name", ["manifest.json", "chains.tcol", "logs.jsonl", "labels.jsonl", "events/0001.tev"])
def test_no_command_writes_over_a_run(run: Path, name: str) -> None:
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    for target in (run / name, run / "events" / ".." / name):
        expect_one_line(run_teller("report", run, "-o", target), 2, says="is a file of the run")
        expect_one_line(run_teller("slice", run, "--save-baseline", target), 2, says="is a file of the run")
        expect_one_line(run_teller("tpe-train", run, "-o", target), 2, says="is a file of the run")
        expect_one_line(run_teller("eval", run, "--per-step", target), 2, says="is a file of the run")
    inside = subprocess.run([teller_binary(), "report", ".", "-o", name], cwd=run, capture_output=True, text=True)
    expect_one_line(inside, 2, says="is a file of the run")
    assert before == {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}


def test_a_report_may_stand_beside_what_it_tells_of(run: Path) -> None:
    for name in ("report.html", "report.txt"):
        done = run_teller("report", run, "-o", run / name)
        assert done.returncode == 0, done.stderr
    assert run_teller("verify", run).returncode == 0


@pytest.mark.parametrize("command", [("reconstruct",), ("stats",), ("stats", "--json"), ("reconstruct", "--json"), ("report",),
                                     ("report", "--json"), ("slice",), ("slice", "--json"), ("diagnose", "--json"), ("verify", "--json"),
                                     ("dump",), ("dump", "--json")])
def test_what_a_trace_calls_itself_never_reaches_the_terminal_raw(run: Path, command: tuple) -> None:
    printed = run_teller(command[0], run, *command[1:]).stdout
    assert not [c for c in printed if ord(c) in (0x9b, 0x202e)], printed


@pytest.mark.parametrize("command", [
    ("stats", "--json"), ("stats",), ("reconstruct", "--json"), ("reconstruct",), ("report", "--json"), ("report",), ("slice", "--json"),
    ("slice",), ("verify", "--json"), ("verify",), ("dump", "--json"), ("dump",)])
def test_an_output_that_cannot_be_written_is_an_error(run: Path, command: tuple) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([teller_binary(), command[0], run, *command[1:]], stdout=full, stderr=subprocess.PIPE, text=True)
    expect_one_line(done, 6, says="could not be written")


@pytest.mark.parametrize("command", [("doctor", "--json"), ("doctor",), ("--help",), ("stats", "--help"), ("--version",), ("simulate", "--list"),
                                     ("simulate", "--list", "--json")])
def test_so_is_one_of_a_command_without_a_run(command: tuple) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([teller_binary(), *command], stdout=full, stderr=subprocess.PIPE, text=True)
    expect_one_line(done, 6, says="could not be written")


@pytest.mark.parametrize("width", ["2147483647", "10001", "0", "-1", "", "wide", "1e9"])
def test_widths_that_make_no_sense_are_refused(run: Path, width: str) -> None:
    expect_one_line(run_teller("report", run, "--width", width), 2, says="--width")


def test_so_is_one_of_the_surroundings_passed_by(run: Path) -> None:
    wide = run_teller("report", run, env={**os.environ, "COLUMNS": "2147483647"})
    usual = run_teller("report", run, env={**os.environ, "COLUMNS": "100"})
    assert wide.returncode == 0 and wide.stdout == usual.stdout


@pytest.mark.parametrize("command", [
    ("reconstruct", "--log-window"), ("reconstruct", "--roles"), ("reconstruct", "-o"), ("report", "-o"), ("report", "--step"),
    ("report", "--lines"), ("report", "--log-lines"), ("report", "--request"), ("dump", "--limit"), ("slice", "--save-baseline"),
    ("slice", "--min-z"), ("diagnose", "--prior"), ("diagnose", "--threads"), ("tpe-train", "--vocab-size"), ("tpe-train", "-o"),
    ("encode", "--vocab"), ("eval", "--per-step"), ("train", "--epochs"), ("simulate", "--seed"), ("simulate", "--runs"),
    ("snapshot", "--samples"), ("import", "--log-timezone")])
def test_an_empty_value_is_no_value(run: Path, command: tuple) -> None:
    subject = "1" if command[0] == "snapshot" else run
    for words in ((command[1], ""), (f"{command[1]}=",)) if command[1].startswith("--") else ((command[1], ""),):
        expect_one_line(run_teller(command[0], subject, *words), 2, says=command[1])
