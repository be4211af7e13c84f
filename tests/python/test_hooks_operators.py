"""`teller trace --level`: what each level records, and that PyTorch's operators come without a trace in the program."""
from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import expect_one_line, run_teller
from trace_support import BUILD, PYTHON, balanced, events, manifest, needs_target, sources, trace

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
pytestmark = needs_target

MODULE = """
def step(): return schedule() + back()
def schedule(): return 1
def front(): return 2
def back(): return 3
def noted(): return 4
"""
TARGETS = [
    {"module": "leveled", "object": "step", "layer": "STEP", "range": "step"},
    {"module": "leveled", "object": "schedule", "layer": "FE", "role": "schedule", "range": "schedule"},
    {"module": "leveled", "object": "front", "layer": "FE", "range": "front"},
    {"module": "leveled", "object": "back", "layer": "BE", "range": "back"},
    {"module": "leveled", "object": "noted", "layer": "FE", "range": "noted", "record": {"engine": "'x'", "req": "[]"}},
]


def traced(folder: Path, level: str, script: str, **popen: object) -> Path:
    """Runs `script` plainly and traced; both must print the same. The run folder."""
    (folder / "main.py").write_text(script)
    plain = subprocess.run([PYTHON, folder / "main.py"], capture_output=True, cwd=folder, timeout=300)
    run = folder / "run"
    options = ["-q", "--overwrite", "--level", level]
    if (folder / "hooks.json").exists():
        options += ["--hooks", folder / "hooks.json"]
    done = trace(run, PYTHON, folder / "main.py", options=tuple(options), cwd=folder, timeout=300, **popen)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr
    assert plain.returncode == 0, plain.stderr
    return run


@pytest.mark.parametrize(("level", "names"), [
    ("engine", ["step", "schedule", "noted"]),
    ("frontend", ["step", "schedule", "back", "front", "noted"]),
    ("operators", ["step", "schedule", "back", "front", "noted"]),
])
def test_levels(tmp_path: Path, level: str, names: list) -> None:
    (tmp_path / "leveled.py").write_text(MODULE)
    (tmp_path / "hooks.json").write_text(json.dumps(
        {"format": "teller.hooks", "version": 1, "stack": "x", "targets": TARGETS}))
    run = traced(tmp_path, level, "import leveled as m\nprint(m.step(), m.front(), m.noted())\n")
    assert [e["name"] for e in events(run, "push")] == names
    hooks = sources(run)[0]["hooks"]
    assert hooks["installed"] == len(names) and (hooks["left_out"] >= 2) == (level == "engine")
    assert manifest(run)["trace"]["level"] == level


def test_an_unknown_level_is_refused(tmp_path: Path) -> None:
    expect_one_line(run_teller("trace", "-o", tmp_path / "run", "--level", "everything", "--", "true"), 2, says="--level")


FAKE_TORCH = "import torch\nprint(torch.__version__)\n"


@pytest.mark.parametrize(("version", "says"), [("9.9.0", "PyTorch 2.1 to 2.13"), ("2.0.1+cpu", "PyTorch 2.1 to 2.13"),
                                              ("2.14.0", "2.1 to 2.13"), ("2", "2.1 to 2.13"), ("", "2.1 to 2.13"),
                                              ("2.13.0+cu130", "libtorch_cpu.so is not loaded")])
@pytest.mark.parametrize("way", ["extension", "ctypes"])
def test_versions_that_were_not_verified_are_refused(tmp_path: Path, version: str, says: str, way: str) -> None:
    if way == "extension" and not (BUILD / "preload/teller_native.abi3.so").exists():
        pytest.skip("the extension is not built (no Python.h)")
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text(f"__version__ = {version!r}\n")
    environment = {**os.environ, **({"TELLER_NO_EXTENSION": "1"} if way == "ctypes" else {})}
    run = traced(tmp_path, "operators", FAKE_TORCH, env=environment)
    meta = sources(run)[0]
    assert meta["operators"].startswith("off: ") and says in meta["operators"]
    assert any(says in line for line in meta["hooks"]["details"])


