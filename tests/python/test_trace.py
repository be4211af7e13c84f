"""teller trace on programs that behave and programs that do not: what arrives, and that nothing is changed."""
from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import as_nobody, expect_one_line, needs_root, run_teller, teller_binary
from trace_support import (BUILD, FAIL_CALL, LIBRARY, PYTHON, TARGET, balanced, events, lines, manifest, needs_target, sources,
                           trace)


@needs_target
def test_only_the_doors_are_exported() -> None:
    text = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], text=True, capture_output=True, check=True).stdout
    names = {line.split()[-1] for line in text.splitlines()}
    assert names == {"InitializeInjection", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension",
                     "teller_hook_init", "teller_hook_push", "teller_hook_pop", "teller_hook_mark", "teller_hook_start",
                     "teller_hook_end", "teller_hook_note", "teller_hook_message", "teller_hook_push_message",
                     "teller_hook_start_message", "teller_hook_observe_torch"}
    needed = subprocess.run(["readelf", "-d", LIBRARY], text=True, capture_output=True, check=True).stdout
    libraries = [line.split("[")[1].rstrip("]") for line in needed.splitlines() if "NEEDED" in line]
    assert all(name.startswith(("libc.so", "ld-linux", "libdl", "libpthread")) for name in libraries), libraries


@needs_target
def test_ranges_of_a_c_program(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = trace(run, TARGET, "ranges", 5)
    assert done.returncode == 0, done.stderr
    pushes = events(run, "push")
    assert [e["name"] for e in pushes] == ["range", "inner"] * 5
    assert len(events(run, "pop")) == 10
    balanced(run)
    assert manifest(run)["state"] == "sealed"
    assert manifest(run)["trace"]["flush_period_ms"] == 250
    assert run_teller("verify", run).returncode in (0, 5)


@needs_target
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGABRT])
def test_a_killed_program_loses_nothing_and_it_is_said(tmp_path: Path, number: signal.Signals) -> None:
    run = tmp_path / "run"
    done = trace(run, TARGET, "die", int(number))
    assert done.returncode == -number
    assert done.stdout == b"before death\n"
    assert b"killed by signal %d" % number in done.stderr and b"250 ms" in done.stderr
    names = [e["name"] for e in events(run, "push")]
    assert names == ["before", "inner"] * 5 + ["open at death"]
    assert manifest(run)["target"]["signal"] == number
    assert [line["text"] for line in lines(run)] == ["before death"]


@needs_target
@pytest.mark.parametrize("code", [0, 3, 125, 255])
def test_exit_codes_pass(tmp_path: Path, code: int) -> None:
    run = tmp_path / "run"
    assert trace(run, TARGET, "_exit", code).returncode == code
    assert manifest(run)["target"]["exit_code"] == code
    assert len(events(run, "push")) == 10


