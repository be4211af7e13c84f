"""The rules of a snapshot's reading, on snapshots written by hand: what no machine shows on demand."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import expect_one_line, run_teller

LIB = "/usr/lib/python3.11/"
TORCH = "/venv/lib/python3.11/site-packages/torch/"


def fe(function: str, file: str = "/srv/app.py", line: int = 1) -> dict:
    """A Python frame."""
    return {"layer": "FE", "function": function, "file": file, "line": line}


def be(function: str, file: str = "lib.so") -> dict:
    """A native frame."""
    return {"layer": "BE", "function": function, "file": file}


def thread(*stack: dict, **fields: object) -> dict:
    """A thread that stands still in a futex; innermost frame first."""
    return {"tid": 0, "name": "python", "behaviour": "stuck", "cpu_share": 0.0, "syscall": "futex", "for_ever": True,
            "futex": 4096, "has_python": any(f["layer"] == "FE" for f in stack), "stack": list(stack), **fields}


def process(pid: int, *threads: dict, **fields: object) -> dict:
    """A process; its first thread is its main thread."""
    numbered = [{**one, "tid": one["tid"] or pid + i} for i, one in enumerate(threads)]
    return {"pid": pid, "ppid": 1, "role": "asked", "state": "S", "threads": numbered, **fields}


def rank(number: int, *stack: dict, world: int = 3, **fields: object) -> dict:
    """A process that is a rank of one host's job."""
    return process(100 * (number + 1), thread(*stack, **fields), rank=number, world_size=world, local_world_size=world,
                   master="10.0.0.1:29500")


def collective(name: str, line: int = 9) -> tuple:
    """Stack of a rank in a collective."""
    return be("?", "libc.so.6"), fe(name, TORCH + "distributed/distributed_c10d.py", 3000), fe("step", line=line)


def diagnose(folder: Path, *processes: dict, **taken: object) -> dict:
    """Writes a run folder by hand; its diagnosis."""
    run = folder / "run"
    run.mkdir(exist_ok=True)
    document = {"format": "teller.snapshot", "version": 1, "processes": list(processes), "gaps": [],
                "taken": {"begin_ns": 1000, "window_ns": 600000000, "samples": 3, "interval_ms": 300, "whole_job": True, **taken}}
    (run / "snapshot.json").write_text(json.dumps(document))
    artifact = {"made_by": "snapshot", "records": 1, "digest": "0", "files": [{"path": "snapshot.json"}], "options": {}, "from": {}}
    (run / "manifest.json").write_text(json.dumps({"format": "teller.run", "schema": "1.0", "made_by": "snapshot",
                                                   "state": "sealed", "artifacts": {"snapshot": artifact}}))
    done = run_teller("diagnose", run, "--json")
    assert done.returncode == 0, done.stderr
    assert run_teller("diagnose", run).returncode == 0
    return json.loads(done.stdout)


def verdict(diagnosis: dict) -> tuple:
    """Verdict, fault type, suspected ranks."""
    return diagnosis["verdict"], diagnosis["fault_type"], diagnosis["culprit_ranks"]


def test_a_rank_elsewhere_comes_before_the_waiting_ones(tmp_path: Path) -> None:
    stack = (be("clock_nanosleep", "libc.so.6"), fe("load", line=4), fe("__next__", TORCH + "utils/data/dataloader.py"))
    diagnosis = diagnose(tmp_path, rank(0, *collective("all_reduce")), rank(2, *collective("all_reduce")),
                         rank(1, *stack, syscall="nanosleep"))
    assert verdict(diagnosis) == ("rank_elsewhere", "scheduling", [1])
    assert diagnosis["evidence"][0]["locator"]["name"] == "app.py: load"
    assert diagnosis["explanation"] == ("rank 1 (pid 200) sleeps, at load (app.py:4), while ranks 0, 2 wait for other "
                                        "ranks in all_reduce.")


def test_one_that_waits_for_the_gpu_is_a_victim_as_well(tmp_path: Path) -> None:
    sync = (be("cudaStreamSynchronize", "libcudart.so"), fe("item"))
    diagnosis = diagnose(tmp_path, rank(0, *sync, behaviour="spinning", syscall=""), rank(1, *collective("all_reduce")),
                         rank(2, fe("load"), syscall="flock"))
    assert verdict(diagnosis) == ("rank_elsewhere", "scheduling", [2])


def test_a_rank_that_still_moves_is_said_to(tmp_path: Path) -> None:
    diagnosis = diagnose(tmp_path, rank(0, *collective("barrier")), rank(1, *collective("barrier")),
                         rank(2, fe("save"), behaviour="running", cpu_share=0.9, syscall=""))
    assert verdict(diagnosis) == ("rank_elsewhere", "scheduling", [2])
    assert "only be slower" in diagnosis["explanation"]


