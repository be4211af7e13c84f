"""Log lines: files that are followed, fields, entries, and what is not stored of them."""
from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ROOT, needs_root, run_teller, teller_binary
from trace_support import PYTHON, dumped, lines, manifest, trace


def texts(run: Path, path: Path | None = None) -> list:
    """Texts of the run's log lines, of one followed file if `path` is given."""
    return [line["text"] for line in lines(run) if path is None or line["stream"] == str(path)]


def followed(tmp_path: Path, script: str, *logs: object) -> Path:
    """Traces a shell script in `tmp_path`, following `logs`."""
    run = tmp_path / "run"
    options = [word for log in logs for word in ("--log", log)]
    done = trace(run, "/bin/sh", "-ec", script, options=options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return run


def test_rotation_in_the_middle_of_a_line_mixes_nothing(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("before\n")
    # The writer keeps the old file open: what it writes after the rename is the end of its line.
    script = """exec 3>>server.log; printf 'one\\nhalf' >&3; sleep 0.3
mv server.log server.log.1; printf 'new 1\\nnew ' >server.log; sleep 0.3
printf ' line\\nlast of the old\\n' >&3; sleep 0.3; printf '2\\n' >>server.log; sleep 0.3"""
    run = followed(tmp_path, script, log)
    assert sorted(texts(run, log)) == sorted(["one", "half line", "last of the old", "new 1", "new 2"])
    entry = manifest(run)["logs_followed"][0]
    assert (entry["rotations"], entry["lines"]) == (1, 5)


def test_truncation_starts_anew(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("before, and long enough to be longer than what comes\n")
    script = """printf 'one\\nunfinished' >>server.log; sleep 0.3; : >server.log; sleep 0.3; printf 'two\\n' >>server.log; sleep 0.3"""
    run = followed(tmp_path, script, log)
    assert texts(run, log) == ["one", "unfinished", "two"]
    assert manifest(run)["logs_followed"][0]["truncations"] == 1


def test_a_hole_behind_a_truncation_is_skipped(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("x" * 100_000 + "\n")
    code = ("import os, time; fd = os.open('server.log', os.O_WRONLY); os.lseek(fd, 0, 2); os.truncate('server.log', 0)\n"
            "time.sleep(0.3); os.write(fd, b'after\\n'); time.sleep(0.3)")
    run = tmp_path / "run"
    assert trace(run, PYTHON, "-c", code, options=("--log", log), cwd=tmp_path).returncode == 0
    assert sum(len(text) for text in texts(run, log)) < 8192 and texts(run, log)[-1].endswith("after")


def test_patterns_pick_up_new_files_and_know_rotated_ones(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a.log").write_text("before\n")
    (logs / "folder.log").mkdir()
    script = """echo a1 >>logs/a.log; sleep 0.3; mv logs/a.log logs/a.1.log; echo a2 >logs/a.log; echo b1 >logs/b.log; sleep 0.8
echo b2 >>logs/b.log; sleep 0.3"""
    run = followed(tmp_path, script, "logs/*.log")
    assert texts(run, logs / "a.log") == ["a1", "a2"]
    assert texts(run, logs / "b.log") == ["b1", "b2"]
    assert {line["stream"] for line in lines(run)} == {str(logs / "a.log"), str(logs / "b.log")}


def test_long_lines_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    code = ("import time; f = open('server.log', 'wb'); f.write(b'a' * 10_000_000 + b'\\n\\x00\\xff\\xfe bin\\n'); f.flush()\n"
            "time.sleep(0.8)")
    run = tmp_path / "run"
    assert trace(run, PYTHON, "-c", code, options=("--log", log), cwd=tmp_path).returncode == 0
    pieces = [line for line in lines(run) if line["text"].startswith("a")]
    assert "".join(p["text"] for p in pieces) == "a" * 10_000_000
    assert [p.get("cont", 0) for p in pieces] == [0] + [1] * (len(pieces) - 1)
    last = lines(run)[-1]
    assert last["text"] == "\x00\ufffd\ufffd bin" and last["raw"] == 1


@pytest.mark.parametrize("kind", ["folder", "fifo", "device"])
def test_what_cannot_be_followed_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.log"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path = Path("/dev/null")
    done = trace(tmp_path / "run", "/bin/echo", "ran", options=("--log", path), timeout=30)
    assert done.returncode == 125 and done.stdout == b""
    assert done.stderr.decode().startswith(f"teller: error: following the log file {path}: it is a ")


@needs_root
def test_a_file_that_may_not_be_read_is_refused(open_tmp: Path) -> None:
    log = open_tmp / "x.log"
    log.write_text("x")
    log.chmod(0)
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", teller_binary(), "trace", "-o", "/tmp/never",
               "--log", log, "--", "/bin/true"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd="/")
    assert done.returncode == 125 and "Permission denied" in done.stderr


def test_a_file_that_comes_later_as_something_else_is_told(tmp_path: Path) -> None:
    run = followed(tmp_path, "mkfifo late.log; sleep 0.3", tmp_path / "late.log")
    assert "FIFO" in manifest(run)["logs_followed"][0]["problem"]


TRACEBACKS = """
import sys, time
def say(text):
    sys.stderr.write(text + '\\n'); sys.stderr.flush()
now = time.strftime('%m-%d %H:%M:%S')
rows = ['WorkerProc hit an exception.', 'Traceback (most recent call last):', '  File "x.py", line 3, in f',
        'torch.OutOfMemoryError: CUDA out of memory.']
for row in rows:
    for who in ('Worker_TP0 pid=70', 'Worker_TP1 pid=71'):
        say('(' + who + ') ERROR ' + now + ' [core.py:349] ' + row)
say('(EngineCore_DP0 pid=69) INFO ' + now + ' [core.py:1] Added request cmpl-7f3a.')
"""


def test_fields_and_entries(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert trace(run, PYTHON, "-c", TRACEBACKS).returncode == 0
    fields = dumped(run, "logs")[0]["fields"]
    assert fields == {"format": "vllm", "level": "ERROR", "process": "Worker_TP0", "pid": 70, "source": "core.py:349",
                      "ranks": {"tp": 0}, "message": "WorkerProc hit an exception."}
    assert dumped(run, "logs")[-1]["fields"]["requests"] == ["cmpl-7f3a"]
    assert "fields" not in run_teller("dump", run, "logs").stdout
    assert run_teller("reconstruct", run).returncode == 0
    chains = dumped(run, "chains.logs")
    assert [line["entry"] for line in chains] == [0, 1, 0, 1, 0, 1, 0, 1, 8]
    assert chains[1]["process"] == "Worker_TP1" and chains[1]["ranks"] == "TP1" and chains[1]["pid"] == 71
    # The year comes from the arrival, the zone from the host.
    offset = manifest(run)["clock"]["unix_offset_ns"]
    written = time.strptime(f"{time.localtime().tm_year} {dumped(run, 'logs')[0]['text'].split()[3]} 12", "%Y %m-%d %H")
    assert time.localtime((chains[0]["stamp_ns"] + offset) / 1e9)[:3] == written[:3]
    assert all(abs(line["stamp_ns"] - line["time_ns"]) < 60e9 for line in chains)
    counters = json.loads((run / "reconstruct.json").read_text())["counters"]
    assert counters["log_entries"] == 3 and counters["log_lines_continued"] == 6


# A folder of reports, each a JSON file with "log_lines".
INCIDENTS = sorted(Path(os.environ.get("TELLER_INCIDENTS", os.devnull)).glob("*.json"))


@pytest.mark.skipif(not INCIDENTS, reason="no folder of incidents (TELLER_INCIDENTS)")
def test_lines_of_reported_incidents(tmp_path: Path) -> None:
    """Says for each report how many of its lines have a known format; reports quote many lines without their prefix."""
    log = tmp_path / "incidents.log"
    known = total = with_level = 0
    for path in INCIDENTS:
        rows = [row for line in json.loads(path.read_text())["log_lines"] for row in line.splitlines() if row.strip()]
        if not rows:
            continue
        log.write_text("\n".join(rows) + "\n")
        run = tmp_path / path.stem
        source = ROOT / "tests/python/data/one_event.json"
        assert run_teller("import", source, "--log", log, "-o", run).returncode == 0
        read = [record["fields"] for record in dumped(run, "logs")]
        assert len(read) == len(rows)
        parsed = sum("format" in f for f in read)
        print(f"{path.stem}: {parsed} of {len(rows)}")
        known, total = known + parsed, total + len(rows)
        with_level += sum("level" in f for f in read)
    print(f"all: {known} of {total} lines have a known format, {with_level} a level")
    assert known >= 0.5 * total


SECRETS = ["hf_abcdefghijABCDEFGHIJ0123", "sk-abc123DEF456ghi789", "AKIAIOSFODNN7EXAMPLE", "p4ssw0rd", "zzBEARERzz12345",
           "the secret prompt", "31337", "argvsecret", "envsecret", "custom-0042"]
LEAKY = r"""
import os, sys, time
def w(data):
    os.write(1, data.encode()); time.sleep(0.02)
w('token hf_abcdefghij'); w('ABCDEFGHIJ0123 ok\n')
w('key=1 sk-abc123DEF'); w('456ghi789\nAKIAIOSFODNN7EXAMPLE\n')
w('connecting to redis://u:p4ss'); w('w0rd@h:1/0\n')
w("curl -H 'Authorization: Bea"); w("rer zzBEARERzz12345'\n")
w("INFO 11-03 23:14:01 [logger.py:39] Received request cmpl-1: prompt: 'the secret pro"); w("mpt', params: 1, prompt_token_ids: [313"); w("37, 31337].\n")
w('Traceback (most recent call last):\n  File "a.py", line 1\n    OpenAI(api_key="argvsecret")\nValueError: hf_abcdefghijABCDEFGHIJ0123\n')
w('x' * 65_530 + ' password=p4ssw0rd end\n')
w('{"messages": [\n  {"content": "the secret prompt"}\n]}\n')
w('custom-0042\n')
"""


def test_secrets_are_passed_on_and_not_stored(tmp_path: Path) -> None:
    run = tmp_path / "run"
    environment = {**os.environ, "VLLM_API_KEY": "envsecret", "NCCL_X": "http://u:envsecret@h/"}
    command = (PYTHON, "-c", LEAKY, "--api-key", "argvsecret", "--hf-token=argvsecret")
    plain = subprocess.run(command, capture_output=True, env=environment, timeout=60)
    done = trace(run, *command, options=("-q", "--redact-pattern", "custom-[0-9]+"), env=environment)
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)
    # The program itself is an argument, and what it prints stands in it.
    stored = {path.name: path.read_text(errors="replace") for path in run.rglob("*") if path.is_file()}
    for secret in SECRETS:
        for name in ("logs.jsonl", "context.jsonl"):
            assert secret not in stored[name], (secret, name)
    for secret in ("argvsecret", "envsecret"):
        assert not [name for name, text in stored.items() if secret in text.replace('api_key=\\"argvsecret', "")]
    counts = manifest(run)["redaction"]["counts"]
    assert counts["pattern"] >= 1 and counts["prompt"] >= 2 and counts["token_ids"] >= 1 and counts["bearer"] >= 1
    assert "ok" in texts(run)[0] and texts(run)[0] == "token <redacted:hf_token> ok"


def test_nothing_secret_is_left_in_the_whole_run(tmp_path: Path) -> None:
    program = tmp_path / "leaky.py"
    program.write_text(LEAKY)
    run = tmp_path / "run"
    assert trace(run, PYTHON, program, "--api-key", "argvsecret", options=("--redact-pattern", "custom-[0-9]+")).returncode == 0
    for secret in SECRETS:
        found = subprocess.run(["grep", "-r", "-a", "-l", secret, run], capture_output=True, text=True)
        assert found.stdout == "", secret


def test_no_redact_keeps_all(tmp_path: Path) -> None:
    run = tmp_path / "run"
    code = "print('api_key=argvsecret')"
    assert trace(run, PYTHON, "-c", code, "--api-key", "argvsecret", options=("--no-redact",)).returncode == 0
    assert texts(run) == ["api_key=argvsecret"]
    assert manifest(run)["target"]["argv"][-1] == "argvsecret"
    assert manifest(run)["redaction"] == {"on": False, "patterns": 0, "counts": {}}


@pytest.mark.parametrize("pattern", ["(", "a*"])
def test_bad_patterns_are_refused(tmp_path: Path, pattern: str) -> None:
    done = trace(tmp_path / "run", "/bin/echo", "ran", options=("--redact-pattern", pattern))
    assert done.returncode == 2 and done.stdout == b""
    assert done.stderr.decode().startswith("teller: error: reading the pattern") and done.stderr.count(b"\n") == 1
