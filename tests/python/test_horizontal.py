"""Several ranks in one run: matched collectives, aligned clocks, and which rank the others wait for."""
from __future__ import annotations

import importlib.util
import json
import random
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from conftest import ROOT, expect_one_line, run_teller

DLRM = ROOT.parent / "shared/traces/kineto/dlrm_8ranks.tar.gz"
PROGRAM = ROOT / "tests/python/rank_programs/fsdp_ranks.py"
MS = 1e3  # traces count in microseconds


class Job:
    """Synthetic ranks: per step some work, an all-gather, more work, an all-reduce. Times in milliseconds."""

    def __init__(self, ranks: int = 4, steps: int = 12, seed: int = 1) -> None:
        self.ranks, self.steps = ranks, steps
        self.random = random.Random(seed)
        self.late = {}       # (rank, step) -> (ms, name of the operator)
        self.slow = {}       # step -> factor for all ranks
        self.share = {}      # rank -> factor for all its work: it gets less CPU, or is a slower one
        self.offset_ms = [0.0] * ranks
        self.drift = [0.0] * ranks
        self.numbered = True
        self.stated_rank = list(range(ranks))
        self.leave_out = set()   # (rank, number of the collective)
        self.rename = {}         # (rank, number of the collective) -> (name, elements)
        self.hang_at = None      # number of the collective that never ends
        self.step_ranges = True
        self.events = [[] for _ in range(ranks)]

    def at(self, rank: int, ms: float) -> float:
        return (ms * (1 + self.drift[rank]) + self.offset_ms[rank]) * MS

    def add(self, rank: int, name: str, begin: float, end: float | None, cat: str = "cpu_op", **args) -> None:
        event = {"ph": "X", "cat": cat, "name": name, "pid": 100 + rank, "tid": 1, "ts": self.at(rank, begin), "args": args}
        if end is not None:
            event["dur"] = self.at(rank, end) - self.at(rank, begin)
        self.events[rank].append(event)

    def collective(self, now: list[float], number: int, name: str, kind: str, elements: int) -> bool:
        """All ranks meet; False if the job hangs there."""
        there = [r for r in range(self.ranks) if (r, number) not in self.leave_out]
        end = max(now[r] for r in there) + 1
        hangs = number == self.hang_at
        for rank in there:
            call, stated, size = name, kind, elements
            if (rank, number) in self.rename:
                call, stated, size = self.rename[rank, number]
            stop = end + self.random.uniform(0, 0.05)
            self.add(rank, call, now[rank], None if hangs else stop)
            facts = {"Collective name": stated, "In msg nelems": size, "Out msg nelems": size, "dtype": "Float",
                     "Process Group Name": "0", "Process Group Ranks": str(list(range(self.ranks)))}
            if self.numbered:
                facts["Seq"] = number
            self.add(rank, "record_param_comms", now[rank] + 0.01, now[rank] + 0.02, **facts)
            now[rank] = stop + 0.01
        return not hangs

    def run(self) -> "Job":
        now = [0.0] * self.ranks
        for step in range(self.steps):
            begins = list(now)
            for part, (name, kind, size) in enumerate((("c10d::_allgather_base_", "_allgather_base", 1 << 20),
                                                       ("c10d::allreduce_", "allreduce", 1 << 18))):
                for rank in range(self.ranks):
                    if part == 0 and (rank, step) in self.late:
                        ms, what = self.late[rank, step]
                        self.add(rank, what, now[rank], now[rank] + ms, "user_annotation")
                        now[rank] += ms + 0.01
                    ms = 10 * self.slow.get(step, 1) * self.share.get(rank, 1) * self.random.uniform(0.95, 1.05)
                    self.add(rank, "aten::mm", now[rank], now[rank] + ms)
                    now[rank] += ms + 0.01
                if not self.collective(now, 2 * step + part, name, kind, size):
                    for rank in range(self.ranks):
                        self.add(rank, "aten::sleep", now[rank] + 5000, now[rank] + 5001)
                    return self
            if self.step_ranges:
                for rank in range(self.ranks):
                    self.add(rank, f"ProfilerStep#{step}", begins[rank], now[rank], "user_annotation")
        return self

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        for rank, events in enumerate(self.events):
            top = {"distributedInfo": {"rank": self.stated_rank[rank], "world_size": self.ranks},
                   "baseTimeNanoseconds": 1_700_000_000_000_000_000, "traceEvents": events}
            # Names in another order than the ranks: they must not matter.
            (folder / f"part{(rank * 7 + 3) % 10}.json").write_text(json.dumps(top))
        return folder


