"""Flight recorder dumps of jobs that hang in a known way, and dumps that contradict themselves. bench/ranks/flight_matrix.py
tries many more."""
from __future__ import annotations

import json
import pickle
import resource
import subprocess
import time
from pathlib import Path

import flight_matrix
import pytest
from conftest import expect_one_line, run_teller, teller_binary
from flight_support import START_NS, Job, as_json


def diagnose(folder: Path, run: Path) -> dict:
    """The diagnosis of a folder of dumps."""
    for arguments in (["import", folder, "-o", run, "--overwrite"], ["diagnose", run, "--json"]):
        done = run_teller(*arguments)
        assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Each kind in a small and a larger job; layouts and seeds take turns.
SOME = [case for number, case in enumerate(flight_matrix.cases((3, 4, 8), 1)) if number % 7 == 0]
# Whether a number in the status is of a collective or of a transfer: what is right for one is wrong for the other.
NUMBERS_OF_TWO_KINDS = [case for case in flight_matrix.cases((3, 8), 3, [flight_matrix.two_hosts_stuck, flight_matrix.device_lost])
                        if case.seed in ("two_hosts_stuck-mixed-3-2", "device_lost-mixed-8-0", "device_lost-mixed-8-1")]
assert len(NUMBERS_OF_TWO_KINDS) == 3


@pytest.mark.parametrize("case", [*{case.seed: case for case in SOME + NUMBERS_OF_TWO_KINDS}.values()], ids=lambda case: case.seed)
def test_who_is_to_blame_is_named(tmp_path: Path, case: flight_matrix.Case) -> None:
    said = []
    for form in flight_matrix.twin_forms(case):
        case.write(tmp_path / str(form), form)
        found = diagnose(tmp_path / str(form), tmp_path / "run")
        assert case.is_right(found), (found["verdict"], found["culprit_ranks"], found["explanation"])
        said.append(flight_matrix.text_of(found))
    assert said[0] == said[1]


# PyTorch before 2.4 listed no group's ranks.
WITHOUT_LISTS = ("host_stuck-tp_dp-8-0", "host_stuck-pp_dp-8-0", "another_dump_is_missing-tp_pp_dp-8-0",
                 "many_dumps_are_missing-pp_dp-8-0", "device_stuck-pp_dp-8-0")


@pytest.mark.parametrize("case", [case for case in flight_matrix.cases((8,), 1) if case.seed in WITHOUT_LISTS],
                         ids=lambda case: case.seed)
def test_groups_that_no_dump_lists_put_the_blame_on_no_innocent(tmp_path: Path, case: flight_matrix.Case) -> None:
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    for rank in set(range(case.world)) - case.absent:
        dump = case.dump(rank)
        del dump["pg_config"]
        (dumps / f"trace_{rank}").write_bytes(pickle.dumps(dump, 2))
    found = diagnose(dumps, tmp_path / "run")
    assert set(found["culprit_ranks"]) <= case.allowed, (found["verdict"], found["culprit_ranks"])


def write_job(job: Job, folder: Path, change=lambda rank, dump: None, form: str = "pickle") -> Path:
    """Dumps of all ranks, each changed first."""
    folder.mkdir(exist_ok=True)
    for rank in range(job.count):
        dump = job.dump(rank)
        dump["entries"] = [dict(entry) for entry in dump["entries"]]
        change(rank, dump)
        (folder / f"trace_{rank}").write_bytes(as_json(dump) if form == "json" else pickle.dumps(dump, 2))
    return folder


CONTRADICTIONS = [
    {"state": "scheduled", "time_discovered_completed_ns": START_NS + 10**9},
    {"state": "started", "time_discovered_started_ns": START_NS + 10**9, "time_discovered_completed_ns": START_NS + 2 * 10**9},
    {"state": "scheduled", "time_discovered_started_ns": START_NS + 10**9},
    {"state": "completed", "time_discovered_started_ns": 17, "time_discovered_completed_ns": START_NS + 10**9},
    {"state": "completed", "time_discovered_started_ns": START_NS + 10**9, "time_discovered_completed_ns": START_NS + 10**8},
    {"state": "dreaming"}]


