"""Synthetic traces of several ranks with a known fault, and with absurd events. bench/ranks/synthetic_matrix.py tries more."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
import rank_matrix
from conftest import run_teller


def compared(folder: Path, run: Path) -> dict:
    """horizontal.json of the traces in a folder."""
    for command in (["import", folder, "-o", run], ["reconstruct", run]):
        done = run_teller(*command)
        assert done.returncode == 0, done.stderr
    return json.loads((run / "horizontal.json").read_text())


SOME = [(fault, 4, device, clocks) for number, fault in enumerate(rank_matrix.FAULTS)
        for device, clocks in (((True, "days"), (False, "ms")) if number % 2 else ((True, "ms"), (False, "days")))
        if device or fault not in ("launch", "throttled")]


@pytest.mark.parametrize("fault, ranks, device, clocks", SOME)
def test_the_late_rank_is_named_and_no_other(tmp_path: Path, fault: str, ranks: int, device: bool, clocks: str) -> None:
    job = rank_matrix.Ranks(fault, ranks, "0", device, clocks).run()
    found = compared(job.write(tmp_path / "traces"), tmp_path / "run")
    assert job.is_right(found), found["verdict"]
    assert found["clocks"]["aligned"] == ranks and found["collectives"]["impossible"] == 0


@pytest.mark.parametrize("device", [True, False])
@pytest.mark.parametrize("how", rank_matrix.SPOILT[::4] + ("range late", "range early", "collective late"))
def test_one_absurd_event_blames_nobody(tmp_path: Path, how: str, device: bool) -> None:
    job = rank_matrix.Ranks("data", 4, how, device, "ms").run()
    job.spoil(how, (job.culprit + 1) % 4)
    found = compared(job.write(tmp_path / "traces"), tmp_path / "run")
    assert job.is_right(found), found["verdict"]


def test_times_that_cannot_be_are_counted(tmp_path: Path) -> None:
    job = rank_matrix.Ranks("healthy", 4, "x", True, "same").run()
    job.spoil("range late", 1)
    found = compared(job.write(tmp_path / "traces"), tmp_path / "run")
    assert found["collectives"]["impossible"] == 1 and found["verdict"]["culprits"] == []


def all_state_zero(job: rank_matrix.Ranks, folder: Path, what: str) -> Path:
    """The job's traces as of a launcher that set no RANK; `what` of them is left that differs."""
    for rank, events in enumerate(job.events):
        for event in events:
            if event["cat"] != "kernel":
                event["pid"] = 100 + rank if what == "processes" else 100
            elif what == "device numbers":
                event["pid"] = event["args"]["device"] = rank
            if what != "process groups" and "Process Group Ranks" in event["args"]:
                if len(json.loads(event["args"]["Process Group Ranks"])) != 4:
                    event["args"].pop("Process Group Ranks")
    folder = job.write(folder)
    for path in folder.iterdir():
        trace = json.loads(path.read_text())
        trace["distributedInfo"]["rank"] = 0
        path.write_text(json.dumps(trace))
    return folder


@pytest.mark.parametrize("by", ["process groups", "device numbers", "processes"])
def test_traces_that_all_state_rank_0_are_told_apart(tmp_path: Path, by: str) -> None:
    job = rank_matrix.Ranks("data", 4, "x", True, "ms").run()
    found = compared(all_state_zero(job, tmp_path / "traces", by), tmp_path / "run")
    assert found["shared_ranks"] == [{"stated_rank": 0, "sources": 4, "told_apart": True, "by": by,
                                      "files": found["shared_ranks"][0]["files"]}]
    named = [one["rank"] for one in found["verdict"]["culprits"]]
    if by == "processes":
        assert named == [None] and f"part{job.culprit * 7 + 3}.json comes late" in found["verdict"]["culprits"][0]["why"]
    else:
        assert named == [job.culprit] and {one["rank_from"] for one in found["ranks"]} == {by}
    assert found["verdict"]["notes"][0].startswith("4 traces with collectives all state rank 0 (part1.json, part3.json")


def test_traces_that_cannot_be_told_apart_are_not_healthy(tmp_path: Path) -> None:
    job = rank_matrix.Ranks("data", 4, "x", True, "ms").run()
    for events in job.events:
        events[:] = [event for event in events if not event["name"].startswith("ProfilerStep")]
    folder = all_state_zero(job, tmp_path / "traces", "nothing")
    found = compared(folder, tmp_path / "run")
    assert found["verdict"]["compared"] is False and found["verdict"]["culprits"] == []
    assert "can't be told apart" in found["verdict"]["notes"][0] and "part3.json" in found["verdict"]["notes"][0]
    done = run_teller("diagnose", tmp_path / "run", "--json")
    assert done.returncode == 0, done.stderr
    diagnosis = json.loads(done.stdout)
    assert diagnosis["abnormal"] is None and "can't be told apart" in diagnosis["explanation"]
    text = run_teller("diagnose", tmp_path / "run").stdout
    assert "healthy" not in text and "verdict: none" in text


@pytest.mark.parametrize("how", ["one rank without numbers", "one rank begins anew"])
def test_numbers_that_do_not_serve_are_said(tmp_path: Path, how: str) -> None:
    job = rank_matrix.Ranks("data", 4, "x", True, "ms").run()
    for event in job.events[(job.culprit + 1) % 4]:
        if "Seq" in event["args"]:
            if how == "one rank without numbers":
                event["args"].pop("Seq")
            elif event["args"]["Seq"] >= 72:
                event["args"]["Seq"] -= 72
    found = compared(job.write(tmp_path / "traces"), tmp_path / "run")
    assert found["collectives"]["mixed_numbering"] > 0
    assert found["collectives"]["matched_on_all_ranks"] == found["collectives"]["collectives"]
    assert [one["rank"] for one in found["verdict"]["culprits"]] == [job.culprit]


def test_sizes_that_may_differ_blame_nobody(tmp_path: Path) -> None:
    """All-to-all with uneven splits, and a rank that states what goes in alone."""
    job = rank_matrix.Ranks("healthy", 4, "x", True, "ms").run()
    for rank, events in enumerate(job.events):
        for event in events:
            facts = event["args"]
            if facts.get("Collective name") == "allreduce" and facts["Group size"] == 4:
                facts.update({"Collective name": "all_to_allv", "In msg nelems": 100 + rank, "Out msg nelems": 90 - rank})
            elif facts.get("Collective name") == "_allgather_base" and rank == 2:
                facts.update({"In msg nelems": facts["In msg nelems"] // 4})
                facts.pop("Out msg nelems")
    found = compared(job.write(tmp_path / "traces"), tmp_path / "run")
    assert found["collectives"]["mismatched"] == 0 and found["verdict"]["culprits"] == [], found["verdict"]
