"""What trace samples around a program: processes, host, control groups, GPUs, metrics of engines."""
from __future__ import annotations

import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import run_teller, teller_binary
from trace_support import BUILD, PYTHON, dumped, manifest, trace

METRICS = b"""# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0"} 3
vllm:num_requests_waiting{engine="0"} 5
vllm:kv_cache_usage_perc{engine="0"} 0.5
vllm:num_preemptions_total{engine="0"} %d
process_open_fds 7
"""
SLEEP = "import time; time.sleep(1.6)"


def of_kind(run: Path, kind: str) -> list:
    """The run's samples of a kind."""
    return [record for record in dumped(run, "context") if record["kind"] == kind]


class Server:
    """A server in this process; `paths` are what was asked of it."""

    def __init__(self, answer: bytes = METRICS, status: int = 200) -> None:
        outer = self
        self.paths: list = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # noqa: N802 (the name that the base class calls)
                outer.paths.append(self.path)
                body = answer.replace(b"%d", str(len(outer.paths)).encode())
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/metrics"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def test_processes_and_host_are_sampled(tmp_path: Path) -> None:
    run = tmp_path / "run"
    code = ("import os, time; pid = os.fork(); t = time.monotonic()\n"
            "while time.monotonic() - t < 2.6: pass\n"
            "pid and os.wait()")
    assert trace(run, PYTHON, "-c", code).returncode == 0
    by_pid: dict = {}
    for record in of_kind(run, "process"):
        by_pid.setdefault(record["pid"], []).append(record)
    assert len([pid for pid, records in by_pid.items() if len(records) >= 2]) == 2
    target = by_pid[manifest(run)["target"]["pid"]]
    assert target[-1]["user_ns"] > target[0]["user_ns"]
    assert all(record["rss"] > 1e6 and record["threads"] == 1 for record in target[1:])
    assert len(of_kind(run, "host")) >= 2
    assert of_kind(run, "host")[0]["memory_available"] > 0
    times = [record["t"] for record in dumped(run, "context")]
    assert times == sorted(times)
    entry = manifest(run)["artifacts"]["context"]
    assert entry["records"] == len(times) == manifest(run)["counters"]["trace.context_records"]
    assert run_teller("verify", run).returncode == 0
    stats = json.loads(run_teller("stats", run, "--json").stdout)["context"]
    assert {p["pid"] for p in stats["processes"]} == set(by_pid)
    assert "context: " in run_teller("stats", run).stdout


def test_context_can_be_off_and_counts_towards_the_size(tmp_path: Path) -> None:
    run = tmp_path / "off"
    assert trace(run, PYTHON, "-c", SLEEP, options=("--no-context",)).returncode == 0
    assert not (run / "context.jsonl").exists() and "context" not in manifest(run)["artifacts"]
    run = tmp_path / "small"
    assert trace(run, PYTHON, "-c", "import time; time.sleep(2.5)", options=("--max-size", "700")).returncode == 0
    assert "--max-size" in manifest(run)["capture_stopped"]
    # The size may be used up before the first sample.
    assert not (run / "context.jsonl").exists() or len(of_kind(run, "host")) < 3