def compared(folder: Path, run: Path) -> dict:
    """horizontal.json of the traces in a folder."""
    for command in (["import", folder, "-o", run], ["reconstruct", run]):
        done = run_teller(*command)
        assert done.returncode == 0, done.stderr
    assert "ranks " in done.stdout
    return json.loads((run / "horizontal.json").read_text())


def verdict_of(job: Job, tmp_path: Path) -> dict:
    return compared(job.run().write(tmp_path / "traces"), tmp_path / "run")["verdict"]


# --- synthetic ranks --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_healthy_ranks(tmp_path, ranks):
    found = compared(Job(ranks).run().write(tmp_path / "traces"), tmp_path / "run")
    assert found["verdict"]["culprits"] == [] and found["verdict"]["uniform"] is None and found["verdict"]["link"] is None
    assert found["collectives"]["matched_on_all_ranks"] == found["collectives"]["collectives"] == 24
    assert found["collectives"]["missing"] == found["collectives"]["mismatched"] == 0
    assert [r["rank"] for r in found["ranks"]] == list(range(ranks))


@pytest.mark.parametrize("culprit,numbered", [(0, True), (2, True), (3, False)])
def test_late_rank_is_named_and_its_victims_are_not(tmp_path, culprit, numbered):
    job = Job(seed=culprit)
    job.numbered = numbered
    job.late = {(culprit, step): (25, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__") for step in range(12)}
    verdict = verdict_of(job, tmp_path)
    assert [c["rank"] for c in verdict["culprits"]] == [culprit]
    assert 0.5 < verdict["culprits"][0]["score"] <= 1
    assert verdict["doing"] == "data loading" and verdict["uniform"] is False
    assert "wait" in verdict["culprits"][0]["why"] and "ms" in verdict["culprits"][0]["why"]


class Pipeline:
    """Four stages that hand micro-batches on and gradients back, with the fields that PyTorch writes of a send and a receive:
    each names the other end alone, and each rank numbers its transfers, whoever they are with."""

    def __init__(self, numbered: bool = True, slow: tuple[int, int] | None = None) -> None:
        self.numbered, self.slow = numbered, slow
        self.random = random.Random(5)
        self.events = [[] for _ in range(4)]
        self.now = [0.0] * 4
        self.number = [0] * 4

    def add(self, rank: int, name: str, cat: str, begin: float, end: float, **args) -> None:
        self.events[rank].append({"ph": "X", "cat": cat, "name": name, "pid": 100 + rank, "tid": 1, "ts": begin, "dur": end - begin,
                                  "args": args})

    def transfer(self, source: int, target: int) -> None:
        end = max(self.now[source], self.now[target]) + (2000 if self.slow == (source, target) else 100) + self.random.uniform(0, 20)
        for rank, kind, other, key in ((source, "send", target, "Dst Rank"), (target, "recv", source, "Src Rank")):
            self.number[rank] += 1
            facts = {"Collective name": kind, "In msg nelems": 4096, "Out msg nelems": 4096, "dtype": "BFloat16", key: other,
                     "Process Group Name": "7", "Process Group Ranks": "[0, 1, 2, 3]", "Group size": 4}
            if self.numbered:
                facts["Seq"] = self.number[rank]
            ids = {"correlation": 1000 * rank + self.number[rank]}
            self.add(rank, "record_param_comms", "cpu_op", self.now[rank] - 9, self.now[rank] - 2, **facts)
            self.add(rank, "cudaLaunchKernelExC", "cuda_runtime", self.now[rank] - 8, self.now[rank] - 4, **ids)
            self.add(rank, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "kernel", self.now[rank], end, device=rank,
                     stream=20, **ids, **facts)
            self.now[rank] = end + 30

    def write(self, folder: Path) -> Path:
        for step in range(8):
            begins = list(self.now)
            for _ in range(3):
                for rank in range(4):
                    self.now[rank] += 2000 * self.random.uniform(0.97, 1.03)
                    if rank < 3:
                        self.transfer(rank, rank + 1)
            for _ in range(3):
                for rank in reversed(range(4)):
                    self.now[rank] += 4000 * self.random.uniform(0.97, 1.03)
                    if rank > 0:
                        self.transfer(rank, rank - 1)
            end = max(self.now) + 500  # they meet, as for the norm of the gradients
            for rank in range(4):
                facts = {"Collective name": "allreduce", "In msg nelems": 1, "Out msg nelems": 1, "dtype": "Float", "Seq": step + 1,
                         "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2, 3]"}
                self.add(rank, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "kernel", self.now[rank], end, device=rank, stream=21, **facts)
                self.now[rank] = end + 50
                self.add(rank, f"ProfilerStep#{step}", "user_annotation", begins[rank] - 10, self.now[rank] - 11)
        folder.mkdir()
        for rank, events in enumerate(self.events):
            top = {"distributedInfo": {"rank": rank, "world_size": 4}, "traceEvents": events}
            (folder / f"part{(rank * 7 + 3) % 10}.json").write_text(json.dumps(top))
        return folder


@pytest.mark.parametrize("numbered", [True, False])
def test_stages_of_a_pipeline_are_not_said_to_call_something_else(tmp_path, numbered):
    found = compared(Pipeline(numbered).write(tmp_path / "traces"), tmp_path / "run")
    assert found["verdict"]["culprits"] == [] and found["verdict"]["link"] is None
    transfers = 8 * 2 * 3 * 3
    assert found["collectives"]["mismatched"] == found["collectives"]["missing"] == found["collectives"]["on_one_rank"] == 0
    assert found["collectives"]["collectives"] == found["collectives"]["matched"] == transfers + 8


def test_slow_link_of_a_pipeline(tmp_path):
    verdict = compared(Pipeline(slow=(1, 2)).write(tmp_path / "traces"), tmp_path / "run")["verdict"]
    assert verdict["culprits"] == [] and (verdict["link"]["from"], verdict["link"]["to"]) == (1, 2)


def test_ranks_with_hardly_a_collective_in_common_are_not_called_healthy(tmp_path):
    job = Job(2, steps=1)
    job.step_ranges = False
    verdict = verdict_of(job, tmp_path)
    assert verdict["too_few_collectives"] is True and verdict["compared"] is False and verdict["told_apart"] is True
    done = run_teller("diagnose", tmp_path / "run", "--json")
    assert done.returncode == 0, done.stderr
    diagnosis = json.loads((tmp_path / "run/diagnosis.json").read_text())
    assert diagnosis["abnormal"] is None and diagnosis["judged"] is False and diagnosis["culprit_ranks"] == []
    assert "too few finished collectives" in diagnosis["explanation"]


def test_ranks_without_a_collective_in_common_are_not_compared(tmp_path):
    job = Job(2, steps=4)
    job.step_ranges = False
    job.run()
    for events in job.events:
        events[:] = [event for event in events if event["name"].startswith("aten::")]
    found = compared(job.write(tmp_path / "traces"), tmp_path / "run")
    assert found["verdict"]["compared"] is False and found["collectives"]["matched"] == 0
    diagnosis = json.loads(run_teller("diagnose", tmp_path / "run", "--json").stdout)
    assert diagnosis["abnormal"] is None and diagnosis["judged"] is False and diagnosis["fault_type"] is None
    text = run_teller("diagnose", tmp_path / "run").stdout
    assert "no collective in common" in text and "healthy" not in text


# A process beside it takes a part of one CPU, evenly for a short while: seen in healthy runs of gloo on a busy machine.
@pytest.mark.parametrize("steps,factor,named", [(8, 1.8, []), (12, 1.8, []), (24, 1.15, []), (24, 1.8, [2])])
def test_evenly_late_counts_after_many_steps_only(tmp_path, steps, factor, named):
    job = Job(steps=steps)
    job.share = {2: factor}
    assert [c["rank"] for c in verdict_of(job, tmp_path)["culprits"]] == named


def test_late_once(tmp_path):
    job = Job()
    job.late = {(1, 7): (150, "save checkpoint")}
    verdict = verdict_of(job, tmp_path)
    assert [c["rank"] for c in verdict["culprits"]] == [1] and verdict["doing"] == "a checkpoint"


def test_offsets_and_drift(tmp_path):
    job = Job(steps=60)
    job.offset_ms = [0, 3000, -250, 0.02]
    job.drift = [0, 0, 40e-6, 0]
    job.late = {(2, step): (25, "x") for step in range(60)}
    found = compared(job.run().write(tmp_path / "traces"), tmp_path / "run")
    clocks = [rank["clock"] for rank in found["ranks"]]
    assert all(clock["aligned"] for clock in clocks)
    assert abs(clocks[1]["offset_ns"] - 3e9) < 1e5
    assert abs(clocks[2]["drift_ppm"] - 40) < 5
    assert found["clocks"]["residual_ns"] < 50_000
    assert [c["rank"] for c in found["verdict"]["culprits"]] == [2]


def test_all_slow_alike(tmp_path):
    job = Job(steps=16)
    job.slow = {step: 2.0 for step in range(8, 16)}
    verdict = verdict_of(job, tmp_path)
    assert verdict["culprits"] == [] and verdict["uniform"] is True
    assert "from step 8 on" in verdict["evidence"][0]


def test_all_slow_against_a_baseline(tmp_path):
    compared(Job(seed=1).run().write(tmp_path / "a"), tmp_path / "healthy")
    slow = Job(seed=2)
    slow.slow = {step: 1.6 for step in range(12)}
    assert compared(slow.run().write(tmp_path / "b"), tmp_path / "slow")["verdict"]["uniform"] is None
    slow_run = tmp_path / "slow"
    done = run_teller("diagnose", slow_run, "--baseline", tmp_path / "healthy", "--json")
    if "not built" in done.stderr or "without" in done.stderr and done.returncode != 0:
        pytest.skip("built without the model")
    assert done.returncode == 0, done.stderr
    diagnosis = json.loads(done.stdout)
    assert diagnosis["uniform"] is True and diagnosis["culprit_ranks"] == [] and diagnosis["abnormal"] is True


def test_who_hangs(tmp_path):
    job = Job(steps=6)
    job.hang_at, job.leave_out = 9, {(3, 9)}
    found = compared(job.run().write(tmp_path / "traces"), tmp_path / "run")
    assert [c["rank"] for c in found["verdict"]["culprits"]] == [3]
    assert found["collectives"]["missing"] == 1 and found["collectives"]["odd"][0]["missing_ranks"] == [3]


def test_recording_that_ends_early_is_nobodys_fault(tmp_path):
    job = Job(steps=8).run()
    job.events[2] = [e for e in job.events[2] if e["ts"] < 150 * MS]
    found = compared(job.write(tmp_path / "traces"), tmp_path / "run")
    assert found["verdict"]["culprits"] == [] and found["collectives"]["missing"] == 0
    assert found["collectives"]["outside_recording"] > 0


def test_different_calls_under_one_number(tmp_path):
    job = Job(steps=6)
    job.rename = {(1, 5): ("c10d::broadcast_", "broadcast", 7)}
    found = compared(job.run().write(tmp_path / "traces"), tmp_path / "run")
    assert found["collectives"]["mismatched"] == 1
    assert [c["rank"] for c in found["verdict"]["culprits"]] == [1]
    assert found["collectives"]["odd"][0]["calls"][1] == {"rank": 1, "operation": "broadcast", "bytes": 28}


def test_hostile_ranks(tmp_path):
    job = Job(ranks=4, steps=4)
    job.stated_rank = [0, 0, -5, 10**12]  # one twice, two that are none
    job.run()
    job.events[0].append({"ph": "X", "cat": "cpu_op", "name": "nccl:all_reduce", "pid": 1, "tid": 1, "ts": -9e15, "dur": 1e15,
                          "args": {"Seq": -1, "In msg nelems": 10**18, "dtype": "Double", "Process Group Ranks": "[" * 40}})
    run = tmp_path / "run"
    for command in (["import", job.write(tmp_path / "traces"), "-o", run], ["reconstruct", run]):
        done = run_teller(*command)
        assert done.returncode == 0, done.stderr
    # Two that state one rank are told apart as processes; two ranks that are none are counted.
    found = json.loads((run / "horizontal.json").read_text())
    assert "2 traces with collectives all state rank 0" in done.stdout and "numbers are not known" in done.stdout
    assert [rank["rank"] for rank in found["ranks"]] == [None, None] and found["collectives"]["without_rank"] == 16
    assert found["collectives"]["matched"] == 8 and found["verdict"]["culprits"] == []
    job.stated_rank = [0, 0, 1, 1]
    found = compared(job.write(tmp_path / "again"), tmp_path / "two")
    assert len(found["shared_ranks"]) == 2 and all(one["told_apart"] for one in found["shared_ranks"])
    ops = sum(rank["operations"] for rank in found["ranks"])
    lines = [json.loads(line) for line in (tmp_path / "two/collectives.jsonl").read_text().splitlines()]
    assert sum(len(line["ranks"]) for line in lines) == ops == found["collectives"]["operations"]


def test_same_input_same_bytes_and_commands_show_it(tmp_path):
    folder = Job().run().write(tmp_path / "traces")
    compared(folder, tmp_path / "a"), compared(folder, tmp_path / "b")
    for name in ("horizontal.json", "collectives.jsonl"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert '"operation":"all_gather"' in run_teller("dump", tmp_path / "a", "horizontal", "--json").stdout
    stats = json.loads(run_teller("stats", tmp_path / "a", "--json").stdout)
    assert stats["horizontal"]["collectives"]["matched"] == 24 and len(stats["horizontal"]["ranks"]) == 4
    assert run_teller("verify", tmp_path / "a").returncode == 0


def test_diagnosis_without_steps_needs_no_model(tmp_path):
    job = Job(steps=20)
    job.step_ranges = False
    job.late = {(1, step): (40, "x") for step in range(20)}
    compared(job.run().write(tmp_path / "traces"), tmp_path / "run")
    done = run_teller("diagnose", tmp_path / "run", "--json", "--fail-on-fault")
    assert done.returncode == 10, done.stderr
    diagnosis = json.loads(done.stdout)
    assert diagnosis["culprit_ranks"] == [1] and diagnosis["abnormal"] is True and diagnosis["model"] is None
    assert diagnosis["evidence"][0]["kind"] == "rank" and "rank 1" in diagnosis["explanation"]
    assert "rank            1" in run_teller("diagnose", tmp_path / "run").stdout
    assert run_teller("report", tmp_path / "run").returncode == 0


# --- folders and archives ---------------------------------------------------------------------------------------

def test_folders_and_archives(tmp_path):
    folder = Job(steps=3).run().write(tmp_path / "traces")
    (folder / "notes.txt").write_text("no trace")
    (folder / "other.json").write_text('{"a": 1}')
    (folder / "deeper").mkdir()
    (folder / "deeper" / "empty.json").write_text("")
    for name, mode in (("a.tar", "w"), ("a.tar.gz", "w:gz")):
        with tarfile.open(tmp_path / name, mode) as archive:
            archive.add(folder, "job")
    subprocess.run(["tar", "--zstd", "-cf", tmp_path / "a.tar.zst", "-C", tmp_path, "traces"], check=True)
    for number, given in enumerate((folder, tmp_path / "a.tar", tmp_path / "a.tar.gz", tmp_path / "a.tar.zst")):
        done = run_teller("import", given, "-o", tmp_path / f"run{number}", "--json")
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        # Natural order of names, and what is none is told.
        assert [s["file"] for s in summary["sources"]] == [f"part{n}.json" for n in (0, 3, 4, 7)]
        assert [s["rank"] for s in summary["sources"]] == [1, 0, 3, 2]
        assert sorted(Path(s["file"]).name for s in summary["skipped"]) == ["empty.json", "notes.txt", "other.json"]
        assert sorted(p.name for p in (tmp_path / f"run{number}").iterdir()) == ["events", "manifest.json"]


def test_zstd_trace(tmp_path):
    trace = tmp_path / "t.json"
    trace.write_text(json.dumps({"traceEvents": Job(steps=2).run().events[0]}))
    if subprocess.run(["zstd", "-q", trace], check=False).returncode != 0:
        pytest.skip("no zstd command")
    packed = tmp_path / "t.json.zst"
    done = run_teller("import", packed, "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    packed.write_bytes(packed.read_bytes()[:-20])
    expect_one_line(run_teller("import", packed, "-o", tmp_path / "cut"), 4, says="zstd data stops before its end")


def test_members_never_leave_the_run(tmp_path):
    text = json.dumps({"traceEvents": Job(steps=2).run().events[0]}).encode()
    evil = tmp_path / "in" / "evil.tar"
    evil.parent.mkdir()
    with tarfile.open(evil, "w") as archive:
        for number, name in enumerate(("../escaped.json", str(tmp_path / "absolute.json"), "a/../../up.json")):
            member = tarfile.TarInfo(name)
            body = text + b" " * number  # the same twice would be refused
            member.size = len(body)
            import io
            archive.addfile(member, io.BytesIO(body))
        for kind, name in ((tarfile.SYMTYPE, "link"), (tarfile.CHRTYPE, "device"), (tarfile.FIFOTYPE, "pipe")):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    out = tmp_path / "out"
    out.mkdir()
    done = run_teller("import", evil, "-o", out / "run", "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["sources"]) == 3 and len(json.loads(done.stdout)["skipped"]) == 3
    assert [p.name for p in out.iterdir()] == ["run"] and [p.name for p in evil.parent.iterdir()] == ["evil.tar"]
    assert not (tmp_path / "absolute.json").exists() and not (tmp_path / "escaped.json").exists()


def test_bombs_and_damage(tmp_path):
    with tarfile.open(tmp_path / "bomb.tar.gz", "w:gz", compresslevel=9) as archive:
        member = tarfile.TarInfo("zeros")
        member.size = 1_200_000_000
        with open("/dev/zero", "rb") as zeros:
            archive.addfile(member, zeros)
    expect_one_line(run_teller("import", tmp_path / "bomb.tar.gz", "-o", tmp_path / "run"), 5, says="inflate to more")
    folder = Job(steps=30).run().write(tmp_path / "traces")
    with tarfile.open(tmp_path / "cut.tar.gz", "w:gz") as archive:
        archive.add(folder, "job")
    whole = (tmp_path / "cut.tar.gz").read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(whole[:len(whole) * 3 // 4])
    expect_one_line(run_teller("import", tmp_path / "cut.tar.gz", "-o", tmp_path / "run"), 4, says="unpacking")
    done = run_teller("import", tmp_path / "cut.tar.gz", "-o", tmp_path / "run", "--allow-truncated", "--json")
    assert done.returncode == 0 and len(json.loads(done.stdout)["sources"]) >= 1, done.stderr
    (tmp_path / "none").mkdir()
    expect_one_line(run_teller("import", tmp_path / "none", "-o", tmp_path / "x"), 4, says="none of its 0 files")


# --- real ranks -------------------------------------------------------------------------------------------------

@pytest.mark.skipif(not DLRM.is_file(), reason=f"no real traces at {DLRM}")
def test_eight_dlrm_ranks(tmp_path):
    assert run_teller("import", DLRM, "-o", tmp_path / "run").returncode == 0
    done = run_teller("reconstruct", tmp_path / "run")
    assert "ranks 8, collectives matched 8 of 8 (on all ranks 8), clocks aligned 8, residual" in done.stdout
    found = json.loads((tmp_path / "run/horizontal.json").read_text())
    assert [r["rank"] for r in found["ranks"]] == list(range(8)) and found["clocks"]["residual_ns"] < 10_000
    assert found["verdict"]["culprits"] == []
    lines = [json.loads(line) for line in (tmp_path / "run/collectives.jsonl").read_text().splitlines()]
    assert all(len(line["ranks"]) == 8 and line["transfer_ns"] > 0 for line in lines)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch")
@pytest.mark.parametrize("fault,culprit,doing,options", [
    ("none", -1, None, []), ("data", 2, "data loading", []), ("compute", 1, "compute on the host", []),
    ("checkpoint", 3, "a checkpoint", ["--with-stack", "--steps", "5"])])
def test_fsdp_on_gloo(tmp_path, fault, culprit, doing, options):
    done = subprocess.run([sys.executable, PROGRAM, tmp_path / "traces", "--fault", fault, "--culprit", str(culprit),
                           "--delay-ms", "90", "--seed", str(tmp_path), *options],
                          capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    found = compared(tmp_path / "traces", tmp_path / "run")
    assert found["collectives"]["matched_on_all_ranks"] == found["collectives"]["collectives"] > 40
    assert found["clocks"]["aligned"] == 4
    assert [c["rank"] for c in found["verdict"]["culprits"]] == ([] if fault == "none" else [culprit]), found["verdict"]
    if fault != "none":
        assert found["verdict"]["doing"] == doing
