"""Dumps of PyTorch's NCCL flight recorder: imported, kept, and read for the ranks that hold the others up."""
from __future__ import annotations

import gzip
import json
import os
import pickle
import re
import shutil
import subprocess
from pathlib import Path
from random import Random

import flight_support
import pytest
import tev
from conftest import expect_one_line, run_teller, teller_binary
from flight_support import Job

SHARED = Path(os.environ.get("TELLER_SHARED", Path(__file__).resolve().parents[3] / "shared"))
REAL = SHARED / "traces" / "flight_recorder"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason=f"no shared flight recorder dumps at {REAL}")
REAL_CASES = ["gpu_error_1st", "lock_gil_1st"]


def run_import(paths: list[Path], run: Path) -> dict:
    """The summary of an import that has to work."""
    done = run_teller("import", *paths, "-o", run, "--overwrite", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def diagnose(paths: list[Path], run: Path) -> dict:
    """The diagnosis of dumps."""
    run_import(paths, run)
    done = run_teller("diagnose", run, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def a_job() -> Job:
    """Four ranks: two tensor-parallel pairs, two pipelines; rank 2 does not come to the all-reduce of its pair."""
    job = Job(4)
    job.group("1", "TENSOR", [0, 1])
    job.group("2", "TENSOR", [2, 3])
    job.group("3", "PIPELINE", [0, 2])
    job.group("4", "PIPELINE", [1, 3])
    job.everyone("0", 1, "all_reduce", "completed")
    job.everyone("1", 1, "all_reduce", "completed")
    job.everyone("2", 1, "all_reduce", but=(2,))
    job.add(0, "3", 1, "recv 0<-1")
    job.add(1, "4", 1, "recv 0<-1")
    return job


def real_files(case: str) -> list[Path]:
    return sorted(path for path in (REAL / case).iterdir() if path.suffix != ".log")


def injected(case: str) -> set[int]:
    """The ranks that the fault was injected into: for the test alone."""
    text = (REAL / case / "fault_injection.log").read_text()
    return {int(rank) for rank in re.findall(r"^Rank (\d+)", text, re.MULTILINE)}


@pytest.mark.parametrize("protocol", [2, 3, 4, 5, "json"])
@pytest.mark.parametrize("only_active", [False, True])
def test_the_rank_that_holds_the_others_up_is_named(tmp_path: Path, protocol: int | str, only_active: bool) -> None:
    paths = flight_support.write(a_job(), tmp_path / "dumps", protocol, only_active)
    diagnosis = diagnose(paths, tmp_path / "run")
    assert diagnosis["culprit_ranks"] == [2], diagnosis["explanation"]
    assert diagnosis["abnormal"] is True and diagnosis["fault_type"] == "communication"
    assert diagnosis["verdict"] == "rank_behind"
    assert diagnosis["uniform"] is False and diagnosis["culprit_link"] is None
    assert "Rank 2 has not enqueued all_reduce, number 1 of group 2 TENSOR" in diagnosis["explanation"]
    assert diagnosis["coverage"]["dumps"] == 4 and diagnosis["coverage"]["ranks_without_dump"] == []
    victim = next(one for one in diagnosis["evidence"] if one["rank"] == 3)
    assert victim["role"] == "victim"
    assert victim["entry"]["process_group"] == "2" and victim["entry"]["collective_seq_id"] == 1
    assert victim["entry"]["frames"] == ([] if protocol == "json" else ["forward /job/model.py:42"])
    assert diagnosis["first_seen"]["start_ns"] == flight_support.START_NS + 1_000_000 + 3000


def test_every_key_of_a_diagnosis_is_there(tmp_path: Path) -> None:
    diagnosis = diagnose(flight_support.write(a_job(), tmp_path / "dumps"), tmp_path / "run")
    for key in ("fault_type", "probability", "abnormal_steps", "operators", "requests", "culprit_ranks", "culprit_link",
                "uniform", "first_seen", "evidence", "explanation", "check_next", "coverage"):
        assert key in diagnosis
    assert 0 < diagnosis["probability"] <= 1
    assert sum(one["score"] for one in diagnosis["culprits"]) <= 1


def test_a_healthy_job_has_no_culprit(tmp_path: Path) -> None:
    job = Job(3)
    for seq in range(1, 5):
        job.everyone("0", seq, "all_reduce", "completed")
    paths = flight_support.write(job, tmp_path / "dumps")
    diagnosis = diagnose(paths, tmp_path / "run")
    assert diagnosis["abnormal"] is False and diagnosis["culprit_ranks"] == []
    assert diagnosis["verdict"] == "healthy" and diagnosis["fault_type"] == "none" and diagnosis["judged"] is True
    assert run_teller("diagnose", tmp_path / "run", "--fail-on-fault").returncode == 0
    job.everyone("0", 5, "all_reduce", "started")
    diagnosis = diagnose(flight_support.write(job, tmp_path / "dumps"), tmp_path / "run")
    assert diagnosis["abnormal"] is None and diagnosis["judged"] is False and diagnosis["fault_type"] is None
    assert diagnosis["verdict"] == "all_in_one_place"


def test_dumps_with_nothing_to_judge_are_not_healthy(tmp_path: Path) -> None:
    job = Job(2)
    none = diagnose(flight_support.write(job, tmp_path / "dumps"), tmp_path / "run")
    job.status[0]["0"] = [9, 4]
    outstanding = diagnose(flight_support.write(job, tmp_path / "dumps"), tmp_path / "run")
    for found in (none, outstanding):
        assert (found["verdict"], found["abnormal"], found["judged"], found["fault_type"]) == ("unclear", None, False, None)
    assert "hold no operation" in none["explanation"]
    assert "rank 0 has enqueued 9 collectives of group 0 and completed 4" in outstanding["explanation"]
    assert "healthy" not in run_teller("diagnose", tmp_path / "run").stdout.splitlines()[0]


# A dump does not say when it was written: one of a moment before looks like one of a rank that is stuck.
@pytest.mark.parametrize("waited_for", [False, True])
def test_a_rank_that_nobody_waits_for_may_only_have_been_dumped_first(tmp_path: Path, waited_for: bool) -> None:
    job = Job(3)
    for seq in range(1, 5):
        job.everyone("0", seq, "all_reduce", "completed")
    for rank in range(3):
        job.add(rank, "0", 5, "all_reduce", "started" if rank == 1 else "completed")
        if waited_for and rank != 1:
            job.add(rank, "0", 6, "all_reduce", "started")
    diagnosis = diagnose(flight_support.write(job, tmp_path / "dumps"), tmp_path / "run")
    assert diagnosis["verdict"] == "rank_stuck" and diagnosis["culprit_ranks"] == [1]
    assert diagnosis["probability"] == (0.95 if waited_for else 0.5)
    assert ("a moment before" in diagnosis["explanation"]) is not waited_for
    assert ("Take the dumps again" in diagnosis["check_next"]) is not waited_for


def test_a_rank_without_a_dump_is_named(tmp_path: Path) -> None:
    job = Job(4)
    job.group("1", "pair", [0, 1])
    job.group("2", "pair", [2, 3])
    job.everyone("0", 3, "all_reduce")
    diagnosis = diagnose(flight_support.write(job, tmp_path / "dumps", absent=(3,)), tmp_path / "run")
    assert diagnosis["culprit_ranks"] == [3] and diagnosis["verdict"] == "rank_absent"
    assert diagnosis["coverage"]["ranks_without_dump"] == [3]


def test_names_and_order_of_files_are_nothing(tmp_path: Path) -> None:
    paths = flight_support.write(a_job(), tmp_path / "dumps")
    before = diagnose(paths, tmp_path / "run")
    shuffled = []
    (tmp_path / "rank_0").mkdir()
    for i, path in enumerate(reversed(paths)):
        shuffled.append(shutil.copy(path, tmp_path / "rank_0" / f"wrong_{(i * 3 + 1) % 4}"))
    after = diagnose(shuffled, tmp_path / "run")
    assert after["culprits"] == before["culprits"]
    assert after["explanation"] == before["explanation"]
    assert {one["rank_from"] for one in after["ranks"]} == {"rank from content"}


def test_where_a_rank_is_from_is_said(tmp_path: Path) -> None:
    job = Job(3)
    job.everyone("0", 1, "all_reduce", but=(1,))
    paths = flight_support.write(job, tmp_path / "dumps")
    done = run_teller("import", *paths, "-o", tmp_path / "run")
    assert done.returncode == 0 and "the ranks of 3 dumps are from the names of their files" in done.stderr
    for path in (tmp_path / "run" / "events").iterdir():
        assert tev.read_tev(path).meta["rank_from"] == "rank from file name"
    diagnosis = json.loads(run_teller("diagnose", tmp_path / "run", "--json").stdout)
    assert diagnosis["culprit_ranks"] == [1]
    assert diagnosis["coverage"]["ranks_from_file_name"] == 3
    assert done.stderr.count("\n") == 1
    # Without a name that helps, the dump is named by its source, and no rank is made up.
    plain = [path.rename(path.with_name(f"{letter}.bin")) for path, letter in zip(paths, "abc")]
    diagnosis = diagnose(plain, tmp_path / "run")
    assert diagnosis["culprit_ranks"] == [] and diagnosis["coverage"]["dumps_of_unknown_rank"] == 3
    assert "b.bin" in diagnosis["explanation"]


@pytest.mark.parametrize("named", [True, False])
def test_equal_dumps_of_unknown_ranks_are_all_imported(tmp_path: Path, named: bool) -> None:
    job = Job(3)
    job.everyone("0", 1, "all_reduce", "completed")
    folder = tmp_path / "dumps"
    dump, *others = flight_support.write(job, folder)
    paths = [shutil.copy(dump, folder / f"{letter}.bin") for letter in "abc"]  # what idle ranks leave may be the same
    for path in (dump, *others):
        path.unlink()
    summary = run_import(paths if named else [folder], tmp_path / "run")
    assert len(summary["sources"]) == 3 and not summary["skipped"]
    (folder / "link").symlink_to("a.bin")  # the same dump is no other
    (folder / "a.bin.gz").write_bytes(gzip.compress(Path(paths[0]).read_bytes()))
    for name in ("link", "a.bin.gz"):
        done = run_teller("import", *paths, folder / name, "-o", tmp_path / "run", "--overwrite")
        expect_one_line(done, 2, says="it holds the same as")
    assert len(run_import([folder], tmp_path / "run")["sources"]) == 3


def test_the_run_works_with_the_other_commands(tmp_path: Path) -> None:
    run = tmp_path / "run"
    summary = run_import(flight_support.write(a_job(), tmp_path / "dumps"), run)
    for source in summary["sources"]:
        counts = source["counts"]
        assert source["dialect"] == "flight" and source["world_size"] == 4
        assert counts["records"] == (counts["events"] + counts["metadata"] + counts["flows"] + counts["duplicates"] +
                                     counts["malformed"] + sum(counts["unknown"].values()))
    assert [source["rank"] for source in summary["sources"]] == [0, 1, 2, 3]
    for arguments in (["reconstruct"], ["stats"], ["stats", "--json"], ["diagnose"], ["verify"], ["dump"]):
        done = run_teller(arguments[0], run, *arguments[1:])
        assert done.returncode == 0, (arguments, done.stderr)
        assert done.stdout, arguments
    text = run_teller("dump", run).stdout
    assert "nccl:all_reduce" in text
    text = run_teller("diagnose", run).stdout
    assert "verdict: communication, rank_behind" in text and "suspects  rank 2" in text


def test_dumps_of_several_hosts_may_be_merged(tmp_path: Path) -> None:
    paths = flight_support.write(a_job(), tmp_path / "dumps")
    run_import(paths[:2], tmp_path / "one")
    run_import(paths[2:], tmp_path / "two")
    done = run_teller("merge", tmp_path / "one", tmp_path / "two", "-o", tmp_path / "both")
    assert done.returncode == 0, done.stderr
    assert json.loads(run_teller("diagnose", tmp_path / "both", "--json").stdout)["culprit_ranks"] == [2]


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    paths = flight_support.write(a_job(), tmp_path / "dumps")
    seen = set()
    for _ in range(2):
        diagnose(paths, tmp_path / "run")
        events = [path.read_bytes() for path in sorted((tmp_path / "run" / "events").iterdir())]
        seen.add((tuple(events), (tmp_path / "run" / "diagnosis.json").read_bytes()))
    assert len(seen) == 1


def test_libtorch_is_not_loaded(tmp_path: Path) -> None:
    run_import(flight_support.write(a_job(), tmp_path / "dumps"), tmp_path / "run")
    done = subprocess.run([teller_binary(), "diagnose", str(tmp_path / "run")], text=True, capture_output=True,
                          env={**os.environ, "LD_DEBUG": "libs"}, timeout=120)
    assert done.returncode == 0
    assert "calling init" in done.stderr and "torch" not in done.stderr


def test_a_byte_order_mark_is_passed_over_and_counted(tmp_path: Path) -> None:
    paths = flight_support.write(a_job(), tmp_path / "dumps", "json")
    plain = diagnose(paths, tmp_path / "run")
    paths[0].write_bytes(b"\xef\xbb\xbf" + paths[0].read_bytes())
    assert diagnose(paths, tmp_path / "run") == plain
    done = run_teller("import", *paths, "-o", tmp_path / "run", "--overwrite", "--json")
    source = json.loads(done.stdout)["sources"][0]
    assert source["counts"]["repaired"] == 1 and any("byte order mark" in note for note in source["notes"])
    paths[0].write_bytes(b"\xef\xbb\xbf" + paths[0].read_bytes())  # two of them are none
    assert run_teller("import", *paths, "-o", tmp_path / "run", "--overwrite").returncode == 4


@pytest.mark.parametrize("version", ["9.9", "2.11", "1.1", "new", None])
def test_a_version_that_is_not_known_is_said(tmp_path: Path, version: str | None) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    for rank in range(4):
        dump = a_job().dump(rank)
        dump.pop("version") if version is None else dump.update(version=version)
        (folder / f"trace_{rank}").write_bytes(pickle.dumps(dump, protocol=2))
    found = diagnose(sorted(folder.iterdir()), tmp_path / "run")
    assert found["culprit_ranks"] == [2] and found["coverage"]["dumps_of_unknown_version"] == 4
    assert "4 dumps are of a version that is not known" in run_teller("diagnose", tmp_path / "run").stdout
    done = run_teller("import", folder, "-o", tmp_path / "run", "--overwrite", "--json")
    notes = json.loads(done.stdout)["sources"][0]["notes"]
    assert any("version" in note and (version or "does not state") in note for note in notes)


def test_gzip_is_read(tmp_path: Path) -> None:
    paths = flight_support.write(a_job(), tmp_path / "dumps", "json")
    packed = [path.with_suffix(".json.gz") for path in paths]
    for path, target in zip(paths, packed):
        target.write_bytes(gzip.compress(path.read_bytes()))
    assert diagnose(packed, tmp_path / "run")["culprit_ranks"] == [2]


def test_what_is_wrong_with_entries_is_counted(tmp_path: Path) -> None:
    job = a_job()
    job.add(3, "0", 9, "all_reduce", "completed", colour="blue")
    job.add(3, "0", 10, "all_reduce", "dreaming")
    dump = job.dump(3)
    dump["entries"] += [7, {"profiling_name": "nccl:x"}]
    dump["pg_config"]["9"] = "none"
    dump["novelty"] = {"a": 1}
    path = tmp_path / "dump"
    path.write_bytes(pickle.dumps(dump, protocol=2))
    done = run_teller("import", path, "-o", tmp_path / "run", "--json")
    assert done.returncode == 0
    source = json.loads(done.stdout)["sources"][0]
    counts = source["counts"]
    assert counts["malformed"] == 3 and counts["unknown"] == {"state dreaming": 1}
    assert counts["events"] == len(job.entries[3]) - 1
    assert any("colour" in note for note in source["notes"])
    assert counts["records"] == counts["events"] + counts["metadata"] + 4


@pytest.mark.parametrize("what, codes, says", [
    ("cut", (4,), "stops before its end"),
    ("object", (5,), "opcode"),
    ("other", (4,), "no flight recorder dump"),
    ("json", (4,), "not a trace that teller knows"),
    ("nothing", (4,), "none of its 1 entries"),
])
def test_bad_files_are_refused_in_one_line(tmp_path: Path, what: str, codes: tuple[int, ...], says: str) -> None:
    good = pickle.dumps(a_job().dump(0), protocol=2)
    content = {"cut": good[:len(good) // 2], "object": pickle.dumps({"entries": [Path("/")]}, protocol=2),
               "other": pickle.dumps([1, 2]), "json": b'{"entries": [}',
               "nothing": pickle.dumps({"entries": [{}]}, protocol=2)}[what]
    path = tmp_path / "file"
    path.write_bytes(content)
    expect_one_line(run_teller("import", path, "-o", tmp_path / "run"), *codes, says=says)
    assert not (tmp_path / "run").exists()


def test_text_that_steers_terminals_is_made_visible(tmp_path: Path) -> None:
    job = Job(2)
    job.group("1", "\x1b[31mred\n", [1])
    job.everyone("0", 1, "all_reduce", but=(0,))
    job.add(1, "1", 1, "all_reduce\x1b]0;x\x07")
    run_import(flight_support.write(job, tmp_path / "dumps"), tmp_path / "run")
    done = run_teller("diagnose", tmp_path / "run")
    assert done.returncode == 0 and "\x1b" not in done.stdout and "\x07" not in done.stdout


@needs_real
@pytest.mark.parametrize("case", REAL_CASES)
def test_the_injected_ranks_come_first(tmp_path: Path, case: str) -> None:
    ranks = injected(case)
    assert ranks
    diagnosis = diagnose(real_files(case), tmp_path / "run")
    assert set(diagnosis["culprit_ranks"][:len(ranks)]) == ranks, diagnosis["explanation"]
    assert {one["rank_from"] for one in diagnosis["ranks"]} == {"rank from content"}
    assert diagnosis["verdict"] == {"gpu_error_1st": "rank_stuck", "lock_gil_1st": "rank_behind"}[case]


@needs_real
@pytest.mark.parametrize("case", REAL_CASES)
def test_real_dumps_under_other_names_give_the_same(tmp_path: Path, case: str) -> None:
    files = real_files(case)
    before = diagnose(files, tmp_path / "run")
    renamed = []
    for i, path in enumerate(files):
        renamed.append(shutil.copyfile(path, tmp_path / f"file_{(7 * i + 3) % len(files)}"))
    after = diagnose(sorted(renamed), tmp_path / "run")
    assert after["culprits"] == before["culprits"] and after["explanation"] == before["explanation"]


@needs_real
@pytest.mark.parametrize("case", REAL_CASES)
def test_all_entries_of_real_dumps_are_kept(tmp_path: Path, case: str) -> None:
    files = real_files(case)
    summary = run_import(files, tmp_path / "run")
    for path, source in zip(files, summary["sources"]):
        dump = pickle.loads(path.read_bytes())
        assert source["counts"]["events"] == len(dump["entries"])
        assert source["counts"]["metadata"] == len(dump["pg_config"]) + len(dump["pg_status"])
        assert source["counts"]["malformed"] == 0 and not source["counts"]["unknown"]
        assert source["notes"] == [] if "notes" in source else True


SHAPES = [(1, 2, 2), (2, 1, 2), (2, 2, 2), (4, 2, 1), (2, 2, 4)]


def pick_stops(shape: tuple[int, int, int], seed: int, count: int) -> dict[int, int]:
    """Some ranks of a job, and the operation at which each stops; one stage, so that none stops another first."""
    random = Random(f"{shape} {seed}")
    per_stage = shape[1] * shape[2]
    first = random.randrange(shape[0]) * per_stage
    at = random.randrange(6, 14)
    return {rank: at for rank in random.sample(range(first, first + per_stage), count)}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_hosts_that_stop_in_training_are_named(tmp_path: Path, shape: tuple[int, int, int], seed: int) -> None:
    stops = pick_stops(shape, seed, 1 + seed % 2)
    training = flight_support.Training(*shape, steps=3, ahead=5, host_stops=stops)
    paths = flight_support.write(training.job, tmp_path / "dumps", only_active=seed % 2 == 0)
    diagnosis = diagnose(paths, tmp_path / "run")
    assert set(diagnosis["culprit_ranks"]) == set(stops), diagnosis["explanation"]
    assert diagnosis["verdict"] == "rank_behind"


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_devices_that_stop_in_training_are_among_few(tmp_path: Path, shape: tuple[int, int, int], seed: int) -> None:
    """With all peers in the same operation, the dumps tell only which operation it is."""
    stops = pick_stops(shape, seed, 1)
    training = flight_support.Training(*shape, steps=3, ahead=5, device_stops=stops)
    paths = flight_support.write(training.job, tmp_path / "dumps", only_active=seed % 2 == 0)
    diagnosis = diagnose(paths, tmp_path / "run")
    group, _, other = training.program[(rank := next(iter(stops)))][stops[rank]]
    members = training.job.groups[group][1]
    if len(members) == training.job.count:
        assert diagnosis["verdict"] == "all_in_one_place"
    else:
        assert rank in diagnosis["culprit_ranks"] and set(diagnosis["culprit_ranks"]) <= set(members)
        assert (diagnosis["culprit_link"] is not None) == bool(other)


@pytest.mark.parametrize("shape", SHAPES)
def test_training_that_ends_is_healthy(tmp_path: Path, shape: tuple[int, int, int]) -> None:
    training = flight_support.Training(*shape, steps=2, ahead=3)
    assert all(training.done[rank] == len(program) for rank, program in training.program.items())
    diagnosis = diagnose(flight_support.write(training.job, tmp_path / "dumps"), tmp_path / "run")
    assert diagnosis["verdict"] == "healthy" and not diagnosis["abnormal"]


def test_ranks_of_lost_processes_in_training_are_named(tmp_path: Path) -> None:
    training = flight_support.Training(2, 2, 2, steps=3, ahead=5, host_stops={5: 9})
    paths = flight_support.write(training.job, tmp_path / "dumps", absent=(5,))
    diagnosis = diagnose(paths, tmp_path / "run")
    assert diagnosis["culprit_ranks"] == [5] and diagnosis["verdict"] == "rank_absent"


@pytest.mark.parametrize("sizes", [None, -1, "x", [1], {"a": 1}, 1.5e308])
def test_a_size_that_cannot_be_read_contradicts_nothing(tmp_path: Path, sizes: object) -> None:
    job = Job(4)
    job.everyone("0", 1, "all_reduce", "completed")
    job.everyone("0", 2, "all_reduce", but=(3,))
    folder = tmp_path / "dumps"
    files = []
    folder.mkdir()
    for rank in range(4):
        dump = job.dump(rank)
        if rank == 0:
            dump["entries"][-1]["input_sizes"] = sizes
        path = folder / f"trace_{rank}"
        path.write_bytes(pickle.dumps(dump, 2))
        files.append(path)
    found = diagnose(files, tmp_path / "run")
    assert found["culprit_ranks"] == [3], found["explanation"]
