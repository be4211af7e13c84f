"""`teller snapshot` on real processes that hang, work, or are not to be looked at."""
from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Iterator

import pytest
from conftest import as_nobody, expect_one_line, needs_root, run_teller, teller_binary
from trace_support import PYTHON, lines, manifest

PYSPY = next((p for p in (Path(PYTHON).parent / "py-spy", Path(shutil.which("py-spy") or "/nowhere")) if p.exists()), None)
needs_pyspy = pytest.mark.skipif(PYSPY is None, reason="py-spy is not installed: pip install py-spy")

DEADLOCK = """
import threading, time
first, second = threading.Lock(), threading.Lock()
both = threading.Barrier(2)
def take(one, other):
    with one:
        both.wait()
        with other:
            pass
threads = [threading.Thread(target=take, args=pair) for pair in ((first, second), (second, first))]
for thread in threads: thread.start()
print('ready', flush=True)
for thread in threads: thread.join()
"""
QUEUE = """
import multiprocessing
queue = multiprocessing.Queue()
def consume():
    print('ready', flush=True)
    queue.get()
consume()
"""
SPIN = """
def turn():
    while True:
        pass
print('ready', flush=True)
turn()
"""
HEALTHY = """
import sys, time
def short():
    return sum(range(200000))
def long():
    return sorted(str(i) for i in range(100000))
def rest():
    time.sleep(0.02)
print('ready', flush=True)
count = 0
while True:
    short(); long(); rest()
    count += 1
"""
GIL = """
import ctypes, threading
begun = threading.Event()
def hold():
    begun.set()
    ctypes.PyDLL(None).sleep(600)
thread = threading.Thread(target=hold)
print('ready', flush=True)
thread.start()
begun.wait()
"""
ZOMBIE = """
import os, signal, multiprocessing, time
reader, writer = multiprocessing.Pipe(False)
child = os.fork()
if child == 0:
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(0.2)
print('ready', flush=True)
reader.recv()
"""
SLEEPER = "import time\nprint('ready', flush=True)\ntime.sleep(600)\n"


@contextlib.contextmanager
def running(*command: object, **options: object) -> Iterator[subprocess.Popen]:
    """A process that has said "ready"; it is killed at the end, whatever became of it."""
    options.setdefault("stdout", subprocess.PIPE)
    process = subprocess.Popen([*map(str, command)], text=True, start_new_session=True, **options)
    try:
        if process.stdout is not None:
            assert process.stdout.readline().strip() == "ready"
        time.sleep(0.5)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def environment(with_pyspy: bool = True) -> dict:
    """PATH with py-spy, or without."""
    folders = [f for f in os.environ["PATH"].split(":") if not Path(f, "py-spy").exists()]
    if with_pyspy and PYSPY is not None:
        folders.insert(0, str(PYSPY.parent))
    return {**os.environ, "PATH": ":".join(folders)}


def snapshot(run: Path, *pids: object, with_pyspy: bool = True) -> dict:
    """Takes a snapshot; the diagnosis."""
    done = run_teller("snapshot", "-o", run, "--json", *pids, env=environment(with_pyspy))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["diagnosis"]


def process_of(diagnosis: dict, pid: int) -> dict:
    """What the diagnosis says of one process."""
    return next(p for p in diagnosis["processes"] if p["pid"] == pid)


def document(run: Path) -> dict:
    """snapshot.json."""
    return json.loads((run / "snapshot.json").read_text())


@needs_pyspy
@pytest.mark.parametrize("options", [(), ("--pause",)])
def test_two_threads_that_hold_each_others_lock(tmp_path: Path, options: tuple) -> None:
    run = tmp_path / "run"
    with running(PYTHON, "-c", DEADLOCK) as process:
        diagnosis = snapshot(run, *options, process.pid)
    assert (diagnosis["verdict"], diagnosis["fault_type"]) == ("deadlock", "scheduling"), diagnosis
    assert diagnosis["culprit_pids"] == [process.pid]
    places = {evidence["locator"]["line"] for evidence in diagnosis["evidence"]}
    assert places == {8}
    assert len({evidence["locator"]["tid"] for evidence in diagnosis["evidence"]}) == 2
    assert diagnosis["method"] == "snapshot"


