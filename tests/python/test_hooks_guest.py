"""The hooks as a guest: what the user has set for Python stays, and profilers see the program as it is."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from trace_support import BUILD, FAIL_CALL, PYTHON, events, needs_target, sources, trace

pytestmark = needs_target

MODULE = """
import asyncio
def work(n): return helper(n) * 2
def helper(n):
    if n > 2:
        return n + 1
    return n
async def outer():
    await asyncio.sleep(0.001)
    return await inner() + 1
async def inner():
    await asyncio.sleep(0.001)
    return 1
async def stream():
    for _ in range(2):
        yield await inner()
def items():
    yield work(1)
    yield work(2)
"""
TARGETS = [{"module": "hosted", "object": name, "range": name} for name in ("work", "helper", "outer", "inner", "stream", "items")]


@pytest.fixture(params=["extension", "ctypes"])
def project(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module and its targets, for both ways into the library."""
    if request.param == "ctypes":
        monkeypatch.setenv("TELLER_NO_EXTENSION", "1")
    elif not (BUILD / "preload/teller_native.abi3.so").exists():
        pytest.skip("the extension is not built (no Python.h)")
    write(tmp_path, MODULE, TARGETS)
    return tmp_path


def write(folder: Path, module: str, targets: list) -> None:
    """The module and its hook file."""
    (folder / "hosted.py").write_text(module)
    (folder / "hooks.json").write_text(json.dumps({"format": "teller.hooks", "version": 1, "stack": "x", "targets": targets}))


def same(project: Path, code: str, *options: object, env: dict | None = None) -> list:
    """Runs `code` plainly and traced: both must print the same. Names of the ranges."""
    (project / "main.py").write_text(code)
    plain = subprocess.run([PYTHON, project / "main.py"], capture_output=True, cwd=project, env=env, timeout=120)
    traced = trace(project / "run", PYTHON, project / "main.py", options=("-q", "--overwrite", "--hooks", project / "hooks.json", *options),
                   cwd=project, env=env)
    assert plain.returncode == 0, plain.stderr
    assert (traced.returncode, traced.stdout) == (0, plain.stdout), traced.stderr
    return [e["name"] for e in events(project / "run", "push", "start")]


def test_pythonpath_keeps_its_entries(project: Path) -> None:
    (project / "mine").mkdir()
    (project / "mine/extra.py").write_text("value = 7\n")
    code = "import sys, extra, hosted\nprint(extra.value, [p for p in sys.path if 'teller' not in p], hosted.work(1))\n"
    assert same(project, code, env={**os.environ, "PYTHONPATH": f"{project / 'mine'}:/none"}) == ["work", "helper"]


def test_ld_preload_is_the_users(project: Path) -> None:
    environment = {**os.environ, "LD_PRELOAD": str(FAIL_CALL)}
    code = "import os, hosted\nprint(os.environ['LD_PRELOAD'], 'fail_call' in open('/proc/self/maps').read(), hosted.work(1))\n"
    assert same(project, code, env=environment) == ["work", "helper"]
    code = code.replace("os.environ['LD_PRELOAD']", "os.environ['LD_PRELOAD'].split(':')[-1]")
    assert same(project, code, "--preload", env=environment) == ["work", "helper"]


def test_a_profile_function_sees_the_programs_calls(project: Path) -> None:
    code = """
import sys, threading, hosted
seen = []
def profile(frame, event, argument):
    if event in ("call", "return") and frame.f_code.co_filename.endswith("hosted.py"):
        seen.append((event, frame.f_code.co_name))
sys.setprofile(profile)
threading.setprofile(profile)
thread = threading.Thread(target=hosted.work, args=(3,))
thread.start()
thread.join()
hosted.work(1)
print(sys.getprofile() is profile)
sys.setprofile(None)
print(seen)
"""
    assert same(project, code) == ["work", "helper"] * 2


def test_cprofile_counts_the_programs_calls(project: Path) -> None:
    code = """
import cProfile, pstats, hosted
profile = cProfile.Profile()
print(profile.runcall(lambda: [hosted.work(n) for n in range(5)]))
print(sorted((key[2], value[1]) for key, value in pstats.Stats(profile).stats.items() if key[0].endswith("hosted.py")))
"""
    assert same(project, code) == ["work", "helper"] * 5


def test_a_trace_function_counts_the_programs_lines(project: Path) -> None:
    code = """
import sys, hosted
lines = []
def tracer(frame, event, argument):
    if frame.f_code.co_filename.endswith("hosted.py"):
        lines.append((event, frame.f_lineno))
    return tracer
sys.settrace(tracer)
hosted.work(1), hosted.work(3), list(hosted.items())
sys.settrace(None)
print(lines)
"""
    assert len(same(project, code)) == 9