@pytest.mark.parametrize("change", CONTRADICTIONS)
@pytest.mark.parametrize("form", ["pickle", "json"])
def test_an_entry_that_contradicts_itself_blames_nobody(tmp_path: Path, change: dict, form: str) -> None:
    job = Job(4)
    job.everyone("0", 1, "all_reduce", "completed")
    job.everyone("0", 2, "all_reduce")
    spoil = lambda rank, dump: dump["entries"][-1].update(change) if rank == 2 else None  # noqa: E731
    found = diagnose(write_job(job, tmp_path / "dumps", spoil, form), tmp_path / "run")
    assert found["culprit_ranks"] == [] and found["verdict"] == "unclear", found["explanation"]
    assert found["coverage"]["entries_contradictory"] == 1
    assert "1 entries contradict themselves" in found["explanation"] and "rank 2" in found["evidence"][0]["text"]
    assert "doubtful" in run_teller("diagnose", tmp_path / "run").stdout


@pytest.mark.parametrize("field, value", [("collective_seq_id", 2**70), ("collective_seq_id", 2**63), ("record_id", -2**80),
                                          ("time_discovered_completed_ns", 10**400), ("input_sizes", [[2**64]])])
@pytest.mark.parametrize("form", ["pickle", "json"])
def test_a_number_beyond_64_bits_costs_its_field_alone(tmp_path: Path, field: str, value: object, form: str) -> None:
    job = Job(4)
    job.everyone("0", 1, "all_reduce", "completed")
    job.everyone("0", 2, "all_reduce", but=(3,))
    spoil = lambda rank, dump: dump["entries"][0].update({field: value}) if rank == 0 else None  # noqa: E731
    found = diagnose(write_job(job, tmp_path / "dumps", spoil, form), tmp_path / "run")
    assert found["culprit_ranks"] == [3], found["explanation"]
    assert found["coverage"]["fields_unread"] >= 1 and found["coverage"]["entries_contradictory"] == 1
    done = run_teller("import", tmp_path / "dumps", "-o", tmp_path / "run", "--overwrite", "--json")
    notes = [note for source in json.loads(done.stdout)["sources"] for note in source.get("notes", [])]
    assert any(field in note for note in notes)


@pytest.mark.parametrize("entry", [7, {"profiling_name": 3}, {"profiling_name": "nccl:all_reduce", "process_group": None}])
def test_an_entry_that_cannot_be_read_is_no_absence(tmp_path: Path, entry: object) -> None:
    job = Job(3)
    job.everyone("0", 1, "all_reduce", "completed")
    job.everyone("0", 2, "all_reduce", but=(1,))

    def spoil(rank: int, dump: dict) -> None:
        dump["pg_status"] = {}
        if rank == 1:
            dump["entries"].append(entry)
    found = diagnose(write_job(job, tmp_path / "dumps", spoil), tmp_path / "run")
    assert found["culprit_ranks"] == [] and found["verdict"] == "unclear", found["explanation"]
    assert found["coverage"]["entries_unread"] == 1 and "can't be read" in found["explanation"]


def test_dumps_without_numbers_of_which_one_is_missing(tmp_path: Path) -> None:
    job = Job(4)
    job.everyone("0", 1, "all_reduce")
    folder = write_job(job, tmp_path / "dumps")
    for rank, letter in enumerate("abc"):
        (folder / f"trace_{rank}").rename(folder / f"{letter}.bin")
    (folder / "trace_3").unlink()
    found = diagnose(folder, tmp_path / "run")
    assert found["verdict"] == "rank_absent" and found["abnormal"] is True and found["culprit_ranks"] == []
    assert found["coverage"]["ranks_absent_unnamed"] == 1 and "there is no dump" in found["explanation"]


def test_dumps_that_are_the_same_byte_for_byte(tmp_path: Path) -> None:
    """Ranks with nothing open write the same, but for their files' names."""
    job = Job(3)
    for rank in range(3):
        job.status[rank]["0"] = [4, 4]
    folder = write_job(job, tmp_path / "dumps")
    found = diagnose(folder, tmp_path / "run")
    assert found["verdict"] == "healthy" and found["coverage"]["dumps"] == 3


