"""teller trace --last: what is kept, what triggers, and what is written."""
from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Callable, Iterator

import pytest
from conftest import expect_one_line, run_teller, teller_binary
from trace_support import PYTHON, dumped, events, lines, manifest, needs_target, sources, trace

pytestmark = needs_target

ENGINE = '''
import time
class Engine:
    def step(self, seconds):
        time.sleep(seconds)
    def run(self):
        pass
'''
# Does what its stdin says, one command a line, and answers each with a line.
SERVER = '''
import subprocess, sys, time
import engine
e = engine.Engine()
for line in sys.stdin:
    word, *rest = line.split(None, 1)
    rest = rest[0].strip() if rest else ""
    if word == "steps":
        for _ in range(int(rest)):
            e.step(0.001)
    elif word == "slow":
        e.step(float(rest))
    elif word == "ranges":
        for _ in range(int(rest)):
            e.run()
    elif word == "child":
        subprocess.run([sys.executable, "-c", "import engine; engine.Engine().run()"], check=True)
    elif word == "say":
        print(rest, flush=True)
    elif word == "die":
        import os
        os.kill(os.getpid(), 9)
    print("did", word, flush=True)
print("bye", flush=True)
'''
HOOKS = {"format": "teller.hooks", "version": 1, "stack": "test", "targets": [
    {"module": "engine", "object": "Engine.step", "layer": "STEP", "range": "engine step", "role": "step"},
    {"module": "engine", "object": "Engine.run", "layer": "FE", "range": "run"}]}