def test_coverage_is_the_same(project: Path) -> None:
    if subprocess.run([PYTHON, "-c", "import coverage"], capture_output=True).returncode != 0:
        pytest.skip("coverage is not installed")
    code = """
import coverage
measured = coverage.Coverage(data_file=None, include="*/hosted.py", branch=True)
measured.start()
import hosted
hosted.work(1)
measured.stop()
print(measured.analysis2("hosted.py")[1:4])
"""
    assert same(project, code) == ["work", "helper"]


def test_ranges_nest_across_awaits(project: Path) -> None:
    code = """
import asyncio, hosted
async def main():
    return await asyncio.gather(hosted.outer(), hosted.outer()), [x async for x in hosted.stream()], list(hosted.items())
print(asyncio.run(main()))
"""
    names = same(project, code)
    assert sorted(names) == ["helper"] * 2 + ["inner"] * 4 + ["items"] + ["outer"] * 2 + ["stream"] + ["work"] * 2
    open_ranges: dict = {}
    spans = []
    for event in events(project / "run", "start", "stop"):
        if event["record"] == "start":
            open_ranges[event["correlation"]] = event
        else:
            begin = open_ranges.pop(event["correlation"])
            spans.append((begin["name"], begin["begin_ns"] if "begin_ns" in begin else begin["begin"], event.get("begin_ns", event.get("begin"))))
    assert not open_ranges
    inner = [span for span in spans if span[0] == "inner"]
    around = [span for span in spans if span[0] in ("outer", "stream")]
    assert all(any(o[1] <= i[1] and i[2] <= o[2] for o in around) for i in inner)


RECORDED = """
class Engine:
    held = {"a": 3, "b": 5}
    def schedule(self): self.held = {"a": 0, "b": 6}; return 1
    def new(self): return 1
    def old(self): return self.new()
"""


def test_a_record_can_tell_what_was_before(project: Path) -> None:
    common = {"module": "hosted", "layer": "STEP", "role": "schedule"}
    write(project, RECORDED, [
        {**common, "object": "Engine.schedule", "before": "{i: n for i, n in self.held.items()}",
         "record": {"engine": "'x'", "req": "[]", "preempt": "[(i, before[i]) for i, n in self.held.items() if n == 0]",
                    "step": "getattr(self, 'no_number', None)"}},
        {"module": "hosted", "object": "Engine.old", "range": "old", "before": "self.nothing",
         "record": {"engine": "'y'", "req": "[]", "kv": "before"}},
        {"module": "hosted", "object": "Engine.old", "range": "other", "unless": "Engine.new"},
    ])
    assert same(project, "import hosted\nprint(hosted.Engine().schedule(), hosted.Engine().old())\n") == [
        "hosted.py: Engine.schedule", "old"]
    records = [e["attrs"] if isinstance(e["attrs"], dict) else json.loads(e["attrs"]) for e in events(project / "run", "step_record")]
    assert records == [{"v": 1, "engine": "x", "req": [], "preempt": [["a", 3]]}, {"v": 1, "engine": "y", "req": []}]
    hooks = sources(project / "run")[0]["hooks"]
    assert hooks["record_errors"] == 1 and hooks["left_out"] == 1 and hooks["installed"] == 2


INTERRUPTED = """
def simple(): pass
def rich(n): pass
"""


def test_a_signal_handler_that_raises_leaves_no_range_open(project: Path) -> None:
    write(project, INTERRUPTED, [{"module": "hosted", "object": "simple"}, {"module": "hosted", "object": "rich", "request": "args.n"}])
    code = """
import signal, time, hosted
class Alarm(BaseException): pass
def handler(*unused): raise Alarm
signal.signal(signal.SIGALRM, handler)
def interrupted(call, n):
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-6 * (60 + n % 40))
        while True:
            call()
    except Alarm:
        pass
    time.sleep(0.002)  # so that the ring has room
for n in range(500):
    interrupted(hosted.simple, n)
    interrupted(lambda: hosted.rich(7), n)
print("done")
"""
    assert len(same(project, code)) > 1000
    depth = 0
    for event in events(project / "run", "push", "pop"):
        depth += 1 if event["record"] == "push" else -1
        assert 0 <= depth <= 1, event
    assert depth == 0
    assert sources(project / "run")[0]["counts"]["dropped"] == 0


ALARMED = """
import signal
class Item:
    @property
    def size(self):  # read by the expressions only
        signal.raise_signal(signal.SIGUSR1)
        return 1
def rich(item): return "called"
def recorded(item): return "called"
"""


