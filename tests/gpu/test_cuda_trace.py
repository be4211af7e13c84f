"""What only a machine with an NVIDIA GPU can show: real CUPTI. Skipped, and said, where there is none."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from conftest import run_teller, teller_binary  # noqa: E402
from trace_support import dumped, events, sources  # noqa: E402

PYTHON = os.environ.get("TELLER_PYTHON", sys.executable)
DRIVER_PROGRAM = Path(teller_binary()).resolve().parents[2] / "tests/gpu/gpu_driver_program"
NO_GPU = 77

TORCH_PROGRAM = """
import torch
x = torch.randn(512, 512, device="cuda")
for step in range(5):
    torch.cuda.nvtx.range_push(f"step {step}")
    y = (x @ x).relu()
    torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
print(float(y.sum()) == float((x @ x).relu().sum()))
"""

PROFILED_PROGRAM = """
import torch
x = torch.randn(256, 256, device="cuda")
with torch.profiler.profile() as profile:
    for _ in range(5):
        x = (x @ x).relu()
    torch.cuda.synchronize()
names = {event.key for event in profile.key_averages()}
print("aten::mm" in names)
"""


def has_gpu() -> bool:
    """True where the driver finds a device. The driver's program needs nothing else."""
    if not DRIVER_PROGRAM.exists():
        return False
    done = subprocess.run([DRIVER_PROGRAM, "launches", "1"], capture_output=True, timeout=60)
    return done.returncode != NO_GPU


def has_torch() -> bool:
    """True where this Python has a PyTorch that sees the device."""
    done = subprocess.run([PYTHON, "-c", "import torch; raise SystemExit(not torch.cuda.is_available())"],
                          capture_output=True, timeout=120)
    return done.returncode == 0


pytestmark = pytest.mark.skipif(not has_gpu(), reason="no NVIDIA GPU in this machine: CUPTI is not checked")


def traced(run: Path, *command: object, options: tuple = ()) -> str:
    """Traces a program that must end well; its output."""
    done = run_teller("trace", "-o", run, *options, "--", *command, timeout=120)
    assert done.returncode == 0, done
    return done.stdout


def nodes_of(run: Path) -> list:
    """The run's nodes, reconstructed."""
    done = run_teller("reconstruct", run)
    assert done.returncode == 0, done
    return dumped(run, "chains.nodes")


def assert_bound(nodes: list, least: int) -> None:
    """Kernels hang under calls, and begin after them: one clock for host and device."""
    kernels = [n for n in nodes if n["layer"] == "K"]
    by_id = {n["id"]: n for n in nodes}
    assert len(kernels) >= least, [n["name"] for n in kernels]
    for kernel in kernels:
        call = by_id[kernel["parent"]]
        assert call["layer"] == "RT", (kernel, call)
        assert kernel["begin_ns"] >= call["begin_ns"], (kernel, call)


def test_a_driver_program(tmp_path: Path) -> None:
    run = tmp_path / "run"
    output = traced(run, DRIVER_PROGRAM, "launches", 100)
    assert "value 100" in output, output
    meta = sources(run)[0]
    print("\ncuda:", meta["cuda"], "| clock:", meta.get("cuda_clock"), "| counts:", json.dumps(meta["counts"]))
    assert meta["cuda"].startswith("CUPTI ") and "only" not in meta["cuda"], meta
    assert [e["name"] for e in events(run, "kernel")].count("add_one") == 100
    assert meta["counts"]["device_dropped"] == meta["counts"]["device_malformed"] == 0, meta["counts"]
    assert_bound(nodes_of(run), 100)


def test_kernels_only(tmp_path: Path) -> None:
    run = tmp_path / "run"
    traced(run, DRIVER_PROGRAM, "launches", 100, options=("--cuda", "kernels"))
    assert not events(run, "call")
    assert [e["name"] for e in events(run, "kernel")].count("add_one") == 100


@pytest.mark.parametrize(("level", "activities"), [("graph", 20), ("node", 80)])
def test_graphs(tmp_path: Path, level: str, activities: int) -> None:
    run = tmp_path / "run"
    output = traced(run, DRIVER_PROGRAM, "graph", 20, options=("--cuda-graph", level))
    assert "value 80" in output, output
    found = [e for e in events(run, "kernel") if e.get("graph")]
    assert len(found) == activities, [e["name"] for e in found]
    assert_bound(nodes_of(run), activities)


def test_an_illegal_address_is_tied_to_its_kernel(tmp_path: Path) -> None:
    run = tmp_path / "run"
    output = traced(run, DRIVER_PROGRAM, "wild", 5)
    assert "synchronize 700" in output, output
    failed = [e for e in events(run, "call") if e.get("failed") and e["value"] == 700]
    assert [launch["name"] for launch in failed[0]["attrs"]["in_flight"]][-1] == "wild", failed[0]
    assert "wild" in {n["name"] for n in nodes_of(run) if n["layer"] == "K" and "failed" in n["flags"]}


def test_what_a_launch_costs(tmp_path: Path) -> None:
    """Prints the figures; asserts none of them."""
    figures = {}
    for mode in ("off", "kernels", "full"):
        output = traced(tmp_path / mode, DRIVER_PROGRAM, "launches", 50000, options=("--cuda", mode))
        figures[mode] = next(int(line.split()[1]) for line in output.splitlines() if line.startswith("ns_per_launch"))
    print("\nns per launch:", figures)


@pytest.mark.skipif(not has_gpu() or not has_torch(), reason="no PyTorch with CUDA: its programs are not checked")
def test_a_torch_program(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert traced(run, PYTHON, "-c", TORCH_PROGRAM) == "True\n"
    nodes = nodes_of(run)
    assert_bound(nodes, 10)
    names = {n["name"] for n in nodes}
    assert {f"step {i}" for i in range(5)} <= names, names


@pytest.mark.parametrize("mode", ["full", "kernels", "off"])
@pytest.mark.skipif(not has_gpu() or not has_torch(), reason="no PyTorch with CUDA: its profiler is not checked")
def test_beside_torch_profiler_the_program_goes_on(tmp_path: Path, mode: str) -> None:
    run = tmp_path / "run"
    output = traced(run, PYTHON, "-c", PROFILED_PROGRAM, options=("--cuda", mode))
    assert output.splitlines()[-1] == "True", output
    print("\nbeside torch.profiler, --cuda", mode, ":", sources(run)[0].get("cuda"),
          "| kernels:", len(events(run, "kernel")))
