"""Every command, given nothing or nonsense: one clear line, an exit code that means something, and the input intact."""
from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import as_nobody, expect_one_line, needs_root, run_teller, teller_binary, xxh128sum

RUN_COMMANDS = ("reconstruct", "slice", "report", "stats", "dump", "verify")
COMMANDS = ("trace", "import", "tpe-train", "encode", *RUN_COMMANDS)

TRACE = {"schemaVersion": 1, "traceEvents": [
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 100, "dur": 90},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 110, "dur": 50},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 120, "dur": 5,
     "args": {"correlation": 7}},
    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 130, "dur": 20,
     "args": {"correlation": 7, "device": 0, "stream": 7}},
]}


@pytest.fixture(scope="module")
def good_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run with every artefact."""
    folder = tmp_path_factory.mktemp("good")
    trace = folder / "trace.json"
    trace.write_text(json.dumps(TRACE))
    run = folder / "run"
    for args in (("import", trace, "-o", run), ("reconstruct", run), ("slice", run)):
        done = run_teller(*args)
        assert done.returncode == 0, done.stderr
    return run


@pytest.fixture
def run(good_run: Path, tmp_path: Path) -> Path:
    """A copy of the good run, to be damaged."""
    copy = tmp_path / "run"
    shutil.copytree(good_run, copy)
    return copy


def state_of(path: Path) -> dict[str, str]:
    """Checksums of a file or of every file below a folder."""
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_arguments(command: str, tmp_path: Path) -> None:
    expect_one_line(run_teller(command, cwd=tmp_path), 2)
    assert list(tmp_path.iterdir()) == []


def test_no_command_at_all() -> None:
    expect_one_line(run_teller(), 2)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command: str) -> None:
    done = run_teller(command, "--help")
    assert done.returncode == 0 and f"teller {command}" in done.stdout and "xample" in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_unknown_option(command: str, tmp_path: Path) -> None:
    expect_one_line(run_teller(command, "--no-such-option", "x", cwd=tmp_path), 2)


@pytest.mark.parametrize("command", RUN_COMMANDS)
def test_missing_run(command: str, tmp_path: Path) -> None:
    expect_one_line(run_teller(command, tmp_path / "none"), 3, says=str(tmp_path / "none"))


@pytest.mark.parametrize("command", RUN_COMMANDS)
def test_run_is_a_file(command: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("hello")
    expect_one_line(run_teller(command, file), 2, 4, says=str(file))
    assert file.read_text() == "hello"


@pytest.mark.parametrize("command", RUN_COMMANDS)
def test_empty_folder(command: str, tmp_path: Path) -> None:
    expect_one_line(run_teller(command, tmp_path), 4, says="manifest.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", RUN_COMMANDS)
@pytest.mark.parametrize("text", ["", "{", "[1]", '{"format": "other"}', '{"format":"teller.run","schema":"9.0"}'])
def test_wrong_manifest(command: str, text: str, run: Path) -> None:
    (run / "manifest.json").write_text(text)
    before = state_of(run)
    expect_one_line(run_teller(command, run), 4, 5)
    assert state_of(run) == before


@pytest.mark.parametrize("command", ["slice", "report", "dump"])
@pytest.mark.parametrize("cut", [0, 1, 31, 1000])
def test_truncated_chains(command: str, cut: int, run: Path) -> None:
    chains = run / "chains.tcol"
    chains.write_bytes(chains.read_bytes()[:cut])
    before = state_of(run)
    expect_one_line(run_teller(command, run), 4)
    assert state_of(run) == before


def test_verify_does_not_read_what_has_grown(run: Path) -> None:
    os.truncate(run / "slices.tcol", 1 << 40)  # sparse; hashing it would take an hour
    done = run_teller("verify", run, timeout=60)
    assert done.returncode == 4 and "size differs" in done.stdout


def test_verify_looks_at_every_artefact_of_the_manifest(run: Path) -> None:
    assert run_teller("reconstruct", run).returncode == 0
    assert run_teller("verify", run).returncode == 0
    for name, entry in json.loads((run / "manifest.json").read_text())["artifacts"].items():
        for file in entry["files"]:
            path = run / file["path"]
            whole = path.read_bytes()
            path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]) if whole else b"x")
            done = run_teller("verify", run)
            assert done.returncode == 4 and file["path"] in done.stdout, (name, file, done.stdout)
            path.write_bytes(whole)
    assert run_teller("verify", run).returncode == 0


def first_file_of(run: Path) -> tuple[dict, dict]:
    """The manifest and, in it, what it says of the first event file."""
    manifest = json.loads((run / "manifest.json").read_text())
    return manifest, manifest["artifacts"]["events"]["files"][0]


def test_verify_takes_digests_of_either_kind(run: Path) -> None:
    manifest, entry = first_file_of(run)
    path = run / entry["path"]
    assert entry.pop("xxh128") == xxh128sum(path)
    entry["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()  # as older runs have it
    (run / "manifest.json").write_text(json.dumps(manifest))
    assert run_teller("verify", run).returncode == 0
    entry["sha256"] = "0" * 64
    (run / "manifest.json").write_text(json.dumps(manifest))
    done = run_teller("verify", run)
    assert done.returncode == 4 and "its checksum differs from the manifest's" in done.stdout


@pytest.mark.parametrize(("digest", "words"), [
    ({}, "the manifest holds no checksum of it (xxh128)"),
    ({"xxh128": "0" * 31}, "its xxh128 in the manifest is not 32 hexadecimal digits"),
    ({"xxh128": "X" * 32}, "its xxh128 in the manifest is not 32 hexadecimal digits"),
    ({"xxh128": 7}, "its xxh128 in the manifest is not 32 hexadecimal digits"),
    ({"sha256": "0" * 32}, "its sha256 in the manifest is not 64 hexadecimal digits"),
    ({"sha256": None}, "its sha256 in the manifest is not 64 hexadecimal digits"),
    ({"xxh128": "0" * 32}, "its checksum differs from the manifest's"),
])
def test_verify_of_a_file_without_a_good_digest_is_one_line(digest: dict, words: str, run: Path) -> None:
    manifest, entry = first_file_of(run)
    del entry["xxh128"]
    entry.update(digest)
    (run / "manifest.json").write_text(json.dumps(manifest))
    done = run_teller("verify", run)
    assert done.returncode == 4
    lines = [line for line in done.stdout.splitlines() if words in line]
    assert len(lines) == 1 and entry["path"] in lines[0], done.stdout


@pytest.mark.parametrize("command", ["import", "reconstruct"])
def test_a_limit_of_file_sizes_is_one_line(command: str, run: Path, tmp_path: Path) -> None:
    events = [{"ph": "X", "cat": "cpu_op", "name": f"op {n}", "pid": 1, "tid": 1, "ts": n, "dur": 1} for n in range(2000)]
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": events}))
    words = {"import": ["import", tmp_path / "trace.json", "-o", tmp_path / "new"], "reconstruct": ["reconstruct", run]}[command]
    shell = 'ulimit -f 1; exec "$@"'
    done = subprocess.run(["/bin/sh", "-c", shell, "sh", teller_binary(), *map(str, words)], capture_output=True, text=True, timeout=60)
    expect_one_line(done, 6, says="File too large")
    assert not list(tmp_path.glob("new*"))


def test_two_dashes_end_the_options(run: Path) -> None:
    assert run_teller("stats", "--", run).stdout == run_teller("stats", run).stdout != ""


def test_a_slices_file_is_printed_like_the_artefact(run: Path) -> None:
    of_run, of_file = run_teller("dump", run, "slices"), run_teller("dump", run / "slices.tcol")
    assert of_run.returncode == of_file.returncode == 0, of_file.stderr
    assert of_run.stdout == of_file.stdout != ""


def test_names_too_long_for_a_baseline_file_are_left_out(tmp_path: Path) -> None:
    events = []
    for step in range(30):
        for name, begin, length in ((f"ProfilerStep#{step}", 0, 900), ("x" * 70000, 10, 50), ("aten::mm", 100, 50)):
            events.append({"ph": "X", "cat": "user_annotation" if begin == 0 else "cpu_op", "name": name, "pid": 1,
                           "tid": 1, "ts": step * 1000 + begin, "dur": length + step % 5})
    (tmp_path / "trace.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    run, baseline = tmp_path / "run", tmp_path / "baseline.json"
    for args in (("import", tmp_path / "trace.json", "-o", run), ("reconstruct", run),
                 ("slice", run, "--save-baseline", baseline), ("slice", run, "--baseline", baseline)):
        done = run_teller(*args)
        assert done.returncode == 0, done.stderr
    families = {key["family"] for entry in json.loads(baseline.read_text())["entries"] for key in entry["keys"]}
    assert any("mm" in family for family in families) and max(map(len, families)) < 70000


@pytest.mark.parametrize("command", ["slice", "report"])
def test_not_reconstructed(command: str, run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["artifacts"] = {"events": manifest["artifacts"]["events"]}
    (run / "manifest.json").write_text(json.dumps(manifest))
    expect_one_line(run_teller(command, run), 3, says="teller reconstruct")


@pytest.mark.parametrize("command", ["slice", "report"])
def test_stale_chains(command: str, run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["artifacts"]["events"]["digest"] = "0" * 64
    (run / "manifest.json").write_text(json.dumps(manifest))
    expect_one_line(run_teller(command, run), 7, says="teller reconstruct")


def test_truncated_events_are_read_as_far_as_they_go(run: Path) -> None:
    events = next((run / "events").glob("*.tev"))
    events.write_bytes(events.read_bytes()[:-40])
    done = run_teller("reconstruct", run)
    assert done.returncode == 0, done.stderr
    assert "lost" in done.stdout + done.stderr or "cut" in done.stdout + done.stderr or "not finish" in done.stdout + done.stderr


@pytest.mark.parametrize("text", ["", "hello", "{}", "[]", '{"a": 1}', "\0" * 100, "\x1f\x8b\x08", "SQLite format 3\0"])
def test_import_of_what_is_no_trace(text: str, tmp_path: Path) -> None:
    file = tmp_path / "trace"
    file.write_bytes(text.encode("latin-1"))
    expect_one_line(run_teller("import", file, "-o", tmp_path / "run"), 4, 5, says=str(file))
    assert file.read_bytes() == text.encode("latin-1")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9, 0.999])
def test_import_of_a_truncated_trace(packed: bool, keep: float, tmp_path: Path) -> None:
    data = json.dumps(TRACE).encode()
    data = gzip.compress(data) if packed else data
    file = tmp_path / "trace"
    file.write_bytes(data[:max(1, int(len(data) * keep))])
    expect_one_line(run_teller("import", file, "-o", tmp_path / "run"), 4, says=str(file))
    assert not (tmp_path / "run").exists()


def test_import_of_missing_file_and_folder(tmp_path: Path) -> None:
    expect_one_line(run_teller("import", tmp_path / "none", "-o", tmp_path / "run"), 3)
    expect_one_line(run_teller("import", tmp_path, "-o", tmp_path / "run"), 4)
    assert list(tmp_path.iterdir()) == []


def test_import_never_replaces_unasked(run: Path, tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    trace.write_text(json.dumps(TRACE))
    before = state_of(run)
    expect_one_line(run_teller("import", trace, "-o", run), 2, says="--overwrite")
    assert state_of(run) == before


@needs_root
@pytest.mark.parametrize("command", RUN_COMMANDS)
def test_unreadable_run(command: str, good_run: Path, open_tmp: Path) -> None:
    run = open_tmp / "run"
    shutil.copytree(good_run, run)
    os.chmod(run, 0o700)
    expect_one_line(as_nobody(command, run), 3, says="ermission")


@needs_root
@pytest.mark.parametrize("command", ["reconstruct", "slice"])
def test_read_only_run(command: str, good_run: Path, open_tmp: Path) -> None:
    run = open_tmp / "run"
    shutil.copytree(good_run, run)
    before = state_of(run)
    expect_one_line(as_nobody(command, run), 3, says="ermission")
    assert state_of(run) == before


@needs_root
def test_import_into_and_from_where_nobody_may(open_tmp: Path) -> None:
    trace = open_tmp / "t.json"
    trace.write_text(json.dumps(TRACE))
    expect_one_line(as_nobody("import", trace, "-o", open_tmp / "run"), 3, says="ermission")
    os.chmod(trace, 0o600)
    expect_one_line(as_nobody("import", trace, "-o", "/tmp/teller-never"), 3, says="ermission")
    assert not Path("/tmp/teller-never").exists()


@needs_root
def test_import_onto_a_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode != 0:
        pytest.skip("mounting a tmpfs is not allowed here")
    try:
        trace = tmp_path / "t.json"
        events = [{**TRACE["traceEvents"][1], "name": f"op{n}", "ts": n} for n in range(5000)]
        trace.write_text(json.dumps({"traceEvents": events}))
        expect_one_line(run_teller("import", trace, "-o", disk / "run"), 6, says="No space left")
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("command", ["reconstruct", "slice", "stats", "report", "dump"])
def test_output_nobody_reads_is_no_crash(command: str, good_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(good_run, run)
    from conftest import teller_binary
    shell = f"{teller_binary()} {command} {run} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], text=True, capture_output=True, timeout=120)
    assert done.returncode in (0, 6, 141) and "terminate" not in done.stderr, (done.returncode, done.stderr)


def test_commands_at_the_same_time_do_not_disturb_each_other(run: Path) -> None:
    command = [teller_binary(), "slice", str(run)]
    for _ in range(5):
        running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(6)]
        for process in running:
            _, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors
    assert run_teller("verify", run).returncode == 0
    assert not list(run.rglob("*.part"))