def test_what_a_signal_handler_raises_in_an_expression_is_the_programs(project: Path) -> None:
    write(project, ALARMED, [{"module": "hosted", "object": "rich", "request": "args.item.size"},
                             {"module": "hosted", "object": "recorded", "record": {"engine": "'e'", "req": "[('a', args.item.size)]"}}])
    code = """
import functools, signal, hosted
class Late(Exception): pass
class Watch:
    def __call__(self, *unused): raise Late
    def on(self, *unused): raise Late
def function(*unused): raise Late
for handler in (function, Watch().on, Watch(), functools.partial(function, 1), functools.partial(functools.partial(Watch().on), 1)):
    signal.signal(signal.SIGUSR1, handler)
    for call in (hosted.rich, hosted.recorded):
        try:
            call(hosted.Item())
        except Late:
            print("late")
signal.signal(signal.SIGUSR1, lambda *unused: None)
print(hosted.rich(hosted.Item()), hosted.recorded(hosted.Item()), hosted.recorded(None))
"""
    (project / "main.py").write_text(code)
    done = trace(project / "run", PYTHON, project / "main.py", options=("-q", "--hooks", project / "hooks.json"), cwd=project)
    assert done.stdout.split() == [b"late"] * 10 + [b"called"] * 3, done.stderr
    assert sources(project / "run")[0]["hooks"]["record_errors"] == 1  # of None, which has no size


LEFT_OVER = """
import asyncio
async def stream():
    try:
        yield 1
        yield 2
    finally:
        await asyncio.sleep(0.01)
        print("closed")
"""


def test_the_event_loop_closes_an_unfinished_async_generator(project: Path) -> None:
    write(project, LEFT_OVER, [{"module": "hosted", "object": "stream", "range": "stream"}])
    code = """
import asyncio, sys, hosted
sys.stderr = sys.stdout  # compared, too
kept = []
async def main():
    hooks = sys.get_asyncgen_hooks()
    kept.append(hosted.stream())
    print(await kept[0].__anext__(), sys.get_asyncgen_hooks() == hooks)
    async for item in hosted.stream():
        print(item)
        break
asyncio.run(main())
"""
    assert same(project, code) == ["stream"] * 2
    assert len(events(project / "run", "stop")) == 2


def test_an_async_generator_without_a_range_sends_no_record(project: Path) -> None:
    target = {"module": "hosted", "object": "stream", "range": "stream", "record": {"engine": "'x'", "req": "[]"}}
    code = "import asyncio, hosted\nasync def main(): print([x async for x in hosted.stream()])\nasyncio.run(main())\n"
    write(project, MODULE, [{**target, "when": "1 > 2"}])
    assert not same(project, code) and not events(project / "run", "step_record")
    write(project, MODULE, [target])
    assert same(project, code) == ["stream"] and len(events(project / "run", "step_record")) == 1


FAILING = """
class Failure(Exception):
    def __str__(self):
        print("its text was asked for")
        return "a prompt"
class Holder:
    @property
    def id(self): raise Failure()
def held(holder): return 1
"""


def test_the_text_of_the_programs_errors_is_not_asked_for(project: Path) -> None:
    write(project, FAILING, [{"module": "hosted", "object": "held", "range": "held", "request": "args.holder.id"}])
    assert same(project, "import hosted\nprint(hosted.held(hosted.Holder()))\n") == ["held"]
    hooks = sources(project / "run")[0]["hooks"]
    assert hooks["details"] == ["hosted:held request: Failure"] and hooks["record_errors"] == 1


def test_a_free_threaded_python_gets_no_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "python_hooks"))
    monkeypatch.delenv("TELLER_NO_EXTENSION", raising=False)
    import teller_hooks

    for flags, expected in (("", "/lib/teller_native.abi3.so"), ("t", ""), ("td", "")):
        monkeypatch.setattr(sys, "abiflags", flags)
        assert teller_hooks._extension("/lib/libteller_collector.so") == expected


OPTIMIZERS = """
class Base:
    def step(self): return "base"
class Own(Base):
    def step(self): return super().step() + "!"
class Inherits(Base): pass
"""


def test_a_training_loop_has_a_step_for_each_iteration(project: Path) -> None:
    write(project, OPTIMIZERS, [{"module": "hosted", "object": f"{name}.step", "range": "optimizer", "role": "iteration"}
                                for name in ("Base", "Inherits")])
    code = """
import os, hosted
first, second = hosted.Inherits(), hosted.Base()
print([(first.step(), second.step()) for _ in range(3)])
pid = os.fork()
first.step()
if pid == 0: os._exit(0)
os.waitpid(pid, 0)
del first
second.step()
try:
    second.step(1)
except TypeError as error:
    print(error)
"""
    same(project, code)
    parent = events(project / "run")[0]["pid"]
    kinds = [(e["record"], e.get("name")) for e in events(project / "run", "push", "pop", "start", "stop") if e["pid"] == parent]
    names = [name if kind in ("push", "start") else "end" for kind, name in kinds]
    optimizer, iteration = ["optimizer", "end"], ["optimizer", "end", "end", "train iteration"]
    # The first optimizer leads; the second does when it is gone; a call that raised ends nothing.
    assert names == [*iteration[:2], "train iteration", *optimizer, *iteration, *optimizer, *iteration, *optimizer, *iteration,
                     *iteration, *optimizer]
    assert sum(e["name"] == "train iteration" for e in events(project / "run", "start")) == 6
    child = [e["record"] for e in events(project / "run", "push", "pop", "start", "stop") if e["pid"] != parent]
    assert child == ["push", "pop", "start"]  # it does not end its parent's