@needs_pyspy
def test_the_run_is_a_run_like_others(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with running(PYTHON, "-c", DEADLOCK) as process:
        snapshot(run, process.pid)
    assert manifest(run)["made_by"] == "snapshot"
    for command in ("reconstruct", "verify", "report", "dump", "stats"):
        done = run_teller(command, run)
        assert done.returncode == 0, (command, done.stderr)
    shown = run_teller("report", run).stdout
    assert "threading.py: Thread.join" in shown and "deadlock" in shown
    names = {(e["name"], e.get("end")) for e in (json.loads(line) for line in run_teller("dump", run, "events", "--json").stdout.splitlines())
             if "name" in e}
    assert any(name.endswith(": take") for name, _ in names)
    assert lines(run, "processes.jsonl")[0]["pid"] == process.pid
    again = run_teller("diagnose", run, "--json")
    assert json.loads(again.stdout)["verdict"] == "deadlock"
    assert again.stdout == run_teller("diagnose", run, "--json").stdout
    assert run_teller("diagnose", run, "--fail-on-fault").returncode == 10
    assert run_teller("verify", run).returncode == 0


@needs_pyspy
def test_a_queue_that_nobody_fills(tmp_path: Path) -> None:
    with running(PYTHON, "-c", QUEUE) as process:
        diagnosis = snapshot(tmp_path / "run", process.pid)
    assert process_of(diagnosis, process.pid)["waits_for"] == "queue"
    assert (diagnosis["verdict"], diagnosis["fault_type"]) == ("nobody_goes_on", "scheduling")
    assert diagnosis["evidence"][0]["locator"]["name"].endswith(": consume")


@needs_pyspy
def test_a_thread_that_keeps_the_gil(tmp_path: Path) -> None:
    with running(PYTHON, "-c", GIL) as process:
        diagnosis = snapshot(tmp_path / "run", process.pid)
    assert (diagnosis["verdict"], diagnosis["culprit_pids"]) == ("gil_held", [process.pid]), diagnosis["explanation"]
    assert diagnosis["evidence"][0]["locator"]["name"].endswith(": hold")


@needs_pyspy
def test_a_busy_loop_is_told_and_no_fault(tmp_path: Path) -> None:
    with running(PYTHON, "-c", SPIN) as process:
        diagnosis = snapshot(tmp_path / "run", process.pid)
    own = process_of(diagnosis, process.pid)
    assert (own["waits_for"], own["behaviour"]) in {("running", "spinning"), ("running", "running")}
    if own["behaviour"] == "spinning":  # it got its processor on this machine
        assert diagnosis["verdict"] == "spinning"
        assert diagnosis["evidence"][0]["locator"]["name"].endswith(": turn")
    assert diagnosis["abnormal"] is False


@needs_pyspy
def test_a_working_process_is_healthy(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with running(PYTHON, "-c", HEALTHY) as process:
        done = run_teller("snapshot", "-o", run, "--json", "--samples", 6, "--interval", 170, process.pid,
                          env=environment())
    diagnosis = json.loads(done.stdout)["diagnosis"]
    assert (diagnosis["verdict"], diagnosis["abnormal"]) == ("healthy", False), diagnosis["explanation"]
    assert diagnosis["culprit_pids"] == [] and diagnosis["operators"] == []
    assert run_teller("diagnose", run, "--fail-on-fault").returncode == 0


def test_ctrl_c_keeps_what_there_is(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with running(PYTHON, "-c", DEADLOCK) as process:
        command = [teller_binary(), "snapshot", "-o", run, "--json", "--samples", "50", "--interval", "5000", "--duration", "600", str(process.pid)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as taking:
            end = time.monotonic() + 30
            while not (run / "manifest.json").exists() and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(2)
            taking.send_signal(signal.SIGINT)
            output = taking.communicate(timeout=60)[0]
    assert taking.returncode == 130
    assert any(gap["part"] == "samples" and "before it was stopped" in gap["reason"] for gap in json.loads(output)["gaps"])
    assert manifest(run)["state"] == "sealed" and run_teller("verify", run).returncode == 0


def test_a_dead_child_for_which_its_parent_waits(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with running(PYTHON, "-c", ZOMBIE) as process:
        diagnosis = snapshot(run, process.pid)
    dead = next(p for p in diagnosis["processes"] if p["pid"] != process.pid)
    assert (dead["waits_for"], dead["state"]) == ("dead", "Z")
    assert diagnosis["verdict"] == "process_gone" and diagnosis["culprit_pids"] == [dead["pid"]]
    assert next(p for p in document(run)["processes"] if p["pid"] == dead["pid"])["signal"] == signal.SIGKILL
    assert "signal 9" in diagnosis["explanation"]


def rank_command(rank: int, port: int, program: str) -> tuple[list, dict]:
    """Command and environment of one rank, as torchrun gives them."""
    names = {"RANK": rank, "WORLD_SIZE": 3, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": 3, "MASTER_ADDR": "127.0.0.1",
             "MASTER_PORT": port, "OMP_NUM_THREADS": 1}
    return [PYTHON, "-c", program], {**os.environ, **{k: str(v) for k, v in names.items()}}


RANKS = """
import os, sys, time, torch, torch.distributed as dist
class Data(torch.utils.data.Dataset):
    def __len__(self): return 100
    def __getitem__(self, i):
        if i == 3 and dist.get_rank() == 1:
            PLACE
        return torch.ones(4)
dist.init_process_group('gloo')
loader = torch.utils.data.DataLoader(Data(), batch_size=1)
for step, batch in enumerate(loader):
    if step == 3 and dist.get_rank() != 1: print('ready', flush=True)
    dist.all_reduce(batch)
"""


@contextlib.contextmanager
def three_ranks(place: str) -> Iterator[list]:
    """Three ranks over gloo; ranks 0 and 2 have come to the third step, rank 1 does not get there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = []
    try:
        for rank in range(3):
            command, env = rank_command(rank, port, RANKS.replace("PLACE", place))
            ranks.append(subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                          start_new_session=True))
        for rank in (0, 2):
            assert ranks[rank].stdout.readline().strip() == "ready"
        time.sleep(1)
        yield ranks
    finally:
        for rank in ranks:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(rank.pid, signal.SIGKILL)
            rank.wait()


def has_torch() -> bool:
    """Whether the tests' Python has PyTorch."""
    return subprocess.run([PYTHON, "-c", "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)"],
                          check=False).returncode == 0


needs_torch = pytest.mark.skipif(not has_torch(), reason="PyTorch is not installed")


@needs_torch
@needs_pyspy
def test_the_rank_that_sleeps_while_others_wait_for_it(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with three_ranks("time.sleep(600)") as ranks:
        diagnosis = snapshot(run, ranks[0].pid)  # the others are found by their environment
        assert [rank.poll() for rank in ranks] == [None, None, None]
    assert {p["pid"] for p in diagnosis["processes"]} >= {rank.pid for rank in ranks}
    assert diagnosis["verdict"] == "rank_elsewhere" and diagnosis["fault_type"] == "scheduling"
    assert diagnosis["culprit_ranks"] == [1], diagnosis["explanation"]
    first = diagnosis["evidence"][0]
    assert first["locator"]["rank"] == 1 and first["locator"]["name"].endswith("Data.__getitem__")
    assert process_of(diagnosis, ranks[1].pid)["waits_for"] == "sleep"
    for rank in (0, 2):
        assert process_of(diagnosis, ranks[rank].pid)["waits_for"] == "collective"
    assert "all_reduce" in diagnosis["explanation"]
    assert run_teller("reconstruct", run).returncode == 0


SPAWNED = """
import multiprocessing, os, time, torch, torch.distributed as dist
def work(rank, port, arrived):
    if KNOWN: os.environ.update(RANK=str(rank), WORLD_SIZE='3', LOCAL_WORLD_SIZE='3', MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port))
    store = dist.TCPStore('127.0.0.1', port, 3, rank == 0)
    dist.init_process_group('gloo', store=store, rank=rank, world_size=3)
    dist.all_reduce(torch.ones(4))
    arrived.put(rank)
    if rank == 2: wait()
    dist.all_reduce(torch.ones(4))
def wait(): time.sleep(600)
if __name__ == '__main__':
    context = multiprocessing.get_context('spawn')
    arrived = context.Queue()
    ranks = [context.Process(target=work, args=(rank, PORT, arrived)) for rank in range(3)]
    for rank in ranks: rank.start()
    for rank in ranks: arrived.get()
    print('ready', flush=True)
    for rank in ranks: rank.join()
"""


@needs_torch
@needs_pyspy
@pytest.mark.parametrize("known", [True, False])
def test_workers_that_multiprocessing_made(tmp_path: Path, known: bool) -> None:
    program = tmp_path / "job.py"
    program.write_text(SPAWNED.replace("KNOWN", str(known)).replace("PORT", str(free_port())))
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    with running(PYTHON, program, env=env) as process:
        time.sleep(1)
        diagnosis = snapshot(tmp_path / "run", process.pid)
    assert (diagnosis["verdict"], diagnosis["fault_type"]) == ("rank_elsewhere", "scheduling"), diagnosis["explanation"]
    assert diagnosis["evidence"][0]["locator"]["name"] == "job.py: wait"
    assert len(diagnosis["culprit_pids"]) == 1
    libdw = not any("without libdw" in g["reason"] for g in document(tmp_path / "run")["gaps"])
    assert diagnosis["culprit_ranks"] == ([2] if known and libdw else [])


@needs_torch
@needs_pyspy
def test_a_rank_that_is_stopped(tmp_path: Path) -> None:
    with three_ranks("time.sleep(600)") as ranks:
        os.kill(ranks[1].pid, signal.SIGSTOP)
        diagnosis = snapshot(tmp_path / "run", ranks[0].pid)
        state = Path(f"/proc/{ranks[1].pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    assert diagnosis["culprit_ranks"] == [1]
    assert process_of(diagnosis, ranks[1].pid)["waits_for"] == "stopped"
    assert state == "T"  # as it was before


def test_a_process_that_does_not_exist(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    done = run_teller("snapshot", "-o", tmp_path / "run", ended.pid)
    expect_one_line(done, 3, says=f"taking a snapshot of process {ended.pid}: there is no such process")
    assert not (tmp_path / "run").exists()


def test_options_that_make_no_sense(tmp_path: Path) -> None:
    expect_one_line(run_teller("snapshot", "--samples", 1, os.getpid(), "-o", tmp_path / "a"), 2, says="--samples")
    expect_one_line(run_teller("snapshot", "--interval", 0, os.getpid(), "-o", tmp_path / "b"), 2, says="--interval")
    expect_one_line(run_teller("snapshot", "-o", tmp_path / "c"), 2, says="PID")
    expect_one_line(run_teller("snapshot", "-o", tmp_path / "d", 0), 2, says="0 is no process id")


@needs_root
def test_another_users_process_is_seen_from_outside_only(open_tmp: Path) -> None:
    folder = open_tmp / "nobody"
    folder.mkdir()
    os.chmod(folder, 0o777)
    with running(sys.executable, "-c", SLEEPER) as process:
        done = as_nobody("snapshot", "--json", "-o", folder / "run", process.pid)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    gap = next(g for g in result["gaps"] if g["reason"] == "not permitted")
    assert gap["pid"] == process.pid and "root" in gap["hint"]
    seen = document(folder / "run")["processes"][0]
    assert seen["state"] == "S" and seen["files"] == [] and seen["threads"][0]["behaviour"] == "stuck"
    assert result["diagnosis"]["abnormal"] is False


def test_secrets_stay_where_they_are(tmp_path: Path) -> None:
    secrets = ["s3cr3t-argument", "hunter2hunter2", "hf_abcdefghijklmnop", "environment-s3cr3t", "logged-s3cr3t",
               "url-s3cr3t"]
    program = SLEEPER.replace("time.sleep", "print('password=logged-s3cr3t', flush=True)\ntime.sleep")
    log = tmp_path / "server.log"
    with log.open("w") as out:
        env = {**os.environ, "SERVICE_TOKEN": "environment-s3cr3t"}
        command = [PYTHON, "-c", program, "--api-key", "s3cr3t-argument", "--db-password=hunter2hunter2", "hf_abcdefghijklmnop",
                   "http://me:url-s3cr3t@host/", "--max-tokens", "77", "--tokenizer", "kept"]
        process = subprocess.Popen(command, stdout=out, env=env, start_new_session=True)
        try:
            time.sleep(1)
            snapshot(tmp_path / "run", process.pid)
        finally:
            process.kill()
            process.wait()
    written = b"".join(p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file()).decode("utf-8", "replace")
    for secret in secrets:
        assert secret not in written, secret
    argv = lines(tmp_path / "run", "processes.jsonl")[0]["argv"]
    assert argv[-4:] == ["--max-tokens", "77", "--tokenizer", "kept"]
    logged = [line["text"] for line in lines(tmp_path / "run") if line["stream"].endswith("server.log")]
    assert logged == ["ready", "password=<redacted:password>"]


def test_the_process_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    program = "import sys, time\nprint('ready', flush=True)\nfor i in range(60):\n    print(i, flush=True); time.sleep(0.1)\nsys.exit(7)\n"
    written = tmp_path / "output"
    with written.open("w") as out:
        process = subprocess.Popen([PYTHON, "-c", program], stdout=out, stderr=out, text=True)
        while not written.read_text():
            time.sleep(0.05)
        for options in ((), ("--pause",)):
            done = run_teller("snapshot", "-o", tmp_path / f"run{len(options)}", "--interval", 50, *options, process.pid,
                              env=environment())
            assert done.returncode == 0, done.stderr
            state = Path(f"/proc/{process.pid}/status").read_text()
            assert "TracerPid:\t0" in state and "State:\tT" not in state
        assert process.wait(timeout=60) == 7
    assert written.read_text() == "ready\n" + "".join(f"{i}\n" for i in range(60))


def test_without_pyspy_the_rest_is_there(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with running(PYTHON, "-c", DEADLOCK) as process:
        diagnosis = snapshot(run, process.pid, with_pyspy=False)
    gaps = document(run)["gaps"]
    assert any(g["part"] == "Python stacks" and "py-spy" in g["reason"] and "pip install" in g["hint"] for g in gaps)
    threads = document(run)["processes"][0]["threads"]
    assert [t["behaviour"] for t in threads] == ["stuck"] * 3
    assert all(t["syscall"] == "futex" for t in threads) or os.getuid() != 0
    assert diagnosis["coverage"]["gaps"] == len(gaps)


def test_job_members_by_environment_and_by_descent(tmp_path: Path) -> None:
    env = {**os.environ, "RANK": "0", "MASTER_ADDR": "10.1.2.3", "MASTER_PORT": "29777"}
    spawn = "import subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n" + SLEEPER
    with running(PYTHON, "-c", spawn, env=env) as one, running(PYTHON, "-c", SLEEPER, env={**env, "RANK": "1"}) as two, \
            running(PYTHON, "-c", SLEEPER, env={**env, "MASTER_PORT": "29778"}) as stranger:
        full = document_of(tmp_path / "full", one.pid)
        alone = document_of(tmp_path / "alone", "--no-job", "--no-children", one.pid)
    roles = {p["pid"]: p["role"] for p in full["processes"]}
    assert roles.pop(one.pid) == "asked" and roles.pop(two.pid) == "job"
    assert list(roles.values()) == ["descendant"] and stranger.pid not in roles
    assert [p["pid"] for p in alone["processes"]] == [one.pid]


def document_of(run: Path, *arguments: object) -> dict:
    """Takes a snapshot; snapshot.json."""
    done = run_teller("snapshot", "-o", run, "--interval", 20, *arguments, env=environment())
    assert done.returncode == 0, done.stderr
    return document(run)


def test_sockets_with_peers_and_queues(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        program = f"import socket\ns = socket.create_connection(('127.0.0.1', {port}))\nprint('ready', flush=True)\ns.recv(1)\n"
        with running(PYTHON, "-c", program) as process:
            peer, _ = server.accept()
            seen = document_of(tmp_path / "run", process.pid)["processes"][0]
            peer.close()
    mine = next(s for s in seen["sockets"] if s["peer"] == f"127.0.0.1:{port}")
    assert mine["state"] == "ESTABLISHED" and mine["receive_queue_bytes"] == 0
    main = next(t for t in seen["threads"] if t["tid"] == seen["pid"])
    assert main["syscall"] == "recv" and main["waits_on"]["peer"] == f"127.0.0.1:{port}"


RAS_TEXT = "NCCL version 2.26.2\nJob summary\n  auth_token=ras-s3cr3t\n"
RAS_SERVER = f"""
import socket, sys
server = socket.create_server(('127.0.0.1', int(sys.argv[1])))
print('ready', flush=True)
while True:
    link, _ = server.accept()
    stream = link.makefile('rw')
    assert stream.readline() == 'CLIENT PROTOCOL 2\\n'
    stream.write('SERVER PROTOCOL 2\\n'); stream.flush()
    assert stream.readline().startswith('TIMEOUT ')
    stream.write('OK\\n'); stream.flush()
    assert stream.readline() == 'VERBOSE STATUS\\n'
    stream.write({RAS_TEXT!r}); stream.close(); link.close()
"""


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_nccl_ras_is_asked_where_the_job_offers_it(tmp_path: Path) -> None:
    port = free_port()
    env = {**os.environ, "NCCL_RAS_ADDR": f"localhost:{port}", "RANK": "0"}
    with running(PYTHON, "-c", RAS_SERVER, port, env=env) as process:
        ras = document_of(tmp_path / "run", process.pid)["nccl_ras"]
    assert ras["pid"] == process.pid and "Job summary" in ras["text"] and "ras-s3cr3t" not in ras["text"]
    silent = "import socket, sys, time\ns = socket.create_server(('127.0.0.1', int(sys.argv[1])))\nprint('ready', flush=True)\ntime.sleep(600)\n"
    with running(PYTHON, "-c", silent, port, env=env) as process:
        seen = document_of(tmp_path / "silent", process.pid)
    assert seen["nccl_ras"] is None and any(g["part"] == "NCCL RAS" for g in seen["gaps"])


def test_flight_recorder_dumps_are_copied_and_asked_for(tmp_path: Path) -> None:
    prefix = str(tmp_path / "trace_")
    env = {**os.environ, "RANK": "5", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": prefix, "TORCH_NCCL_DEBUG_INFO_PIPE_FILE": prefix}
    os.mkfifo(prefix + "5.pipe")
    with running(PYTHON, "-c", SLEEPER, env=env) as process:
        asked = []
        reader = threading.Thread(target=lambda: asked.append(open(prefix + "5.pipe").readline()))
        reader.start()
        Path(prefix + "5").write_bytes(b"not a pickle, and never read as one")
        seen = document_of(tmp_path / "run", "--trigger-dump", process.pid)
        reader.join(timeout=30)
        assert asked == ["1\n"]
        os.utime(prefix + "5", (1, 1))
        old = document_of(tmp_path / "old", process.pid)
    record = seen["flight_records"][0]
    assert (tmp_path / "run" / record["file"]).read_bytes().startswith(b"not a pickle")
    assert old["flight_records"] == [] and any("older" in g["reason"] for g in old["gaps"])
    assert run_teller("verify", tmp_path / "run").returncode == 0
    assert run_teller("dump", tmp_path / "run").returncode == 0


def test_gpus_as_nvidia_smi_shows_them(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\ncase $1 in *compute-apps*) echo '4211, 1024, 00000000:01:00.0' ;;\n"
                    "*) echo '0, NVIDIA H100, 100, 70000, 81559, 60, 300.0, 1980, P0, 0x0' ;; esac\n")
    tool.chmod(0o755)
    env = environment()
    env["PATH"] = f"{tool.parent}:{env['PATH']}"
    with running(PYTHON, "-c", SLEEPER) as process:
        done = run_teller("snapshot", "-o", tmp_path / "run", "--interval", 20, process.pid, env=env)
    assert done.returncode == 0, done.stderr
    gpu = document(tmp_path / "run")["gpu"]
    assert gpu["devices"][0]["utilization.gpu"] == "100" and gpu["processes"][0]["pid"] == "4211"


def test_a_damaged_snapshot_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with running(PYTHON, "-c", SLEEPER) as process:
        document_of(run, process.pid)
    (run / "snapshot.json").write_text("[1, 2")
    expect_one_line(run_teller("diagnose", run), 4, says="it holds something else")
    assert run_teller("verify", run).returncode == 4


def test_doctor_says_what_can_be_traced(tmp_path: Path) -> None:
    done = run_teller("doctor", "--json", cwd=tmp_path)
    report = json.loads(done.stdout)
    checks = {c["name"]: c for c in report["checks"]}
    assert done.returncode == (0 if report["can_trace"] else 1)
    assert {c["status"] for c in report["checks"]} <= {"ok", "warning", "missing"}
    assert all(c["hint"] for c in report["checks"] if c["status"] == "missing")
    assert checks["memfd_create"]["status"] == "ok"
    assert checks["Python hooks"]["status"] == "ok", checks["Python hooks"]
    if checks["collector library"]["status"] == "ok":
        assert checks["small trace"]["detail"].endswith("16 events")
    text = run_teller("doctor", cwd=tmp_path)
    assert len(text.stdout.splitlines()) > len(report["checks"])


def test_doctor_needs_no_tmpdir(tmp_path: Path) -> None:
    done = run_teller("doctor", "--json", cwd=tmp_path, env={**os.environ, "TMPDIR": "/nonexistent"})
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["small trace"]["status"] == "ok", checks["small trace"]


def test_doctor_says_that_a_python_is_too_old_for_the_hooks(tmp_path: Path) -> None:
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\necho 3.9 0\n")
    python.chmod(0o755)
    done = run_teller("doctor", "--json", cwd=tmp_path, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    hooks = next(c for c in json.loads(done.stdout)["checks"] if c["name"] == "Python hooks")
    assert hooks["status"] == "warning" and "too old" in hooks["detail"] and "Python 3.9 or newer" in hooks["hint"]


def test_doctor_finds_a_limit_that_would_stop_recording(tmp_path: Path) -> None:
    command = f"ulimit -f 1000; exec {os.environ.get('TELLER_BIN', run_teller.__globals__['teller_binary']())} doctor"
    done = subprocess.run(["sh", "-c", command], text=True, capture_output=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 1
    assert any(line.startswith("missing") and "ulimit -f" in line for line in done.stdout.splitlines())
    done = subprocess.run(["sh", "-c", command.replace("-f 1000", "-v 600000")], text=True, capture_output=True, cwd=tmp_path, timeout=120)
    assert "each traced process maps 296 MiB" in done.stdout
    assert "Tracing cannot work here" in done.stdout
