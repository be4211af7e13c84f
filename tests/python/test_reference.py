"""Counts of real traces equal those that the reference script computed the slow and obvious way.

Needs the folder of shared traces (TELLER_SHARED, default ../shared beside the project) and a binary (TELLER_BIN).
"""
from __future__ import annotations

import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = Path(os.environ.get("TELLER_SHARED", ROOT.parent / "shared"))
TELLER = os.environ.get("TELLER_BIN", "teller")
TRACES = SHARED / "traces"


def reference() -> list[dict]:
    """The reference values, one object per file; none where the traces are absent."""
    path = TRACES / "reference.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def teller(*arguments: str | Path) -> str:
    """Runs teller, and returns its standard output."""
    command = [TELLER, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if "not built into this teller" in done.stderr:
        pytest.skip(f"this teller was built without {arguments[0]}")
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the traces that the shared folder holds as archives."""
    folder = tmp_path_factory.mktemp("unpacked")
    for archive in sorted(TRACES.rglob("*.tar.gz")):
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    return folder


def find(name: str, unpacked_folder: Path) -> Path | None:
    """Where the trace `name` is."""
    for folder in (TRACES, unpacked_folder):
        for path in folder.rglob(name):
            return path
    return None


@pytest.mark.skipif(not TRACES.is_dir(), reason=f"no real traces at {TRACES}")
@pytest.mark.parametrize("expected", reference(), ids=lambda entry: entry["file"])
def test_counts_equal_the_reference(expected: dict, unpacked: Path, tmp_path: Path) -> None:
    """Import, reconstruct, stats: every key of the reference, and a balance that adds up."""
    trace = find(expected["file"], unpacked)
    if trace is None:
        pytest.skip(f"{expected['file']} is not in {TRACES}")
    run = tmp_path / "run"
    teller("import", trace, "-o", run)
    report = json.loads(teller("reconstruct", run, "--json"))
    stats = json.loads(teller("stats", run, "--json"))
    assert len(stats["sources"]) == 1
    found = {key: stats["sources"][0].get(key) for key in expected}
    assert found == expected
    records = report["total"]["records"]
    assert records["records_in"] == sum(count for key, count in records.items() if key != "records_in")
    assert report["counters"]["bound_by_correlation"] == expected["device_activities_bound"]


@pytest.mark.skipif(not TRACES.is_dir(), reason=f"no real traces at {TRACES}")
@pytest.mark.parametrize(
    ("name", "step", "tokens", "kernels"),
    [
        ("vllm_decode_mi300_hipgraph", "execute_32_context_0", 32, 434),
        ("sglang_qwen3_8b_prefilldecode_mi300", "execute_15360_context_15", 15360, 534),
    ],
)
def test_inference_steps_hold_their_kernels(name: str, step: str, tokens: int, kernels: int, tmp_path: Path) -> None:
    """The engines' annotations are steps, with all device work under them."""
    run = tmp_path / "run"
    teller("import", TRACES / "kineto" / f"{name}.json.gz", "-o", run)
    coverage = json.loads(teller("reconstruct", run, "--json"))["coverage"]
    assert coverage["steps"] == 1
    assert coverage["device_in_steps"] == {"count": kernels, "of": kernels, "share": 1.0}
    dump = [json.loads(line) for line in teller("dump", run, "chains", "--json").splitlines()]
    steps = [line for line in dump if line.get("record") == "step"]
    roots = [line for line in dump if line.get("record") == "node" and line["id"] == steps[0]["root"]]
    assert steps[0]["tokens"] == tokens
    assert roots[0]["name"].startswith(step)
    calls = {line["id"]: line for line in dump if line.get("record") == "node" and line["layer"] == "RT"}
    per_call: dict[str, int] = {}
    for line in dump:
        if line.get("record") == "node" and line["layer"] == "K":
            call = calls[line["parent"]]["name"]
            per_call[call] = per_call.get(call, 0) + 1
    if "hipgraph" in name:
        assert per_call["hipGraphLaunch"] == 421
