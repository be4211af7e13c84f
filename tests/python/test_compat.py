"""Run folders of every released schema are read by this version, and say what they said then."""
from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import ROOT, run_teller

RUNS = sorted((ROOT / "tests/compat").glob("v*.run"))


def test_there_is_one() -> None:
    assert RUNS


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_old_run_is_whole_and_reads_the_same(run: Path) -> None:
    done = run_teller("verify", run)
    assert done.returncode == 0, done.stdout
    text = "".join(run_teller("dump", run.name, artefact, cwd=run.parent).stdout
                   for artefact in ("events", "logs", "chains", "findings"))
    assert text == run.with_suffix(".dump.txt").read_text()


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
@pytest.mark.parametrize("command", ["report", "stats", "reconstruct", "slice"])
def test_every_command_takes_an_old_run(command: str, run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    done = run_teller(command, copy)
    assert done.returncode == 0, done.stderr
