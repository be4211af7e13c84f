"""Recorded runs of the demo engine, each with a defect or none: `diagnose` names the kind of fault and the request.

The recordings (tests/data/demo) are named by numbers; what is true of them stands only here.
"""
from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from conftest import ROOT, expect_one_line, run_teller

RECORDINGS = ROOT / "tests/data/demo"
BASELINE = "01"
# Recording: fault type, request that comes first.
ANSWERS = {
    "02": ("none", None),
    "03": ("scheduling", "req-2"),
    "04": ("cuda_kernel", "req-5"),
    "05": ("memory", "req-9"),
}


def unpack(number: str, folder: Path) -> Path:
    """The run folder of a recording."""
    with tarfile.open(RECORDINGS / f"{number}.tar.xz") as archive:
        archive.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(folder)
    return folder / number


def diagnose(run: Path, *options: object) -> dict:
    """The diagnosis; skips the test where teller was built without LibTorch, and only there."""
    done = run_teller("diagnose", run, "--json", *options)
    if done.returncode == 5 and "loading the model library" in done.stderr:
        pytest.skip("teller was built without LibTorch: it has no diagnose")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The healthy recording, with call chains."""
    run = unpack(BASELINE, tmp_path_factory.mktemp("baseline"))
    done = run_teller("reconstruct", run)
    assert done.returncode == 0, done.stderr
    return run


@pytest.fixture(scope="module", params=sorted(ANSWERS))
def diagnosed(request: pytest.FixtureRequest, baseline: Path,
              tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, dict]:
    """A recording's number, its run folder, its diagnosis."""
    run = unpack(request.param, tmp_path_factory.mktemp("run"))
    return request.param, run, diagnose(run, "--baseline", baseline)


def test_fault_type_and_first_request(diagnosed: tuple[str, Path, dict]) -> None:
    number, _, diagnosis = diagnosed
    fault_type, request = ANSWERS[number]
    assert diagnosis["fault_type"] == fault_type, diagnosis["explanation"]
    assert diagnosis["abnormal"] == (fault_type != "none") and diagnosis["judged"]
    named = [one["id"] for one in diagnosis["requests"]]
    assert (named[0] if named else None) == request, diagnosis["requests"]


def test_names_only_what_the_run_holds(diagnosed: tuple[str, Path, dict]) -> None:
    _, run, diagnosis = diagnosed
    requests, names = set(), set()
    for table, key, found in (("requests", "request", requests), ("nodes", "name", names)):
        done = run_teller("dump", run, f"chains.{table}", "--json")
        assert done.returncode == 0, done.stderr
        found.update(json.loads(line)[key] for line in done.stdout.splitlines())
    assert {one["id"] for one in diagnosis["requests"]} <= requests
    assert {one["name"] for one in diagnosis["operators"]} <= names
    assert all(one["drop"] > 0 for one in diagnosis["evidence"])


def test_report_shows_the_same_verdict(diagnosed: tuple[str, Path, dict]) -> None:
    _, run, diagnosis = diagnosed
    done = run_teller("report", run, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["diagnosis_status"] == "current" and document["diagnosis"] == diagnosis
    text = run_teller("report", run).stdout
    assert ("Verdict: healthy" in text) == (not diagnosis["abnormal"])


def test_exit_code_tells_of_a_fault_where_asked(diagnosed: tuple[str, Path, dict]) -> None:
    _, run, diagnosis = diagnosed
    done = run_teller("diagnose", run, "--fail-on-fault")
    assert done.returncode == (10 if diagnosis["abnormal"] else 0), done.stderr


def test_same_run_same_bytes(diagnosed: tuple[str, Path, dict]) -> None:
    _, run, _ = diagnosed
    first = (run / "diagnosis.json").read_bytes()
    diagnose(run)
    assert (run / "diagnosis.json").read_bytes() == first


def test_a_run_of_which_nothing_is_expected_is_not_called_healthy(tmp_path: Path) -> None:
    events = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 1, "tid": 1, "ts": 0, "dur": 900}]
    for number in range(20):
        events.append({"ph": "X", "cat": "cpu_op", "name": f"mine::operator_{number}", "pid": 1, "tid": 1, "ts": 10 + 40 * number, "dur": 30})
    (tmp_path / "trace.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    run = tmp_path / "run"
    assert run_teller("import", tmp_path / "trace.json", "-o", run).returncode == 0
    diagnosis = diagnose(run)
    assert (diagnosis["judged"], diagnosis["abnormal"], diagnosis["probability"]) == (False, False, diagnosis["prior"])
    assert "--baseline" in diagnosis["explanation"] and "healthy." not in diagnosis["explanation"]
    assert run_teller("diagnose", run).stdout.startswith("verdict: none")
    assert "Verdict: none, nothing could be judged" in run_teller("report", run).stdout


def test_a_model_that_is_none_is_refused(baseline: Path, tmp_path: Path) -> None:
    run = unpack("02", tmp_path)
    diagnose(run, "--baseline", baseline)
    (tmp_path / "model").mkdir()
    (tmp_path / "model/bundle.json").write_text("[]")
    done = run_teller("diagnose", run, "--model", tmp_path / "model")
    expect_one_line(done, 3, 4, 5)


def test_recordings_hold_no_word_of_their_defect(tmp_path: Path) -> None:
    for number in (BASELINE, *ANSWERS):
        for path in unpack(number, tmp_path).rglob("*"):
            if path.is_file():
                assert b"DEMO_FAULT" not in path.read_bytes(), path