@needs_target
def test_exec_begins_anew_in_the_same_process(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert trace(run, TARGET, "exec").returncode == 0
    names = [e["name"] for e in events(run, "push")]
    assert names.count("before exec") == 2 and names.count("range") == 3
    assert len({e["pid"] for e in events(run)}) == 1
    assert len(sources(run)) == 2


@needs_target
@pytest.mark.parametrize("how", ["fork", "rawfork"])
def test_fork_without_exec(tmp_path: Path, how: str) -> None:
    run = tmp_path / "run"
    assert trace(run, TARGET, how).returncode == 0
    pids = {e["pid"] for e in events(run, "push") if e["name"] == "child"}
    assert len(pids) == 1
    child = pids.pop()
    assert {e["name"] for e in events(run, "push") if e["pid"] != child} == {"parent", "inner"}
    kept = [e for e in events(run, "push") if e.get("domain") == "kept"]
    assert [e["name"] for e in kept] == ["registered before fork"] and kept[0]["pid"] == child
    processes = {p["pid"]: p for p in lines(run, "processes.jsonl")}
    assert processes[child]["ppid"] in processes and processes[child]["library"]
    balanced(run)


@needs_target
def test_many_threads(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert trace(run, TARGET, "threads", 200).returncode == 0
    pushes = events(run, "push")
    counters = manifest(run)["counters"]
    assert len(pushes) == 200 * 20 and len({e["tid"] for e in pushes}) == 200
    assert counters["trace.events_dropped"] == 0 and counters["trace.events_without_ring"] == 0
    balanced(run)


@needs_target
def test_a_storm_of_threads_reuses_rings(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert trace(run, TARGET, "storm", 2000).returncode == 0
    counters = manifest(run)["counters"]
    assert len(events(run, "push")) + counters["trace.ranges_dropped"] == 2000 * 20 or \
        counters["trace.events_without_ring"] > 0
    balanced(run)


# Fills half of a ring every 50 ms: who does not look for half a second loses events.
KNOCKING = """
import ctypes, os, socket, sys, time
def knock():
    guest = socket.socket(socket.AF_UNIX)
    guest.connect(os.environ["TELLER_SOCKET"])
    return guest
nvtx = ctypes.CDLL(sys.argv[1])
assert nvtx.teller_hook_init()
silent = [knock() for _ in range(5)]
end = time.monotonic() + 1.5
while time.monotonic() < end:
    for _ in range(1000):
        nvtx.teller_hook_push(2, b"work")
        nvtx.teller_hook_pop()
    time.sleep(0.02)
"""


@needs_target
def test_who_connects_and_says_nothing_keeps_nobody_waiting(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = trace(run, PYTHON, "-c", KNOCKING, LIBRARY, options=("--no-hooks",))
    assert done.returncode == 0, done.stderr
    counters = manifest(run)["counters"]
    assert counters["trace.processes_refused"] == 5 and counters["trace.events_dropped"] == 0
    assert b"5 processes that could not be taken over" in done.stderr


@needs_target
def test_a_full_ring_drops_whole_ranges_and_counts_them(tmp_path: Path) -> None:
    run = tmp_path / "run"
    pairs = 300_000
    done = trace(run, TARGET, "ranges", pairs)
    assert done.returncode == 0
    counters = manifest(run)["counters"]
    pushes, pops = len(events(run, "push")), len(events(run, "pop"))
    assert pushes + counters["trace.ranges_dropped"] == 2 * pairs
    # A pop may have found the ring full although its push was written: such a range is counted once, and stays open.
    assert pushes >= pops
    assert 4 * pairs == pushes + pops + counters["trace.events_dropped"]
    if counters["trace.events_dropped"]:
        assert b"dropped (ring full)" in done.stderr


@needs_target
def test_paced_events_are_not_dropped(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert trace(run, TARGET, "paced", 20000).returncode == 0
    assert manifest(run)["counters"]["trace.events_dropped"] == 0
    assert len(events(run, "push")) == 20000


@needs_target
def test_closed_descriptors_stay_the_programs(tmp_path: Path) -> None:
    run, report = tmp_path / "run", tmp_path / "first_fd"
    assert trace(run, TARGET, "closefds", report).returncode == 0
    assert report.read_text() == "0\n"
    assert len(events(run, "push")) == 8


@needs_target
def test_handles_that_are_not_ours_are_not_followed(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = trace(run, TARGET, "handles")
    assert done.returncode == subprocess.run([TARGET, "handles"]).returncode == 0
    invalid = [e for e in events(run, "push") if e.get("domain") == "(invalid domain handle)"]
    assert len(invalid) == 8 and not any(e.get("name") for e in invalid)
    default = [(e["record"], e.get("name")) for e in events(run, "push", "pop") if not e.get("domain")]
    assert default == [("push", "outer"), ("pop", None)]
    assert events(run, "mark")[-1]["name"] == "ours"


@needs_target
def test_registered_strings_beyond_the_definitions_keep_their_text(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert trace(run, TARGET, "strings", 400).returncode == 0
    assert [e["name"] for e in events(run, "mark")] == ["the last one"]
    assert manifest(run)["counters"]["trace.definitions_lost"] > 0


@needs_target
def test_ranges_across_threads_wide_text_and_thread_names(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert trace(run, TARGET, "crossing").returncode == 0
    start, stop = events(run, "start")[0], events(run, "stop")[0]
    assert start["name"] == "crossing" and start["correlation"] == stop["correlation"]
    assert start["tid"] != stop["tid"]
    assert events(run, "push")[0]["name"] == "wide \u00e9\u4e2d\U0001f600"
    assert [entry["name"] for entry in sources(run)[0]["thread_names"]] == ["named by NVTX"]


@needs_target
def test_another_tools_injection_is_kept(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = trace(run, TARGET, "ranges", 1, env={**os.environ, "NVTX_INJECTION64_PATH": "/none/other_tool.so"})
    assert done.returncode == 0
    assert b"NVTX_INJECTION64_PATH is set already" in done.stderr
    assert not list((run / "events").iterdir())


@needs_target
def test_preload_announces_every_process(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert trace(run, "/bin/true", options=("--preload",)).returncode == 0
    assert lines(run, "processes.jsonl")[0]["library"] is True


@needs_target
def test_limits_stop_the_capture_not_the_program(tmp_path: Path) -> None:
    run = tmp_path / "run"
    script = f"{TARGET} ranges 2000; sleep 0.5; {TARGET} ranges 2000; echo end; exit 4"
    done = trace(run, "/bin/sh", "-c", script, options=("--max-size", "20000"))
    assert done.returncode == 4 and done.stdout == b"end\n"
    assert b"--max-size" in done.stderr
    assert "max-size" in manifest(run)["capture_stopped"]
    assert len(events(run, "push")) >= 0
    run = tmp_path / "run2"
    done = trace(run, "/bin/sh", "-c", "echo a; sleep 0.6; echo b; exit 5", options=("--duration", "0.3"))
    assert done.returncode == 5 and done.stdout == b"a\nb\n"
    assert [line["text"] for line in lines(run)] == ["a"]


def test_children_are_followed(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = trace(run, "/bin/sh", "-c", "sleep 2 & (sleep 1.8; true) & wait")
    assert done.returncode == 0
    processes = lines(run, "processes.jsonl")
    assert [p["comm"] for p in processes].count("sleep") == 2
    ids = {p["pid"] for p in processes}
    assert all(p["ppid"] in ids for p in processes[1:])
    assert processes[0]["exit"] == 0 and all(p["end"] for p in processes)


@pytest.mark.parametrize("command, code, says", [
    (("/none/such",), 127, "no such program"),
    (("no-such-program-here",), 127, "no such program"),
    (("/etc/passwd",), 126, "Permission denied"),
    (("/etc",), 126, "Is a directory"),
    ((), 2, "no program given"),
])
def test_what_cannot_be_run_is_one_line(tmp_path: Path, command: tuple, code: int, says: str) -> None:
    done = run_teller("trace", "-o", tmp_path / "run", "--", *command)
    expect_one_line(done, code, says=says)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("options", [
    ("--bogus",), ("-x",), ("--level", "all"), ("--level",), ("--cuda", "some"), ("--cuda-graph", "some"), ("--max-size", "much"),
    ("--max-size", "-1"), ("--max-size", "1e400"), ("--max-size", ""), ("--duration", "long"), ("--duration", "-1"), ("--duration", "nan"),
    ("--duration", "inf"), ("--duration", ""), ("--last", "nan"), ("--last", "0"), ("--last", "x"), ("--last", ""), ("--last", "1s", "--after", "nan"),
    ("--last", "1s", "--after", "-1"), ("--after", "1s"), ("--last", "1s", "--keep", "0"), ("--last", "1s", "--keep", "x"),
    ("--last", "1s", "--window-memory", "1"), ("--last", "1s", "--window-memory", "x"), ("--window-memory", "1G"),
    ("--last", "1s", "--trigger-log", "("), ("--trigger-log", "x"), ("--last", "1s", "--trigger-slow-step", "0.5"),
    ("--last", "1s", "--trigger-slow-step", "nan"), ("--redact-pattern", "("), ("--metrics", "ftp://x"), ("--metrics", ""), ("--log", ""), ("positional",),
    ("--quiet=maybe",)])
def test_options_that_make_no_sense_have_one_code_before_the_program_runs(tmp_path: Path, options: tuple) -> None:
    marker = tmp_path / "ran"
    expect_one_line(run_teller("trace", "-o", tmp_path / "run", *options, "--", "/bin/touch", marker, timeout=20), 2)
    assert not marker.exists() and not (tmp_path / "run").exists()


@pytest.mark.parametrize("options", [("--log", "/"), ("--hooks", ""), ("--hooks", "/"), ("--hooks", "/none"), ("-o", "/dev/null"),
                                     ("-o", "/proc/none/run")])
def test_what_options_name_and_cannot_be_used_has_another_code(tmp_path: Path, options: tuple) -> None:
    marker = tmp_path / "ran"
    output = () if "-o" in options else ("-o", tmp_path / "run")
    expect_one_line(run_teller("trace", *output, *options, "--", "/bin/touch", marker, timeout=20), 125)
    assert not marker.exists() and not (tmp_path / "run").exists()


def test_a_broken_hook_file_is_one_line_before_the_program_runs(tmp_path: Path) -> None:
    bad = tmp_path / "hooks.json"
    bad.write_text("{nonsense")
    marker = tmp_path / "ran"
    for path in (bad, tmp_path / "absent.json"):
        done = run_teller("trace", "-o", tmp_path / "run", "--hooks", path, "--", "/bin/touch", marker)
        expect_one_line(done, 125, says=path.name)
    assert not marker.exists()


@needs_root
def test_a_folder_without_permission_is_one_line(open_tmp: Path) -> None:
    done = as_nobody("trace", "-o", open_tmp / "closed" / "run", "--", "/bin/true")
    expect_one_line(done, 125, says="closed")
    existing = open_tmp / "run"
    existing.mkdir()
    expect_one_line(as_nobody("trace", "-o", existing, "--", "/bin/true"), 125, says="run")


def test_an_existing_run_is_not_overwritten(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert trace(run, "/bin/true").returncode == 0
    expect_one_line(run_teller("trace", "-o", run, "--", "/bin/true"), 125, says="not empty")
    assert trace(run, "/bin/true", options=("--overwrite",)).returncode == 0


@needs_target
def test_an_event_costs_no_allocation_no_lock_and_no_system_call(tmp_path: Path) -> None:
    """The program counts the first two, and the kernel kills it for the third."""
    target = BUILD / "tests/targets/promise_target"
    done = trace(tmp_path / "run", target)
    if b"no seccomp" in done.stderr:
        pytest.skip("seccomp is not allowed here")
    assert done.returncode == 0 and done.stdout == b"allocations 0 locks 0\n", done
    counters = manifest(tmp_path / "run")["counters"]
    assert counters["trace.events"] + counters["trace.events_dropped"] == 20010 * 7
    # The instruments work.
    assert trace(tmp_path / "run2", target, "allocate").stdout == b"allocations 1 locks 0\n"
    assert trace(tmp_path / "run3", target, "call").returncode == -signal.SIGSYS


@needs_target
def test_a_disk_that_stalls_loses_nothing(tmp_path: Path) -> None:
    """Each write takes most of a second: the events wait in the recorder's memory, and the output passes at once."""
    code = ("import nvtx, time\n"
            "for i in range(1500):\n"
            "    for _ in range(100):\n        nvtx.push_range('x'); nvtx.pop_range()\n"
            "    time.sleep(0.001)\n"
            "print('done', flush=True)")
    slow = {**os.environ, "LD_PRELOAD": str(BUILD / "tests/targets/libslow_write.so"), "TELLER_TEST_STALL_MS": "700"}
    done = trace(tmp_path / "run", PYTHON, "-c", code, options=("--no-hooks",), env=slow)
    assert done.returncode == 0 and done.stdout == b"done\n", done.stderr
    counters = manifest(tmp_path / "run")["counters"]
    assert counters["trace.ranges"] == 150000 and counters["trace.events_dropped"] == 0
    assert run_teller("verify", tmp_path / "run").returncode == 0


@needs_root
@pytest.mark.skipif(os.system("mountpoint -q /proc && command -v mount >/dev/null") != 0, reason="no mount here")
def test_a_full_disk_stops_the_capture_not_the_program(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], capture_output=True).returncode:
        pytest.skip("mounting a tmpfs is not allowed here")
    try:
        script = ("i=0; while [ $i -lt 60 ]; do head -c 65000 /dev/zero | tr '\\0' x; echo; sleep 0.01; i=$((i+1)); "
                  "done; exit 9")
        done = trace(disk / "run", "/bin/sh", "-c", script)
        assert done.returncode == 9
        assert done.stdout == (b"x" * 65000 + b"\n") * 60
        told = [line for line in done.stderr.splitlines() if b"capture stopped" in line]
        assert len(told) == 1 and b"No space left" in told[0], done.stderr
        assert manifest(disk / "run")["state"] == "sealed"
        assert "No space" in manifest(disk / "run")["capture_stopped"]
        kept = lines(disk / "run")
        assert kept and all(set(line["text"]) == {"x"} for line in kept)
        # No room for the first byte: refused before the program runs.
        subprocess.run(["dd", "if=/dev/zero", f"of={disk}/fill", "bs=4096"], capture_output=True)
        expect_one_line(run_teller("trace", "-o", disk / "run2", "--", "/bin/true"), 125)
    finally:
        subprocess.run(["umount", disk], check=True)


@needs_target
def test_the_program_and_recorder_outlive_the_launcher(tmp_path: Path) -> None:
    run, done_file = tmp_path / "run", tmp_path / "done"
    script = f"{TARGET} ranges 2; echo one; sleep 1; echo two; {TARGET} ranges 3; touch {done_file}"
    output = tmp_path / "out"
    with open(output, "wb") as file:
        launcher = subprocess.Popen([teller_binary(), "trace", "-o", run, "--", "/bin/sh", "-c", script], stdout=file)
        time.sleep(0.4)
        launcher.kill()
        launcher.wait()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and not (done_file.exists() and manifest(run)["state"] == "sealed"):
        time.sleep(0.05)
    assert manifest(run)["state"] == "sealed"
    assert output.read_bytes() == b"one\ntwo\n"
    assert [line["text"] for line in lines(run)] == ["one", "two"]
    assert len(events(run, "push")) == 10
    assert manifest(run)["target"]["exit_code"] is None


@needs_target
def test_the_program_outlives_the_recorder(tmp_path: Path) -> None:
    run = tmp_path / "run"
    script = f"{TARGET} ranges 2; echo $TELLER_SOCKET; sleep 1; echo two; {TARGET} ranges 3; echo three >&2; exit 8"
    command = [teller_binary(), "trace", "-o", run, "--", "/bin/sh", "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as launcher:
        socket = launcher.stdout.readline().decode().strip()
        time.sleep(0.4)
        children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
        recorder = [int(c) for c in children if Path(f"/proc/{c}/comm").read_text().startswith("teller-rec")]
        os.kill(recorder[0], signal.SIGKILL)
        out, err = launcher.communicate(timeout=10)
    assert (launcher.returncode, out) == (8, b"two\n")
    assert not Path(socket).parent.exists()
    assert b"three\n" in err and b"the recorder died" in err
    assert [line["text"] for line in lines(run)] == [socket]
    assert len(events(run, "push")) == 4


def test_a_stream_that_the_program_closes_is_closed_for_its_reader(tmp_path: Path) -> None:
    command = [teller_binary(), "trace", "-q", "-o", tmp_path / "run", "--", "/bin/sh", "-c", "echo a; exec >&-; sleep 2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as launcher:
        assert launcher.stdout.read() == b"a\n" and launcher.poll() is None
        assert launcher.wait(timeout=10) == 0


@needs_target
def test_the_exit_status_does_not_wait_for_a_grandchild(tmp_path: Path) -> None:
    run, output, errors = tmp_path / "run", tmp_path / "out", tmp_path / "err"
    with open(output, "wb") as out, open(errors, "wb") as err:
        done = trace(run, TARGET, "leave", 2, stdout=out, stderr=err, capture_output=False)
    assert done.returncode == 0 and output.read_bytes() == b""  # the grandchild has yet to speak
    assert b"recording goes on in the background" in errors.read_bytes()
    assert manifest(run)["state"] == "recording"
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and manifest(run)["state"] != "sealed":
        time.sleep(0.05)
    assert output.read_bytes() == b"late\n"
    assert [line["text"] for line in lines(run)] == ["late"]
    assert {e["name"] for e in events(run, "push")} == {"grandchild", "grandchild late", "inner"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP])
def test_signals_reach_the_program(tmp_path: Path, number: signal.Signals) -> None:
    script = f"trap 'echo got; exit 6' {int(number)}; echo ready; while :; do sleep 0.05; done"
    command = [teller_binary(), "trace", "-o", tmp_path / "run", "--", "/bin/sh", "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as launcher:
        assert launcher.stdout.readline() == b"ready\n"
        launcher.send_signal(number)
        out, _ = launcher.communicate(timeout=10)
    assert out == b"got\n" and launcher.returncode == 6


def test_a_stopped_program_can_be_continued_by_others(tmp_path: Path) -> None:
    script = "echo $$; sleep 0.3; echo end"
    command = [teller_binary(), "trace", "-q", "-o", tmp_path / "run", "--", "/bin/sh", "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as launcher:
        program = int(launcher.stdout.readline())
        os.kill(program, signal.SIGSTOP)
        time.sleep(0.3)
        os.kill(program, signal.SIGCONT)
        out, _ = launcher.communicate(timeout=10)
    assert out == b"end\n" and launcher.returncode == 0


def test_log_files_are_followed(tmp_path: Path) -> None:
    run, old, late = tmp_path / "run", tmp_path / "old.log", tmp_path / "late.log"
    old.write_text("before\n")
    script = (f"sleep 0.2; echo one >> {old}; echo first > {late}; sleep 0.2; mv {old} {old}.1; echo moved > {old};"
              f" echo short > {late}; sleep 0.2; echo last >> {old}")
    assert trace(run, "/bin/sh", "-c", script, options=("--log", old, "--log", late)).returncode == 0
    by_file: dict = {}
    for line in lines(run):
        by_file.setdefault(line["stream"], []).append(line["text"])
    assert by_file[str(old)] == ["one", "moved", "last"]
    assert by_file[str(late)] in (["first", "short"], ["first"])


def test_nvtx_of_unmodified_python_programs(tmp_path: Path) -> None:
    run = tmp_path / "run"
    if subprocess.run([PYTHON, "-c", "import torch, nvtx"], capture_output=True).returncode:
        pytest.skip("torch or nvtx is not installed: ranges of torch.cuda.nvtx are not checked")
    program = """
import torch, nvtx
print(torch.cuda.nvtx.range_push("step 1"))
torch.cuda.nvtx.mark("here")
print(torch.cuda.nvtx.range_pop())
with nvtx.annotate("named", domain="mine", category="cat", payload=5):
    pass
"""
    done = trace(run, PYTHON, "-c", program)
    plain = subprocess.run([PYTHON, "-c", program], capture_output=True)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    seen = [(e["record"], e.get("name"), e.get("domain"), e.get("category")) for e in events(run)]
    assert seen == [("push", "step 1", None, None), ("mark", "here", None, None), ("pop", None, None, None),
                    ("push", "named", "mine", "cat"), ("pop", None, "mine", None)]


def wait_until_sealed(run: Path) -> None:
    """Waits for a recorder that outlives its launcher."""
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline and manifest(run)["state"] != "sealed":
        time.sleep(0.05)
    assert manifest(run)["state"] == "sealed"


# Closes the descriptor, then lives on: as the program itself, or as a child that leaves it.
CLOSES = "import os, sys, time; os.close(int(sys.argv[1])); time.sleep(float(sys.argv[2]))"
LEAVES = CLOSES.replace("os.close", "os.fork() and os._exit(0); os.close")


@pytest.mark.parametrize("program", [CLOSES, LEAVES])
def test_inherited_descriptors_end_with_the_program(tmp_path: Path, program: str) -> None:
    run = tmp_path / "run"
    reader, writer = os.pipe()
    arguments = [teller_binary(), "trace", "-q", "-o", run, "--", PYTHON, "-S", "-c", program, str(writer), "6"]
    with open(tmp_path / "out", "wb") as out, subprocess.Popen(arguments, pass_fds=[writer], stdout=out) as launcher:
        os.close(writer)
        begin = time.monotonic()
        assert os.read(reader, 1) == b""
        waited = time.monotonic() - begin
        os.close(reader)
        assert waited < 5 and manifest(run)["state"] == "recording"
        assert launcher.wait(timeout=20) == 0
    wait_until_sealed(run)


def test_the_writer_to_a_program_that_closes_stdin_is_told(tmp_path: Path) -> None:
    program = "import os, time; os.close(0); print(1, flush=True); time.sleep(3)"
    arguments = [teller_binary(), "trace", "-q", "-o", tmp_path / "run", "--", PYTHON, "-S", "-c", program]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as launcher:
        assert launcher.stdout.readline() == b"1\n"
        with pytest.raises(BrokenPipeError):
            os.write(launcher.stdin.fileno(), b"x")
        assert launcher.wait(timeout=20) == 0


@needs_target
def test_what_another_command_writes_while_the_recorder_lives_on_stays(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with open(tmp_path / "out", "wb") as out, open(tmp_path / "err", "wb") as err:
        done = trace(run, TARGET, "leave", 4, stdout=out, stderr=err, capture_output=False)
    assert done.returncode == 0 and manifest(run)["state"] == "recording"
    assert run_teller("reconstruct", run).returncode == 0
    assert "chains" in manifest(run)["artifacts"] and manifest(run)["state"] == "recording"
    wait_until_sealed(run)
    assert set(manifest(run)["artifacts"]) == {"events", "logs", "processes", "context", "chains"}
    # It was made from less than there is now, and is known to be.
    assert "run teller reconstruct RUN again" in run_teller("slice", run).stderr
    assert run_teller("reconstruct", run).returncode == 0
    assert run_teller("slice", run).returncode in (0, 4)
    assert run_teller("verify", run).returncode == 0


@pytest.mark.parametrize("command", [("/bin/true",), ("/bin/echo", "hi")])
def test_a_program_without_events_can_be_looked_at(tmp_path: Path, command: tuple) -> None:
    run = tmp_path / "run"
    assert trace(run, *command).returncode == 0
    assert manifest(run)["artifacts"]["events"]["files"] == []
    assert run_teller("verify", run).returncode == 0
    for arguments in (("reconstruct",), ("stats",), ("stats", "--json"), ("slice",), ("report",), ("report", "--json"),
                      ("dump",), ("dump", "--json"), ("verify",)):
        done = run_teller(arguments[0], run, *arguments[1:])
        assert done.returncode == 0 and done.stderr == "", (arguments, done)
    for artefact in ("events", "logs", "processes", "chains", "findings"):
        assert run_teller("dump", run, artefact).returncode == 0, artefact
    assert [line["text"] for line in lines(run)] == ["hi"] * (len(command) - 1)
    assert len(events(run)) == 0 and run_teller("dump", run, "chains.logs").stdout.count("hi") == len(command) - 1


def test_what_a_dead_recorder_leaves_of_a_program_without_events(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert trace(run, "/bin/echo", "hi").returncode == 0
    data = manifest(run)
    data.update(state="recording", artifacts={})
    (run / "manifest.json").write_text(json.dumps(data))
    for command in ("reconstruct", "stats", "slice", "report", "dump"):
        assert run_teller(command, run).returncode == 0, command


def test_the_private_folder_is_in_tmpdir(tmp_path: Path) -> None:
    short, long = tmp_path / "t", tmp_path / ("x" * 100)
    short.mkdir(), long.mkdir()
    for number, (folder, below) in enumerate([(short, f"{short}/teller-"), (long, "/tmp/teller-"),
                                              (tmp_path / "none", "/tmp/teller-"), (Path("t"), "/tmp/teller-")]):
        done = trace(tmp_path / f"run{number}", "/bin/sh", "-c", "echo $TELLER_SOCKET",
                     env={**os.environ, "TMPDIR": str(folder)}, cwd=tmp_path)
        assert done.returncode == 0 and done.stdout.decode().startswith(below), folder
    assert not list(short.iterdir()) and not list(long.iterdir())


def test_few_descriptors_are_one_line_or_enough(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    codes = []
    for number in range(4, 32):
        done = trace(tmp_path / f"run{number}", "/bin/true", timeout=20, env={**os.environ, "TMPDIR": str(folder)},
                     preexec_fn=lambda limit=number: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
        codes.append(done.returncode)
        assert done.returncode in (0, 125, 126, 127), done
        deadline = time.monotonic() + 5
        while list(folder.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not list(folder.iterdir()), done
    assert codes[-1] == 0


@pytest.mark.skipif(not FAIL_CALL.exists(), reason="the library that lets calls fail is not built")
@pytest.mark.parametrize("call, says", [("bind", "listening at"), ("signalfd", "waiting for signals")])
def test_a_call_that_fails_is_one_line_and_leaves_no_folder(tmp_path: Path, call: str, says: str) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path), "LD_PRELOAD": str(FAIL_CALL), "TELLER_TEST_FAIL": call,
                   "ASAN_OPTIONS": "verify_asan_link_order=0"}
    done = run_teller("trace", "-o", tmp_path / "run", "--", "/bin/touch", tmp_path / "ran", env=environment, timeout=20)
    expect_one_line(done, 125, says=says)
    assert not list(tmp_path.glob("teller-*")) and not (tmp_path / "ran").exists()
