"""What only a machine with an NVIDIA GPU can show: CUDA calls and kernels arrive, bound to each other and to ranges."""
from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from conftest import run_teller  # noqa: E402

PROGRAM = """
import torch
x = torch.randn(512, 512, device="cuda")
for step in range(5):
    torch.cuda.nvtx.range_push(f"step {step}")
    y = (x @ x).relu()
    torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
print(float(y.sum()) == float((x @ x).relu().sum()))
"""


def has_gpu() -> bool:
    """True where PyTorch sees a CUDA device."""
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


@pytest.mark.skipif(not has_gpu(), reason="no NVIDIA GPU in this machine: CUPTI is not checked")
def test_kernels_arrive_bound_to_calls_and_ranges(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = run_teller("trace", "-o", run, "--", os.environ.get("TELLER_PYTHON", sys.executable), "-c", PROGRAM)
    assert done.returncode == 0 and done.stdout == "True\n", done
    assert run_teller("reconstruct", run).returncode == 0
    nodes = [json.loads(line) for line in run_teller("dump", run, "chains.nodes", "--json").stdout.splitlines()]
    kernels = [n for n in nodes if n["layer"] == "K"]
    assert len(kernels) >= 10
    by_id = {n["id"]: n for n in nodes}
    for kernel in kernels:
        assert by_id[kernel["parent"]]["layer"] == "RT", kernel
        assert kernel["begin_ns"] >= by_id[kernel["parent"]]["begin_ns"], (kernel, "one clock for host and device")