def test_a_rank_that_is_gone(tmp_path: Path) -> None:
    dead = {"pid": 77, "ppid": 1, "role": "sibling", "state": "Z", "signal": 9, "exit": None, "threads": []}
    diagnosis = diagnose(tmp_path, rank(0, *collective("all_reduce")), rank(2, *collective("all_reduce")), dead)
    assert verdict(diagnosis) == ("rank_gone", "unknown", [1])
    assert diagnosis["culprit_pids"] == [77] and "signal 9" in diagnosis["evidence"][0]["text"]


def test_ranks_of_other_hosts_are_not_gone(tmp_path: Path) -> None:
    mine = [{**rank(n, *collective("all_reduce"), world=4), "local_world_size": 2, "local_rank": n} for n in (0, 1)]
    diagnosis = diagnose(tmp_path, *mine)
    assert verdict(diagnosis) == ("all_waiting", "communication", [])
    assert "2 more ranks run on other hosts" in diagnosis["explanation"]


def test_a_rank_of_this_host_is_gone_from_a_job_of_many(tmp_path: Path) -> None:
    mine = [{**rank(n, *collective("all_reduce"), world=8), "local_world_size": 4, "local_rank": n - 4} for n in (4, 5, 7)]
    assert verdict(diagnose(tmp_path, *mine)) == ("rank_gone", "unknown", [6])


def test_who_was_not_looked_for_is_not_gone(tmp_path: Path) -> None:
    diagnosis = diagnose(tmp_path, rank(0, *collective("all_reduce")), whole_job=False)
    assert verdict(diagnosis) == ("all_waiting", "communication", [])


def test_different_collectives(tmp_path: Path) -> None:
    diagnosis = diagnose(tmp_path, rank(0, *collective("all_reduce")), rank(1, *collective("all_reduce")),
                         rank(2, *collective("broadcast")))
    assert verdict(diagnosis) == ("collective_mismatch", "communication", [2])


def test_all_in_the_same_collective(tmp_path: Path) -> None:
    diagnosis = diagnose(tmp_path, *(rank(n, *collective("all_gather")) for n in range(3)))
    assert verdict(diagnosis) == ("all_waiting", "communication", [])
    assert diagnosis["uniform"] is True


def test_ranks_that_pass_from_collective_to_collective_are_healthy(tmp_path: Path) -> None:
    ranks = [rank(n, *collective("all_reduce"), behaviour="running", cpu_share=0.4) for n in range(3)]
    diagnosis = diagnose(tmp_path, *ranks)
    assert (diagnosis["verdict"], diagnosis["abnormal"]) == ("healthy", False)


def test_workers_of_a_rank_are_not_ranks(tmp_path: Path) -> None:
    worker = {**rank(0, fe("get", LIB + "queue.py"), fe("work")), "pid": 150, "ppid": 100}
    worker["threads"][0]["tid"] = 150
    diagnosis = diagnose(tmp_path, rank(0, *collective("all_reduce"), world=2), worker, rank(1, *collective("all_reduce"), world=2))
    assert diagnosis["verdict"] == "all_waiting"


def test_names_of_the_programs_own_files_mean_nothing(tmp_path: Path) -> None:
    ours = fe("all_reduce", "/srv/torch/distributed/distributed_c10d.py"), fe("main")
    diagnosis = diagnose(tmp_path, rank(0, *ours, syscall="nanosleep"), rank(1, *collective("all_reduce")),
                         rank(2, *collective("all_reduce")))
    assert diagnosis["culprit_ranks"] == [0]


def test_a_library_called_by_the_program_within_a_library_counts_once(tmp_path: Path) -> None:
    inside = fe("hook", line=5), fe("all_reduce", TORCH + "distributed/distributed_c10d.py"), fe("step")
    diagnosis = diagnose(tmp_path, rank(0, *inside, syscall="nanosleep"), rank(1, *collective("all_reduce")),
                         rank(2, *collective("all_reduce")))
    assert diagnosis["culprit_ranks"] == [0]


def test_a_circle_of_mutexes_is_proof(tmp_path: Path) -> None:
    lock = be("pthread_mutex_lock", "libc.so.6")
    diagnosis = diagnose(tmp_path, process(10, thread(be("main_loop"), syscall="poll", for_ever=False, futex=None),
                                           thread(lock, be("left"), lock_owner=12, futex=1),
                                           thread(lock, be("right"), lock_owner=11, futex=2)))
    assert (diagnosis["verdict"], diagnosis["fault_type"]) == ("deadlock", "scheduling")
    assert "holds" in diagnosis["evidence"][0]["text"] and len(diagnosis["evidence"]) == 2


@pytest.mark.parametrize("third", [{"behaviour": "running", "cpu_share": 0.5, "syscall": ""}, {"syscall": "nanosleep"}])
def test_two_locks_are_no_deadlock_while_another_thread_may_release_them(tmp_path: Path, third: dict) -> None:
    lock = be("lock_PyThread_acquire_lock", "libpython3.11.so")
    diagnosis = diagnose(tmp_path, process(10, thread(lock, fe("a"), futex=1), thread(lock, fe("b"), futex=2),
                                           thread(fe("c"), **third)))
    assert diagnosis["verdict"] != "deadlock"