OPERATORS = """
import threading, torch
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Linear(8, 8)
def forward(): return torch.relu(model(torch.ones(4, 8))).sum()
loss = forward()
loss.backward()
def side(): print(torch.mm(torch.ones(2, 2), torch.ones(2, 2)).sum().item())
thread = threading.Thread(target=side)
thread.start()
thread.join()
with torch.autograd.profiler.record_function("mine"):
    print(loss.item(), model.weight.grad.sum().item())
"""


@needs_torch
def test_operators_of_all_threads(tmp_path: Path) -> None:
    run = traced(tmp_path, "operators", OPERATORS)
    assert sources(run)[0]["operators"] == "on"
    pushes = [e for e in events(run, "push") if e["name"] != "backward"]  # that one is a target
    assert all(e["category"] == "BE" and e["domain"] == "teller" for e in pushes)
    names = {e["name"] for e in pushes}
    assert {"aten::linear", "aten::addmm", "aten::relu", "AddmmBackward0"} <= names
    assert "mine" not in names  # a range of the program, not an operator: its own NVTX would say it
    assert {e["tid"] for e in pushes if e["name"] == "aten::mm"} - {pushes[0]["tid"]}
    balanced(run)
    assert [e["name"] for e in events(traced(tmp_path, "frontend", OPERATORS), "push")] == ["backward"]


PROFILED = """
import torch
from torch.profiler import ProfilerActivity, profile
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
model(torch.ones(4, 8)).sum().backward()
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
    for _ in range(3):
        model(torch.ones(4, 8)).sum().backward()
for event in sorted(profiler.key_averages(group_by_input_shape=True), key=lambda e: (e.key, str(e.input_shapes))):
    print(event.key, event.count, event.input_shapes)
model(torch.ones(4, 8)).sum().backward()
"""


@needs_torch
def test_the_programs_own_profiler_sees_the_same(tmp_path: Path) -> None:
    run = traced(tmp_path, "operators", PROFILED)
    linear = [e for e in events(run, "push") if e["name"] == "aten::linear"]
    assert len(linear) == 2 * 5  # also while the profiler is at work
    balanced(run)


COMPILED = """
import torch
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
graphs = []
def backend(graph, example):
    graphs.append([getattr(node.target, '__name__', node.target) for node in graph.graph.nodes])
    return graph.forward
compiled = torch.compile(model, backend=backend, fullgraph=True)
for size in (4, 4, 6):
    print(compiled(torch.ones(size, 8)).sum().item())
print(graphs, torch._dynamo.utils.counters["stats"])
inductor = torch.compile(lambda x: torch.relu(x) * 2 + 1, fullgraph=True)
print(inductor(torch.ones(8)).sum().item())
"""


@needs_torch
def test_compiled_graphs_are_the_same(tmp_path: Path) -> None:
    run = traced(tmp_path, "operators", COMPILED)
    assert any(e["name"] == "aten::addmm" for e in events(run, "push"))


FORKED = """
import os, torch
torch.set_num_threads(1)
torch.ones(2).sum()
pid = os.fork()
torch.ones(3).prod()
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
"""


@needs_torch
def test_a_forked_child_records_its_own(tmp_path: Path) -> None:
    run = traced(tmp_path, "operators", FORKED)
    assert len({e["pid"] for e in events(run, "push") if e["name"] == "aten::prod"}) == 2


COMPILED_TARGETS = """
import os, torch
import torch.distributed as dist
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
torch.set_num_threads(1)
torch.manual_seed(0)
graphs = []
def backend(graph, example):
    graphs.append([getattr(node.target, "__name__", str(node.target)) for node in graph.graph.nodes])
    return graph.forward
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def step(x):
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()
compiled = torch.compile(step, backend=backend)
print([compiled(torch.ones(2, 4)).item() for _ in range(3)])
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
def reduced(x):
    y = x * 2
    dist.all_reduce(y)
    return y + 1
print(torch.compile(reduced, backend=backend, fullgraph=True)(torch.ones(3)).tolist(), graphs)
"""


@needs_torch
def test_built_in_targets_in_compiled_functions(tmp_path: Path) -> None:
    names = [e["name"] for e in events(traced(tmp_path, "frontend", COMPILED_TARGETS), "push")]
    assert names.count("optimizer.step") == names.count("backward") == 3
