"""teller trace where things go wrong in ways of their own: huge strings, jumping clocks, too many threads, namespaces."""
from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import run_teller, teller_binary
from trace_support import PYTHON, TARGET, balanced, events, lines, manifest, needs_target, sources, trace

pytestmark = needs_target


def python(run: Path, code: str, options: tuple = (), **popen: object) -> subprocess.CompletedProcess:
    """Traces a Python program that is given as text."""
    return trace(run, PYTHON, "-c", code, options=options, **popen)


def in_namespace(*flags: str) -> list:
    """The command that enters new namespaces; skips the test where they are not allowed."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", *flags, "true"], capture_output=True).returncode:
        pytest.skip("namespaces are not allowed here")
    return ["unshare", *flags]


def test_strings_of_ten_megabytes_are_cut_and_counted(tmp_path: Path) -> None:
    done = python(tmp_path / "run", "import nvtx\n"
                                    "for c in 'abc':\n    nvtx.push_range(c * 10_000_000); nvtx.pop_range(); print(c)\n"
                                    "nvtx.push_range('after'); nvtx.pop_range()")
    assert done.returncode == 0 and done.stdout == b"a\nb\nc\n", done.stderr
    counters = manifest(tmp_path / "run")["counters"]
    names = [e["name"] for e in events(tmp_path / "run", "push")]
    # The package registers its messages: what the definitions do not take is kept as a copy, or cut.
    assert names[-1] == "after" and len(names) == 4
    for name, letter in zip(names, "abc"):
        assert set(name) == {letter} and 1000 < len(name) <= 131072
    assert counters["trace.texts_cut"] + counters["trace.definitions_lost"] >= 3 or max(map(len, names)) == 131072
    balanced(tmp_path / "run")


def test_ranges_that_do_not_balance_are_kept_as_they_are(tmp_path: Path) -> None:
    done = python(tmp_path / "run", "import nvtx\nfor _ in range(5): nvtx.pop_range()\n"
                                    "for i in range(300): nvtx.push_range('open')\nnvtx.pop_range()")
    assert done.returncode == 0, done.stderr
    assert len(events(tmp_path / "run", "push")) == 300 and len(events(tmp_path / "run", "pop")) == 6
    told = run_teller("reconstruct", tmp_path / "run", "--json")
    assert told.returncode == 0 and json.loads(told.stdout)["counters"]["pops_without_push"] == 5
    assert run_teller("dump", tmp_path / "run", "chains", "--json").stdout.count('"open"') >= 299


def test_a_thousand_threads_at_once(tmp_path: Path) -> None:
    """512 have a ring; what the others record is counted, and the program does not notice."""
    done = trace(tmp_path / "run", TARGET, "threads", 1000)
    assert done.returncode == 0, done.stderr
    counters = manifest(tmp_path / "run")["counters"]
    pushes = len(events(tmp_path / "run", "push"))
    assert pushes >= 512 * 20 - counters["trace.ranges_dropped"]
    if pushes < 1000 * 20:
        assert counters["trace.events_without_ring"] + counters["trace.ranges_dropped"] > 0
        assert b"threads beyond the limit" in done.stderr or b"ring full" in done.stderr
    balanced(tmp_path / "run")


def test_the_clock_of_a_time_namespace_is_told_apart(tmp_path: Path) -> None:
    enter = in_namespace("--time", "--monotonic", "100000")
    done = trace(tmp_path / "run", *enter, PYTHON, "-c",
                 "import nvtx, time\nnvtx.push_range('x'); time.sleep(0.05); nvtx.pop_range()")
    assert done.returncode == 0, done.stderr
    skew = sources(tmp_path / "run")[0]["clock"]["skew_ns"]
    assert abs(skew - 100_000 * 10**9) < 10**9
    push, pop = events(tmp_path / "run", "push", "pop")
    assert 0.04e9 < pop["begin"] - push["begin"] < 5e9


def test_steps_of_the_wall_clock_move_nothing(tmp_path: Path) -> None:
    """Times are monotonic: a program that sees the wall clock jump by years is recorded as any other."""
    code = ("import nvtx, time\nreal = time.time\n"
            "for jump in (0, 4e8, -4e8):\n"
            "    time.time = lambda: real() + jump\n"
            "    nvtx.push_range('x'); time.sleep(0.02); nvtx.pop_range()")
    assert python(tmp_path / "run", code).returncode == 0
    times = [e["begin"] for e in events(tmp_path / "run", "push", "pop")]
    assert times == sorted(times) and times[-1] - times[0] < 60e9


def test_in_a_container_of_its_own(tmp_path: Path) -> None:
    """Pid, mount, UTS and network namespaces around recorder and program, as in a container."""
    enter = in_namespace("--pid", "--fork", "--mount-proc", "--uts", "--net")
    command = [*enter, teller_binary(), "trace", "-o", str(tmp_path / "run"), "--", PYTHON, "-c",
               "import nvtx, os, subprocess, sys\nprint(os.getpid())\nnvtx.push_range('in'); nvtx.pop_range()\n"
               "subprocess.run([sys.executable, '-c', 'import nvtx; nvtx.push_range(\"child\"); nvtx.pop_range()'])"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    run = tmp_path / "run"
    assert sorted(e["name"] for e in events(run, "push")) == ["child", "in"]
    assert manifest(run)["state"] == "sealed" and len(lines(run, "processes.jsonl")) == 2
    assert sources(run)[0]["pid"] == int(done.stdout)
    assert run_teller("reconstruct", run).returncode == 0


def test_a_program_in_a_pid_namespace_of_its_own(tmp_path: Path) -> None:
    """The recorder outside knows another pid than the program itself."""
    enter = in_namespace("--pid", "--fork")
    done = trace(tmp_path / "run", *enter, PYTHON, "-c", "import nvtx, os\nprint(os.getpid())\nnvtx.push_range('x'); nvtx.pop_range()")
    assert done.returncode == 0 and done.stdout == b"1\n", done.stderr
    meta = sources(tmp_path / "run")[0]
    assert meta["namespace_pid"] == 1 and meta["pid"] > 1
    assert [e["name"] for e in events(tmp_path / "run", "push")] == ["x"]


def test_a_read_only_place_is_one_line_before_the_program_runs(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", place], capture_output=True).returncode:
        pytest.skip("mounting a tmpfs is not allowed here")
    try:
        done = trace(place / "run", "/bin/echo", "ran")
        assert done.returncode == 125 and done.stdout == b"" and b"Read-only" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    finally:
        subprocess.run(["umount", "-l", place], check=False)


def test_a_place_that_becomes_read_only_stops_the_capture_only(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", place], capture_output=True).returncode:
        pytest.skip("mounting a tmpfs is not allowed here")
    try:
        code = "import nvtx, time\nfor i in range(60):\n    nvtx.push_range('x'); nvtx.pop_range(); print(i, flush=True); time.sleep(0.05)"
        command = [teller_binary(), "trace", "-o", str(place / "run"), "--", PYTHON, "-c", code]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        end = time.monotonic() + 20
        while not list((place / "run/events").glob("*.tev")) and time.monotonic() < end:
            time.sleep(0.05)
        remounted = subprocess.run(["mount", "-o", "remount,ro", place], capture_output=True).returncode == 0
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0 and out == b"".join(b"%d\n" % i for i in range(60))
        if remounted:  # files that are open for writing forbid it on most systems
            assert b"capture stopped" in err or b"manifest could not be written" in err
    finally:
        subprocess.run(["umount", "-l", place], check=False)


def test_a_segmentation_fault_in_a_thread_of_many(tmp_path: Path) -> None:
    code = ("import ctypes, nvtx, threading, time\n"
            "def work():\n    while True:\n        nvtx.push_range('w'); time.sleep(0.001); nvtx.pop_range()\n"
            "for _ in range(20): threading.Thread(target=work, daemon=True).start()\n"
            "time.sleep(0.3)\nprint('now', flush=True)\nctypes.string_at(8)")
    done = python(tmp_path / "run", code)
    assert done.returncode == -signal.SIGSEGV and done.stdout == b"now\n"
    run = tmp_path / "run"
    assert manifest(run)["target"]["signal"] == signal.SIGSEGV and len({e["tid"] for e in events(run, "push")}) == 20
    assert run_teller("verify", run).returncode == 0 and run_teller("reconstruct", run).returncode == 0


def test_bytes_of_the_output_are_the_same(tmp_path: Path) -> None:
    """A few megabytes of everything, in odd pieces, on both streams."""
    code = ("import hashlib, os, random\nrandom.seed(5)\nfor i in range(400):\n"
            "    os.write(1 + (i % 2), random.randbytes(random.choice((1, 7, 4096, 65536))))")
    plain = subprocess.run([PYTHON, "-c", code], capture_output=True, timeout=60)
    traced = python(tmp_path / "run", code, options=("-q",))
    assert (traced.stdout, traced.stderr, traced.returncode) == (plain.stdout, plain.stderr, plain.returncode)
    assert os.path.getsize(tmp_path / "run/logs.jsonl") > 1000