def test_idle_workers_of_a_pool_are_no_deadlock(tmp_path: Path) -> None:
    lock = be("lock_PyThread_acquire_lock", "libpython3.11.so")
    idle = lock, fe("_worker", LIB + "concurrent/futures/thread.py", 81), fe("run", LIB + "threading.py")
    select = fe("select", LIB + "selectors.py"), fe("_run_once", LIB + "asyncio/base_events.py"), fe("serve")
    diagnosis = diagnose(tmp_path, process(10, thread(*select, syscall="epoll_wait", for_ever=False), thread(*idle, futex=1),
                                           thread(*idle, futex=2)))
    assert (diagnosis["verdict"], diagnosis["abnormal"]) == ("waiting", False)


def test_a_kv_transfer(tmp_path: Path) -> None:
    stack = fe("wait_for_layer_load", "/venv/lib/python3.12/site-packages/vllm/distributed/kv_transfer/x.py"), fe("serve")
    diagnosis = diagnose(tmp_path, process(10, thread(*stack)))
    assert (diagnosis["verdict"], diagnosis["fault_type"]) == ("kv_transfer", "communication")


def test_a_gpu_that_does_not_finish(tmp_path: Path) -> None:
    stack = be("ioctl"), be("cuEventSynchronize", "libcuda.so"), fe("synchronize", TORCH + "cuda/streams.py"), fe("step")
    diagnosis = diagnose(tmp_path, process(10, thread(*stack, behaviour="spinning", syscall="")))
    assert (diagnosis["verdict"], diagnosis["fault_type"]) == ("gpu_sync", "cuda_kernel")


def test_a_thread_that_keeps_the_gil(tmp_path: Path) -> None:
    diagnosis = diagnose(tmp_path, process(10, thread(be("read"), be("extension_read"), fe("parse"), owns_gil=True, syscall="read",
                                                      for_ever=False),
                                           thread(fe("serve"), behaviour="polling", for_ever=False)))
    assert (diagnosis["verdict"], diagnosis["fault_type"]) == ("gil_held", "scheduling")
    assert diagnosis["evidence"][0]["locator"]["tid"] == 10


@pytest.mark.parametrize("behaviour, name", [("disk", "disk"), ("stopped", "stopped")])
def test_uninterruptible_and_stopped(tmp_path: Path, behaviour: str, name: str) -> None:
    diagnosis = diagnose(tmp_path, process(10, thread(fe("save"), behaviour=behaviour)))
    assert (diagnosis["verdict"], diagnosis["culprit_pids"]) == (name, [10])


def test_nobody_is_left_only_where_everybody_was_seen(tmp_path: Path) -> None:
    get = fe("get", LIB + "queue.py"), fe("main")
    assert diagnose(tmp_path, process(10, thread(*get)))["verdict"] == "nobody_goes_on"
    accept = fe("accept", LIB + "socket.py"), fe("serve")
    listening = process(11, thread(*accept, syscall="accept", for_ever=False))
    assert diagnose(tmp_path, process(10, thread(*get)), listening)["abnormal"] is False
    assert diagnose(tmp_path, process(10, thread(*get)), process(11, thread()))["abnormal"] is False


def test_a_dead_child_of_a_working_parent_is_no_fault(tmp_path: Path) -> None:
    dead = {"pid": 20, "ppid": 10, "role": "descendant", "state": "Z", "exit": 0, "threads": []}
    diagnosis = diagnose(tmp_path, process(10, thread(fe("work"), behaviour="running", cpu_share=0.8, syscall="")), dead)
    assert (diagnosis["verdict"], diagnosis["abnormal"]) == ("healthy", False)


def test_nothing_seen_is_not_healthy(tmp_path: Path) -> None:
    diagnosis = diagnose(tmp_path, process(10))
    assert (diagnosis["verdict"], diagnosis["abnormal"]) == ("unseen", False)


@pytest.mark.parametrize("content", ['{"format": "teller.snapshot", "version": 1, "processes": 7}', "{}", "[" * 5000, ""])
def test_what_is_no_snapshot_is_refused(tmp_path: Path, content: str) -> None:
    diagnose(tmp_path, process(10))
    (tmp_path / "run" / "snapshot.json").write_text(content)
    expect_one_line(run_teller("diagnose", tmp_path / "run"), 4, says="it holds something else")


def test_fields_of_other_types_are_survived(tmp_path: Path) -> None:
    strange = {"pid": "x", "ppid": None, "state": 3, "threads": [7, {"stack": [3, {"function": None}], "tid": {}}], "rank": -4}
    assert diagnose(tmp_path, strange, process(10, thread(fe("a", line=-1))))["format"] == "teller.diagnosis"