def test_many_ranks_take_little_time(tmp_path: Path) -> None:
    """100,000 ranks that two dumps list: comparing every rank with every other would take minutes."""
    count = 100_000
    entry = {"record_id": 0, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": 1, "p2p_seq_id": 0,
             "op_id": 0, "profiling_name": "nccl:all_reduce", "input_sizes": [[8]], "output_sizes": [[8]],
             "input_dtypes": ["Float"], "output_dtypes": ["Float"], "state": "scheduled", "is_p2p": False}
    for rank in range(2):
        groups = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(count)))},
                  "1": {"name": "1", "desc": "own", "ranks": str([rank])}}
        dump = {"version": "2.9", "pg_config": groups, "pg_status": {}, "entries": [{**entry, "time_created_ns": START_NS + rank}]}
        (tmp_path / f"trace_{rank}").write_bytes(pickle.dumps(dump, 2))
    run = tmp_path / "run"
    assert run_teller("import", tmp_path / "trace_0", tmp_path / "trace_1", "-o", run).returncode == 0
    begin = time.process_time()
    started = time.monotonic()
    done = run_teller("diagnose", run, "--json")
    assert done.returncode == 0 and time.monotonic() - started < 20 + time.process_time() - begin
    found = json.loads(done.stdout)
    assert found["coverage"]["ranks_without_dump_total"] == count - 2 and found["verdict"] == "rank_absent"
    assert found["coverage"]["ranks_without_dump"] == list(range(2, 66)) and len(found["ranks"]) == 2 + 64
    assert len(found["culprit_ranks"]) == 1024 and found["culprit_ranks_total"] == count - 2
    assert (run / "diagnosis.json").stat().st_size < 1 << 20
    text = run_teller("diagnose", run).stdout
    assert f"64, 65 and {count - 2 - 64} more" in text and len(text) < 1 << 14
    assert found["ranks"][0]["waits_for_count"] == count - 2 and len(found["ranks"][0]["waits_for"]) == 64


def many_ranks(count: int, groups: int = 1) -> bytes:
    """A dump with groups of so many ranks, no two with one in common."""
    config = {str(group): {"name": str(group), "desc": "", "ranks": str(list(range(group * count, (group + 1) * count)))}
              for group in range(groups)}
    entry = {"record_id": 0, "pg_id": 0, "process_group": ("0", ""), "collective_seq_id": 1, "state": "scheduled", "is_p2p": False,
             "profiling_name": "nccl:all_reduce", "time_created_ns": START_NS}
    return pickle.dumps({"version": "2.9", "pg_config": config, "pg_status": {}, "entries": [entry]}, 2)


def test_absurd_numbers_of_ranks_are_refused(tmp_path: Path) -> None:
    dump = tmp_path / "trace_0"
    dump.write_bytes(many_ranks(2**20 + 1))
    expect_one_line(run_teller("import", dump, "-o", tmp_path / "run"), 5, says="1048577 ranks")
    # Each group is small enough, and all together are not.
    dump.write_bytes(many_ranks(2**19 + 1, 2))
    assert run_teller("import", dump, "-o", tmp_path / "run").returncode == 0
    expect_one_line(run_teller("diagnose", tmp_path / "run"), 5, says="more than 1048576 ranks")


def test_a_million_ranks_take_bounded_memory(tmp_path: Path) -> None:
    dump = tmp_path / "trace_0"
    dump.write_bytes(many_ranks(2**20))
    assert run_teller("import", dump, "-o", tmp_path / "run").returncode == 0
    limit = 1200 << 20
    done = subprocess.run([teller_binary(), "diagnose", tmp_path / "run", "--json"], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["coverage"]["ranks"] == 2**20 and found["culprit_ranks_total"] == 2**20 - 1
    assert (tmp_path / "run/diagnosis.json").stat().st_size < 1 << 20
