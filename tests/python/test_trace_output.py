"""The program's output is the same bytes with and without tracing, whatever it is written to."""
from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest
from conftest import teller_binary
from trace_support import PYTHON, lines, manifest, trace

BINARY = "import os, random; random.seed(1); os.write(1, random.randbytes(3_000_000)); os.write(2, bytes(range(256)) * 40)"
PARTIAL = "import os, time; os.write(1, b'no newline'); time.sleep(0.05); os.write(1, b' at the end')"
MIXED = """
import os
for i in range(3000):
    os.write(1, b'out %d\\n' % i)
    os.write(2, b'err %d\\n' % i)
"""


def both_ways(tmp_path: Path, code: str, **popen: object) -> tuple:
    """(traced, plain) results of the same program."""
    plain = subprocess.run([PYTHON, "-c", code], **popen)
    traced = trace(tmp_path / "run", PYTHON, "-c", code, options=("-q",), **popen)
    return traced, plain


@pytest.mark.parametrize("code", [BINARY, PARTIAL, MIXED, "print('x' * 200_000)", "pass"])
def test_pipes(tmp_path: Path, code: str) -> None:
    traced, plain = both_ways(tmp_path, code, capture_output=True)
    assert (traced.returncode, traced.stdout, traced.stderr) == (plain.returncode, plain.stdout, plain.stderr)


def test_both_streams_in_one_pipe_keep_their_order(tmp_path: Path) -> None:
    traced, plain = both_ways(tmp_path, MIXED, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, capture_output=False)
    assert traced.stdout == plain.stdout
    assert {line["stream"] for line in lines(tmp_path / "run")} == {"output"}


def test_log_lines_hold_the_text_and_the_time(tmp_path: Path) -> None:
    run = tmp_path / "run"
    code = ("import os, time; os.write(1, b'one\\n'); time.sleep(0.2); os.write(1, b'tw'); os.write(2, b'bad \\xff\\r\\n');"
            "time.sleep(0.1); os.write(1, b'o\\n10%\\r20%\\r'); os.write(1, b'last')")
    assert trace(run, PYTHON, "-c", code).returncode == 0
    out = [line for line in lines(run) if line["stream"] == "stdout"]
    assert [line["text"] for line in out] == ["one", "two", "10%", "20%", "last"]
    assert 150e6 < out[1]["t"] - out[0]["t"] < 2e9
    err = [line for line in lines(run) if line["stream"] == "stderr"]
    assert err[0]["text"] == "bad \ufffd" and err[0]["raw"] == 1
    start, end = manifest(run)["target"]["start"], manifest(run)["target"]["end"]
    assert all(start <= line["t"] <= end for line in lines(run))


def test_long_lines_are_continued(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert trace(run, PYTHON, "-c", "print('\u00e9' * 100_000)", env={**os.environ, "PYTHONIOENCODING": "utf-8"}).returncode == 0
    pieces = lines(run)
    assert len(pieces) > 1 and "".join(p["text"] for p in pieces) == "\u00e9" * 100_000
    assert [p.get("cont", 0) for p in pieces] == [0] + [1] * (len(pieces) - 1)
    assert not any("raw" in p for p in pieces)


def test_a_reader_that_leaves_is_felt_by_the_program(tmp_path: Path) -> None:
    command = [teller_binary(), "trace", "-q", "-o", tmp_path / "run", "--", "yes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as launcher:
        launcher.stdout.read(1000)
        launcher.stdout.close()
        assert launcher.wait(timeout=10) == -13
    assert manifest(tmp_path / "run")["target"]["signal"] == 13


def test_a_slow_reader_slows_the_program(tmp_path: Path) -> None:
    progress = tmp_path / "progress"
    code = f"import os\nfor i in range(100):\n os.write(1, b'x' * 100_000); open({str(progress)!r}, 'w').write(str(i))"
    command = [teller_binary(), "trace", "-q", "-o", tmp_path / "run", "--", PYTHON, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as launcher:
        time.sleep(0.8)
        assert int(progress.read_text() or 0) < 10
        assert len(launcher.stdout.read()) == 10_000_000
        assert launcher.wait(timeout=10) == 0


def test_closed_streams_stay_closed(tmp_path: Path) -> None:
    code = ("import os\nfor fd in (1, 2):\n try:\n  os.fstat(fd); open(os.environ['REPORT'], 'a').write('open ')\n"
            " except OSError:\n  open(os.environ['REPORT'], 'a').write('closed ')")
    report = tmp_path / "report"
    command = f"exec {teller_binary()} trace -o {tmp_path}/run -- {PYTHON} -c \"$CODE\" >&- 2>&-"
    subprocess.run(["/bin/sh", "-c", command], env={**os.environ, "CODE": code, "REPORT": str(report)}, timeout=60)
    assert "open" not in report.read_text()


def test_stdin_is_the_programs(tmp_path: Path) -> None:
    done = trace(tmp_path / "run", "/bin/cat", input=b"a\0b\nlast")
    assert done.stdout == b"a\0b\nlast"


def in_terminal(command: list, size: tuple = (24, 80)) -> tuple:
    """Runs `command` with a terminal as stdin, stdout and stderr; (exit code, bytes)."""
    pid, master = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        os.execv(command[0], command)
    output = b""
    while True:
        ready, _, _ = select.select([master], [], [], 30)
        assert ready, output
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        output += data
    _, status = os.waitpid(pid, 0)
    os.close(master)
    return os.waitstatus_to_exitcode(status), output


def test_a_terminal_stays_a_terminal(tmp_path: Path) -> None:
    code = ("import os, sys; print([os.isatty(i) for i in range(3)], os.get_terminal_size(1), flush=True);"
            "os.write(2, b'plain\\ttab\\x1b[31mred\\x1b[0m\\n'); os.write(1, b'no newline'); sys.exit(5)")
    plain = in_terminal([PYTHON, "-c", code], (33, 77))
    traced = in_terminal([teller_binary(), "trace", "-q", "-o", str(tmp_path / "run"), "--", PYTHON, "-c", code], (33, 77))
    assert traced == plain
    assert b"[True, True, True]" in plain[1] and b"columns=77" in plain[1]


def test_ctrl_c_reaches_the_program_once(tmp_path: Path) -> None:
    code = ("import signal, time\ngot = []\nsignal.signal(signal.SIGINT, lambda *a: got.append(1))\n"
            "print('ready', flush=True)\nend = time.monotonic() + 1\n"
            "while time.monotonic() < end: time.sleep(0.05)\nprint('got', len(got))")
    pid, master = pty.fork()
    if pid == 0:
        os.execv(teller_binary(), [teller_binary(), "trace", "-q", "-o", str(tmp_path / "run"), "--", PYTHON, "-c", code])
    output = b""
    while b"ready" not in output:
        output += os.read(master, 1000)
    os.write(master, b"\x03")
    try:
        while True:
            output += os.read(master, 1000)
    except OSError:
        pass
    os.waitpid(pid, 0)
    os.close(master)
    assert b"got 1" in output, output


def test_buffered_python_output_is_stamped_when_it_arrives(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    code = "import time\nprint('early')\ntime.sleep(0.3)\nprint('late')"
    assert trace(tmp_path / "run", PYTHON, "-c", code, env=environment).returncode == 0
    first, second = lines(tmp_path / "run")
    assert second["t"] - first["t"] < 100e6  # both came with the flush at exit