class Server:
    """A traced program that the test talks to."""

    def __init__(self, folder: Path, *options: object, run: Path | None = None) -> None:
        (folder / "engine.py").write_text(ENGINE)
        (folder / "server.py").write_text(SERVER)
        (folder / "hooks.json").write_text(json.dumps(HOOKS))
        self.run = run or folder / "run"
        command = [teller_binary(), "trace", "-o", self.run, "--hooks", folder / "hooks.json", *options, "--", PYTHON,
                   folder / "server.py"]
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, cwd=folder)
        self.said: list = []

    def tell(self, command: str) -> None:
        """Has the program do it, and waits until it has."""
        self.begin(command)
        while self.process.poll() is None:
            line = self.process.stdout.readline()
            self.said.append(line)
            if line.startswith("did "):
                return

    def begin(self, command: str) -> None:
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def end(self) -> str:
        """Ends the program; what teller said."""
        out, err = self.process.communicate(timeout=60)
        self.said += out.splitlines(keepends=True)
        return err

    def manifest(self) -> dict:
        return manifest(self.run)

    def triggers(self) -> list:
        return self.manifest()["triggers"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers, and ends those that the test has left running."""
    started = []

    def start(*options: object, **more: object) -> Server:
        started.append(Server(tmp_path, *options, **more))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


def until(condition: Callable[[], object], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def sealed_and_whole(run: Path) -> None:
    assert manifest(run)["state"] == "sealed"
    assert run_teller("verify", run).returncode == 0
    assert run_teller("reconstruct", run).returncode == 0


def span_s(run: Path) -> float:
    times = [e["begin"] for e in events(run, "push", "pop")]
    return (max(times) - min(times)) / 1e9


def test_only_the_newest_is_written_at_the_end(server: Callable[..., Server]) -> None:
    one = server("--last", "1s")
    one.tell("say early")
    one.tell("child")
    for _ in range(15):
        one.tell("steps 100")
    one.tell("child")
    one.tell("say late")
    err = one.end()
    assert one.process.returncode == 0 and one.said[-1] == "bye\n"
    sealed_and_whole(one.run)
    texts = [line["text"] for line in lines(one.run)]
    assert "late" in texts and "bye" in texts and "early" not in texts
    assert 0.5 < span_s(one.run) < 2.5
    window = one.manifest()["window"]
    assert window["forgotten_records"] > 500 and window["cut_short_by_memory"] == 0
    counters = one.manifest()["counters"]
    assert counters["trace.events"] == len(events(one.run)) and counters["trace.log_lines"] == len(texts)
    assert one.manifest()["triggers"] == [] and "triggered" not in err
    # The child that ended long ago is not in the window, the other one is; both are known as processes.
    assert len(sources(one.run)) == 2 and len(lines(one.run, "processes.jsonl")) == 3
    assert sources(one.run)[-1]["hooks"]["installed"] == 2


def test_a_command_writes_a_run_of_its_own(server: Callable[..., Server]) -> None:
    one = server("--last", "30s")
    one.tell("steps 20")
    one.tell("say before")
    done = run_teller("trigger", one.run, "--reason", "looks\nodd", "--json")
    assert done.returncode == 0, done.stderr
    written = Path(json.loads(done.stdout)["run"])
    assert written == one.run / "triggers/0001-command"
    sealed_and_whole(written)
    assert len(events(written, "push")) == 20
    assert manifest(written)["trigger"]["kind"] == "command" and manifest(written)["trigger"]["detail"] == "looks\nodd"
    assert [line["text"] for line in lines(written)] == ["did steps", "before", "did say"]
    one.tell("say after")
    plain = run_teller("trigger", one.run)
    assert plain.stdout == f"{one.run}/triggers/0002-command\n"
    assert "after" in [line["text"] for line in lines(one.run / "triggers/0002-command")]
    err = one.end()
    assert "2 triggered windows" in err and "0001-command 0002-command" in err
    assert [t["run"] for t in one.triggers()] == ["triggers/0001-command", "triggers/0002-command"]
    assert "control" not in one.manifest()["trace"]
    assert run_teller("verify", one.run).returncode == 0
    again = run_teller("trigger", one.run)
    expect_one_line(again, 2, says="its recording has ended")
    assert "holds what was kept last" in again.stderr and "nothing needs to be triggered" not in again.stderr
    expect_one_line(run_teller("trigger", written), 2, says="it is a window that a trigger wrote")


def test_clients_that_say_nothing_keep_nobody_out(server: Callable[..., Server]) -> None:
    one = server("--last", "30s")
    one.tell("steps 1")
    control = one.manifest()["trace"]["control"]
    idle = []
    for _ in range(100):
        client = socket.socket(socket.AF_UNIX)
        until(lambda: client.connect_ex(control) == 0)  # EAGAIN: the recorder has not come by to take those before it
        idle.append(client)
    assert run_teller("trigger", one.run, timeout=30).returncode == 0
    for client in idle:
        client.close()


def test_a_signal_to_the_recorder_triggers(server: Callable[..., Server]) -> None:
    one = server("--last", "30s")
    one.tell("steps 3")
    os.kill(one.manifest()["trace"]["recorder"], signal.SIGUSR2)
    until(lambda: one.triggers())
    sealed_and_whole(one.run / one.triggers()[0]["run"])
    assert one.triggers()[0]["kind"] == "signal"


def test_a_log_line_triggers_once_in_a_window(server: Callable[..., Server]) -> None:
    one = server("--last", "30s", "--trigger-log", "never", "--trigger-log", r"CUDA error: .* \"illegal\"")
    one.tell('say CUDA error: an "legal" access')
    one.tell("steps 5")
    assert one.triggers() == []
    one.tell('say CUDA error: an "illegal" access')
    until(lambda: one.triggers())
    assert one.triggers()[0]["detail"] == 'CUDA error: an "illegal" access'
    one.tell('say CUDA error: an "illegal" access')
    one.tell("steps 5")
    err = one.end()
    assert len(one.triggers()) == 1 and "1 triggers left out" in err
    assert len(events(one.run / one.triggers()[0]["run"], "push")) == 5


def test_slow_and_stuck_steps_trigger(server: Callable[..., Server]) -> None:
    one = server("--last", "1s", "--trigger-slow-step", "50")
    one.tell("steps 60")
    one.tell("slow 0.4")
    until(lambda: one.triggers())
    assert one.triggers()[0]["kind"] == "slow-step" and "a step took" in one.triggers()[0]["detail"]
    one.tell("steps 60")
    time.sleep(1.2)  # no trigger comes by itself within a window after another
    one.begin("slow 30")
    until(lambda: len(one.triggers()) == 2)
    assert "a step has not ended after" in one.triggers()[1]["detail"]
    # The step's begin may be older than the window by now; it is there all the same.
    time.sleep(1.5)
    done = run_teller("trigger", one.run)
    stuck = Path(done.stdout.strip())
    assert [e["name"] for e in events(stuck, "push")] == ["engine step"]
    assert run_teller("reconstruct", stuck).returncode == 0
    assert "engine step" in run_teller("dump", stuck, "chains").stdout
    one.process.send_signal(signal.SIGTERM)
    one.end()
    assert one.process.returncode == -signal.SIGTERM


def test_the_oldest_triggered_window_makes_room(server: Callable[..., Server]) -> None:
    one = server("--last", "30s", "--keep", "2")
    one.tell("steps 1")
    for _ in range(4):
        assert run_teller("trigger", one.run).returncode == 0
    one.end()
    assert sorted(p.name for p in (one.run / "triggers").iterdir()) == ["0003-command", "0004-command"]
    assert [t["run"] for t in one.triggers()] == ["triggers/0003-command", "triggers/0004-command"]


def test_what_comes_after_a_trigger_is_waited_for(server: Callable[..., Server]) -> None:
    one = server("--last", "30s", "--after", "700ms", "--trigger-log", "^fatal$")
    one.tell("say fatal")
    one.tell("say the consequences")
    assert one.triggers() == []
    until(lambda: one.triggers())
    assert "the consequences" in [line["text"] for line in lines(one.run / one.triggers()[0]["run"])]


def test_a_killed_program_leaves_its_last_window(server: Callable[..., Server]) -> None:
    one = server("--last", "30s")
    one.tell("steps 10")
    one.tell("die")
    one.end()
    assert one.process.returncode == -signal.SIGKILL
    sealed_and_whole(one.run)
    assert len(events(one.run, "push")) == 10 and one.manifest()["target"]["signal"] == 9


def test_too_little_memory_makes_the_window_shorter_and_it_is_said(server: Callable[..., Server]) -> None:
    one = server("--last", "1h", "--window-memory", "1M")
    for _ in range(14):
        one.tell("ranges 4000")  # fewer events than a thread's ring holds, and time for the recorder to take them out
        time.sleep(0.1)
    err = one.end()
    assert "--window-memory was reached" in err
    assert one.manifest()["window"]["cut_short_by_memory"] > 0
    kept = len(events(one.run))
    lost = one.manifest()["window"]["forgotten_records"] + one.manifest()["counters"]["trace.events_dropped"]
    assert 1000 < kept and kept + lost >= 100000
    sealed_and_whole(one.run)


def test_a_full_disk_costs_one_window_not_the_recording(server: Callable[..., Server], tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", disk], capture_output=True).returncode:
        pytest.skip("mounting a tmpfs is not allowed here")
    try:
        one = server("--last", "1h", run=disk / "run")
        one.tell("ranges 5000")
        (disk / "filler").write_bytes(b"x" * (2800 << 10))
        done = run_teller("trigger", one.run)
        expect_one_line(done, 6, says="No space left")
        one.tell("steps 5")
        (disk / "filler").unlink()
        assert run_teller("trigger", one.run).returncode == 0
        err = one.end()
        assert "the window could not be written" in err and "1 triggered window " in err
        assert [p.name for p in (one.run / "triggers").iterdir()] == ["0002-command"]
        assert one.process.returncode == 0 and one.said[-1] == "bye\n"
        sealed_and_whole(one.run)
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


def test_a_limit_of_time_writes_the_window(server: Callable[..., Server]) -> None:
    one = server("--last", "30s", "--duration", "1")
    one.tell("steps 10")
    until(lambda: len(list((one.run / "events").iterdir())) == 1)
    one.tell("steps 10")
    err = one.end()
    assert "--duration" in err and len(events(one.run, "push")) == 10


def test_wrong_requests_are_refused(tmp_path: Path) -> None:
    done = trace(tmp_path / "run", "/bin/true", options=("--last", "1s", "--trigger-log", "*"))
    assert done.returncode == 2 and b"not a regular expression" in done.stderr and b"RE2" in done.stderr
    assert not (tmp_path / "run").exists()
    own = trace(tmp_path / "run", "/bin/true", options=("--log", tmp_path / "run/*.jsonl"))
    assert own.returncode == 2 and b"follow the run's own files" in own.stderr
    assert b"is empty" in trace(tmp_path / "run", "/bin/true", options=("--log", "")).stderr
    for options in (("--last", "1e300"), ("--last", "1s", "--after", "1e12"), ("--last", "1s", "--trigger-slow-step", "nan"),
                    ("--last", "1s", "--window-memory", "-1"), ("--keep", "3"), ("--trigger-log", "x"), ("--last", "1fortnight"), ("--last", "-1s"), ("--last", "0")):
        assert trace(tmp_path / "run", "/bin/true", options=options).returncode == 2, options
    assert trace(tmp_path / "plain", "/bin/true").returncode == 0
    expect_one_line(run_teller("trigger", tmp_path / "plain"), 2, says="it was not recorded with --last")
    expect_one_line(run_teller("trigger", tmp_path), 3, 4)
    # A manifest that names a socket where nobody listens.
    data = manifest(tmp_path / "plain")
    data["trace"]["control"] = "/nowhere/control"
    (tmp_path / "plain/manifest.json").write_text(json.dumps(data))
    expect_one_line(run_teller("trigger", tmp_path / "plain"), 3, 6, says="recorder")


def test_a_stopped_service_leaves_its_window(server: Callable[..., Server]) -> None:
    """Who stops a service sends SIGTERM to all of its processes, the recorder among them."""
    one = server("--last", "30s")
    one.tell("steps 7")
    os.kill(one.manifest()["trace"]["recorder"], signal.SIGTERM)
    one.process.send_signal(signal.SIGTERM)
    one.end()
    assert one.process.returncode == -signal.SIGTERM
    sealed_and_whole(one.run)
    assert len(events(one.run, "push")) == 7


def test_a_recorder_that_was_killed_leaves_no_window_and_it_is_said(server: Callable[..., Server]) -> None:
    one = server("--last", "30s")
    one.tell("steps 7")
    os.kill(one.manifest()["trace"]["recorder"], signal.SIGKILL)
    one.tell("say on")
    err = one.end()
    assert one.process.returncode == 0 and "holds nothing but windows" in err


def test_a_run_that_is_being_recorded_is_not_replaced(server: Callable[..., Server], tmp_path: Path) -> None:
    one = server("--last", "30s")
    one.tell("steps 3")
    done = trace(one.run, "/bin/true", options=("--overwrite",))
    assert done.returncode == 125 and b"is recording it" in done.stderr
    one.end()
    sealed_and_whole(one.run)
    assert trace(one.run, "/bin/true", options=("--overwrite",)).returncode == 0


def test_any_length_of_the_temporary_folder_will_do(tmp_path: Path) -> None:
    for length in range(80, 92):
        place = str(tmp_path / ("x" * 200))[:length]
        if len(str(tmp_path)) >= length - 1:
            pytest.skip("the test's own folder has too long a name")
        os.makedirs(place, exist_ok=True)
        done = trace(tmp_path / f"run{length}", "/bin/echo", "ran", options=("--last", "5s"), env={**os.environ, "TMPDIR": place})
        assert done.returncode == 0 and done.stdout == b"ran\n", (length, done.stderr)


def test_the_path_that_trigger_prints_is_good_anywhere(tmp_path: Path, server: Callable[..., Server]) -> None:
    one = server("--last", "30s", run=Path("relative"))
    one.run = tmp_path / "relative"
    one.tell("steps 2")
    done = run_teller("trigger", one.run, "--reason", "password=s3cr3t-word", cwd="/")
    assert done.stdout == f"{one.run}/triggers/0001-command\n"
    one.end()
    assert not any(b"s3cr3t-word" in path.read_bytes() for path in one.run.rglob("*") if path.is_file())


def test_after_its_time_nobody_waits_for_the_recorder(server: Callable[..., Server]) -> None:
    one = server("--last", "30s", "--duration", "0.5")
    one.tell("steps 3")
    until(lambda: "control" not in one.manifest()["trace"])
    expect_one_line(run_teller("trigger", one.run, timeout=20), 2, says="its recording has ended")
    one.tell("steps 3")
    one.end()


def test_a_place_for_each_host_and_rank(tmp_path: Path) -> None:
    environment = {**os.environ, "SLURM_PROCID": "3", "SLURM_NTASKS": "4"}
    environment.pop("RANK", None)
    done = trace(tmp_path / "%h-%r-100%%", PYTHON, "-c", "import nvtx\nwith nvtx.annotate('x'): pass", env=environment)
    assert done.returncode == 0, done.stderr
    run = tmp_path / f"{os.uname().nodename}-3-100%"
    assert sources(run)[0]["rank"] == 3 and sources(run)[0]["world_size"] == 4
    assert dumped(run, "events")
