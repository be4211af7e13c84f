"""Which of two runs of one training loop is starved by its data loader: real traces of 2021, with 0 and with 4 workers."""
from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, run_teller

TRACES = Path(os.environ.get("TELLER_SHARED", ROOT.parent / "shared")) / "traces/kineto"


@pytest.mark.parametrize(("workers", "cause"), [(0, "data_loading"), (4, None)])
def test_a_starving_data_loader_is_named(tmp_path: Path, workers: int, cause: str | None) -> None:
    trace = TRACES / f"resnet50_2021_dataloader_workers{workers}.json.gz"
    if not trace.exists():
        pytest.skip(f"{trace.name} is not here (TELLER_SHARED names the folder of shared traces)")
    # Its name plays no part.
    shutil.copy(trace, tmp_path / "trace.json.gz")
    assert run_teller("import", tmp_path / "trace.json.gz", "-o", tmp_path / "run").returncode == 0
    done = run_teller("diagnose", tmp_path / "run", "--json")
    if done.returncode != 0 and "built without LibTorch" in done.stderr:
        pytest.skip("teller is built without LibTorch")
    assert done.returncode == 0, done.stderr
    diagnosis = json.loads(done.stdout)
    idle = diagnosis["device_idle"]
    assert idle["starved_by"] == cause and idle["steps"] == 6
    told = "the data loader does not keep up" in diagnosis["explanation"]
    assert told == (cause is not None)
    if cause:
        assert idle["by"][0]["cause"] == cause and idle["by"][0]["share"] > 0.3
        assert "DataLoader" in idle["by"][0]["node"]["name"] and "DataLoader" in diagnosis["explanation"]
    assert run_teller("verify", tmp_path / "run").returncode == 0