def test_samples_outlive_their_recorder(tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [teller_binary(), "trace", "-q", "-o", run, "--", "/bin/sh", "-c", "echo up; sleep 2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as launcher:
        launcher.stdout.readline()
        time.sleep(0.6)
        children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
        recorder = [int(c) for c in children if Path(f"/proc/{c}/comm").read_text().startswith("teller-rec")]
        os.kill(recorder[0], signal.SIGKILL)
        assert launcher.wait(timeout=20) == 0
    assert manifest(run)["state"] == "recording" and len(of_kind(run, "host")) >= 1


def test_broken_samples_are_counted(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert trace(run, "/bin/true").returncode == 0
    with open(run / "context.jsonl", "a", encoding="utf-8") as file:
        file.write('not JSON\n[1]\n{"kind": "process", "pid": "x", "rss": {}}\n{"kind": "metrics", "url": 1, "series": {"a": "b"}}\n'
                   '{"kind": "cgroup", "path": [], "cpu_limit": "2"}\n{"kind": "gpu", "gpu": 1e300, "throttle": [1, "x"], "xid": -1}\n{"kind"')
    stats = json.loads(run_teller("stats", run, "--json").stdout)["context"]
    assert stats["malformed"] == 3
    done = run_teller("stats", run)
    assert done.returncode == 0 and "context: " in done.stdout
    assert run_teller("dump", run, "context").stdout.count("broken") == 3
    assert run_teller("verify", run).returncode != 0


def test_gpus_are_sampled_through_nvml(tmp_path: Path) -> None:
    folder = BUILD / "tests/targets/fake_nvml"
    if not folder.exists():
        pytest.skip("the fake NVML is not built")
    run = tmp_path / "run"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
    assert trace(run, PYTHON, "-c", SLEEP, env=environment).returncode == 0
    good = [record for record in of_kind(run, "gpu") if record["gpu"] == 0]
    assert len(good) >= 2
    expected = {"uuid": "GPU-fake-0", "graphics_clock_mhz": 1000, "sm_clock_mhz": 1001, "memory_clock_mhz": 1002,
                "throttle": ["power_cap", "hw_thermal"], "throttle_bits": 68, "power_mw": 350000, "memory_used": 60 << 30,
                "memory_total": 80 << 30, "busy_percent": 97, "ecc_corrected": 5, "ecc_uncorrected": 2}
    assert {key: value for key, value in good[0].items() if key not in ("record", "t", "kind", "gpu")} == expected
    lost = next(record for record in of_kind(run, "gpu") if record["gpu"] == 1)
    assert lost["nvml_error"] == 15 and "power_mw" not in lost
    assert [(e["gpu"], e["event"], e["xid"]) for e in of_kind(run, "gpu_event")] == [(1, "xid", 79)]
    stats = json.loads(run_teller("stats", run, "--json").stdout)["context"]["gpus"]
    assert stats[0]["samples"]["throttled hw_thermal"] >= 2 and stats[1]["samples"] == {"xid 79": 1}
    assert run_teller("reconstruct", run).returncode == 0
    notes = json.loads(run_teller("report", run, "--json").stdout)["surroundings"]["notes"]
    assert [note["kind"] for note in notes] == ["gpu_throttled", "gpu_throttled", "gpu_xid"]
    report = run_teller("report", run).stdout
    assert "Around the program" in report and "GPU 1: xid 79 in 1 events" in report


def test_the_report_says_what_was_short(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert trace(run, "/bin/true").returncode == 0
    assert run_teller("reconstruct", run).returncode == 0
    quiet = json.loads(run_teller("report", run, "--json").stdout)["surroundings"]
    assert quiet["samples"] >= 1 and quiet["notes"] == []
    assert "Around the program" not in run_teller("report", run).stdout
    group = {"kind": "cgroup", "path": "/job", "cpu_limit": 2.0, "memory_limit": 1000, "memory_bytes": 990, "periods": 10, "throttled_periods": 1,
             "throttled_ns": 0, "oom_kills": 0}
    later = {**group, "periods": 110, "throttled_periods": 61, "throttled_ns": 2_500_000_000, "oom_kills": 1}
    metrics = {"kind": "metrics", "url": "http://127.0.0.1:8000/metrics",
               "series": {"vllm:kv_cache_usage_perc": 0.99, "vllm:num_preemptions_total": 4}}
    after = {**metrics, "series": {"vllm:kv_cache_usage_perc": 0.5, "vllm:num_preemptions_total": 9}}
    with open(run / "context.jsonl", "a", encoding="utf-8") as file:
        for number, record in enumerate((group, later, metrics, after, {"kind": "process", "pid": 9, "major_faults": 0},
                                         {"kind": "process", "pid": 9, "major_faults": 5000})):
            file.write(json.dumps({"t": number, **record}) + "\n")
    notes = {note["kind"]: note["text"] for note in json.loads(run_teller("report", run, "--json").stdout)["surroundings"]["notes"]}
    assert notes == {
        "cpu_throttled": "control group /job: its processes were held back in 60 of 100 periods, 2.50 s in all, at a limit of 2.0 cores",
        "oom_kill": "control group /job: 1 processes killed for memory", "memory_limit": "control group /job: memory reached 99 % of its limit",
        "kv_full": "engine at http://127.0.0.1:8000/metrics: KV cache up to 99 %",
        "preemptions": "engine at http://127.0.0.1:8000/metrics: 5 preemptions", "major_faults": "process 9 waited for 5000 pages from disk"}


def test_metrics_are_scraped_on_request(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with Server() as server:
        assert trace(run, PYTHON, "-c", SLEEP, options=("--metrics", server.url)).returncode == 0
    records = of_kind(run, "metrics")
    assert len(records) >= 2 and set(server.paths) == {"/metrics"}
    assert records[0]["engine"] == "vllm" and records[0]["other_series"] == 1
    assert records[0]["series"]['vllm:num_requests_waiting{engine="0"}'] == 5
    engine = json.loads(run_teller("stats", run, "--json").stdout)["context"]["engines"][0]
    assert engine["waiting_max"] == 5 and engine["kv_usage_max"] == 0.5 and engine["preemptions"] == len(records) - 1


def test_all_metrics_and_failures(tmp_path: Path) -> None:
    with Server() as server:
        run = tmp_path / "all"
        options = ("--metrics", server.url, "--metrics-all")
        assert trace(run, PYTHON, "-c", SLEEP, options=options).returncode == 0
    assert of_kind(run, "metrics")[0]["series"]["process_open_fds"] == 7
    with Server(status=404) as server:
        run = tmp_path / "bad"
        options = ("--metrics", server.url, "--metrics", "http://127.0.0.1:1/metrics")
        assert trace(run, PYTHON, "-c", SLEEP, options=options).returncode == 0
    records = of_kind(run, "metrics")
    assert len(records) == 2 and records[0]["status"] == 404 and "127.0.0.1:1" in records[1]["error"]
    assert manifest(run)["counters"]["trace.scrapes_failed"] >= 4


def test_a_server_that_says_nothing_delays_nobody(tmp_path: Path) -> None:
    import socket
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/metrics"
        run = tmp_path / "run"
        done = trace(run, PYTHON, "-c", "print('hi')", options=("--metrics", url), timeout=60)
    assert done.returncode == 0 and done.stdout == b"hi\n"
    assert manifest(run)["state"] == "sealed"


ENGINE = """
import http.server, sys, time, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'vllm:num_requests_running 1\\n'
        self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers()
        self.wfile.write(body)
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
time.sleep(3)
"""


@pytest.mark.parametrize("options, found", [((), True), (("--no-metrics",), False)])
def test_the_server_of_an_engine_is_found(tmp_path: Path, options: tuple, found: bool) -> None:
    engine = tmp_path / "vllm"
    engine.write_text(ENGINE)
    run = tmp_path / "run"
    done = trace(run, sys.executable, engine, "serve", "model", options=options)
    assert done.returncode == 0
    assert (len(of_kind(run, "metrics")) >= 1) == found
    assert (b"GET /metrics" in done.stderr) == found


@pytest.mark.parametrize("url", ["https://h/metrics", "localhost:8000", "http://user:pw@h/"])
def test_bad_addresses_are_refused(tmp_path: Path, url: str) -> None:
    done = trace(tmp_path / "run", "/bin/true", options=("--metrics", url))
    assert done.returncode == 2
    message = done.stderr.decode()
    assert message.count("\n") == 1 and message.startswith("teller: error: ") and "http://HOST:PORT/metrics" in message
    assert "pw@" not in message
