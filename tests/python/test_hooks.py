"""The Python hooks: what they wrap, and that the program does not notice."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict, deque
from enum import Enum, IntEnum
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import ROOT
from trace_support import BUILD, LIBRARY, PYTHON, balanced, events, lines, needs_target, sources, trace

sys.path.insert(0, str(ROOT / "python_hooks"))
from teller_hooks.expressions import Refused, compile_expression  # noqa: E402
from teller_hooks.record import Foreign, _plain  # noqa: E402

pytestmark = needs_target
EXTENSION = BUILD / "preload/teller_native.abi3.so"

MODULE = '''
import asyncio
from concurrent.futures import ThreadPoolExecutor

class Request:
    def __init__(self, rid, tokens): self.rid, self.tokens = rid, tokens

class Base:
    def inherited(self): return type(self).__name__

class Engine(Base):
    queue = [("w-1", 0)]
    def step(self, batch, limit=8):
        self.schedule(batch)
        return [r.rid for r in batch]
    def schedule(self, batch):
        return {r.rid: r.tokens for r in batch}
    def serve(self, request, *, flag=False): return request.rid
    @staticmethod
    def static(x): return x * 2
    @classmethod
    def make(cls): return cls()
    async def answer(self, n):
        await asyncio.sleep(0.01)
        return n
    def tokens(self, n):
        got = []
        for i in range(n):
            got.append((yield i))
        return got
    async def stream(self, n):
        try:
            for i in range(n):
                yield i
        except KeyError:
            yield "thrown"
    def fail(self): raise LookupError("from the program")
    @property
    def size(self): return 3

def function(a, b=2):
    """Adds."""
    return a + b

CONSTANT = 5
'''

TARGETS = [
    {"module": "engine_under_test", "object": "Engine.step", "layer": "STEP", "range": "engine step"},
    {"module": "engine_under_test", "object": "Engine.schedule", "layer": "STEP", "range": "schedule", "role": "schedule",
     "record": {"engine": "'demo'", "step": "len(args.batch)",
                "req": "[(r.rid, 'decode', r.tokens > 1, result[r.rid], 0) for r in args[0]]",
                "wait": "self.queue", "broken": "result.missing", "kv": "(self.queue[0][1], 64)"}},
    {"module": "engine_under_test", "object": "Engine.serve", "layer": "BE", "range": "serve", "request": "args.request.rid",
     "when": "not args.flag"},
    {"module": "engine_under_test", "object": "Engine.static", "range": "static"},
    {"module": "engine_under_test", "object": "Engine.make", "range": "make"},
    {"module": "engine_under_test", "object": "Engine.inherited", "range": "inherited"},
    {"module": "engine_under_test", "object": "Engine.answer", "range": "answer"},
    {"module": "engine_under_test", "object": "Engine.tokens", "range": "tokens"},
    {"module": "engine_under_test", "object": "Engine.stream", "range": "stream"},
    {"module": "engine_under_test", "object": "Engine.fail", "range": "fail"},
    {"module": "engine_under_test", "object": "function"},
    {"module": "engine_under_test", "object": "Engine.absent"},
    {"module": "engine_under_test", "object": "Engine.size"},
    {"module": "engine_under_test", "object": "CONSTANT"},
    {"module": "engine_under_test", "object": "Engine.step", "request": "__import__('os')"},
    {"module": "never_imported_module", "object": "f"},
]


@pytest.fixture(params=["extension", "ctypes"])
def project(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the module and its hook file; each test runs with both ways into the library."""
    if request.param == "ctypes":
        monkeypatch.setenv("TELLER_NO_EXTENSION", "1")
    elif not EXTENSION.exists():
        pytest.skip("the extension is not built (no Python.h)")
    (tmp_path / "engine_under_test.py").write_text(MODULE)
    (tmp_path / "hooks.json").write_text(
        json.dumps({"format": "teller.hooks", "version": 1, "stack": "demo", "targets": TARGETS}))
    return tmp_path


def run(project: Path, code: str, *options: object, **popen: object) -> tuple:
    """(traced, plain) runs of `code` with the module on its path."""
    script = project / "main.py"
    script.write_text("import engine_under_test as m\n" + code)
    options = options or ("--hooks", project / "hooks.json")
    traced = trace(project / "run", PYTHON, script, options=("-q", *options), cwd=project, **popen)
    plain = subprocess.run([PYTHON, script], cwd=project, capture_output=True)
    assert (traced.returncode, traced.stdout) == (plain.returncode, plain.stdout), traced.stderr
    return traced, plain


def dropped(project: Path) -> int:
    """Events that found their ring full, by META's counts."""
    return sum(meta["counts"]["dropped"] for meta in sources(project / "run"))


def hook_counts(project: Path) -> dict:
    """What the hooks said last."""
    return sources(project / "run")[0]["hooks"]


def test_every_kind_of_function(project: Path) -> None:
    run(project, """
import asyncio
e = m.Engine.make()
batch = [m.Request("r-1", 3), m.Request("r-2", 1)]
print(e.step(batch), m.Engine.static(4), e.inherited(), m.function(1), list(e.tokens(2)), e.size)
print(e.serve(m.Request("req 7", 1)), e.serve(m.Request("x", 1), flag=True))
async def main():
    return await asyncio.gather(e.answer(1), e.answer(2)), [i async for i in e.stream(2)]
print(asyncio.run(main()))
""")
    pushes = [(e["name"], e["category"]) for e in events(project / "run", "push")]
    assert pushes == [("make", "FE"), ("engine step", "STEP"), ("schedule", "STEP"), ("static", "FE"), ("inherited", "FE"),
                      ("engine_under_test.py: function", "FE"), ("serve request=req_7", "BE")]
    starts = [e["name"] for e in events(project / "run", "start")]
    assert starts == ["tokens", "answer", "answer", "stream"]
    ends = {e["correlation"] for e in events(project / "run", "stop")}
    assert {e["correlation"] for e in events(project / "run", "start")} == ends
    assert all(e["domain"] == "teller" for e in events(project / "run"))
    balanced(project / "run")


def test_the_way_into_the_library_is_said(project: Path) -> None:
    run(project, "m.function(1)")
    expected = "ctypes" if "TELLER_NO_EXTENSION" in os.environ else "extension"
    assert sources(project / "run")[0]["hook_calls"] == expected


def test_a_broken_extension_is_left_out(project: Path, tmp_path: Path) -> None:
    """A Python that cannot load it (another ABI) goes through ctypes."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); from teller_hooks import bridge; print(bridge.load(sys.argv[2], sys.argv[3]), bridge.kind)"
    (tmp_path / "bad.so").write_bytes(b"no library")
    for extension in (tmp_path / "bad.so", tmp_path / "absent.so"):
        done = trace(project / "run", PYTHON, "-c", code, ROOT / "python_hooks", LIBRARY, extension, options=("-q", "--overwrite"))
        assert done.stdout == b"True ctypes\n", done.stderr


def test_the_steps_record_is_a_mark_inside_the_step(project: Path) -> None:
    run(project, "m.Engine().step([m.Request('a', 3), m.Request(7, 1)])")
    kinds = [(e["record"], e.get("name")) for e in events(project / "run")]
    assert kinds == [("push", "engine step"), ("push", "schedule"), ("step_record", None), ("pop", None), ("pop", None)]
    record = events(project / "run", "step_record")[0]["attrs"]
    record = json.loads(record) if isinstance(record, str) else record
    assert record == {"v": 1, "engine": "demo", "step": 2, "req": [["a", "decode", 1, 3, 0], ["7", "decode", 0, 1, 0]],
                      "wait": [["w-1", 0]], "kv": [0, 64]}


def test_what_cannot_be_wrapped_is_counted(project: Path) -> None:
    run(project, "m.Engine().schedule([])")
    counts = hook_counts(project)
    assert counts["missing"] == 1 and counts["not_function"] == 2 and counts["invalid"] == 1
    assert counts["installed"] == 11 and counts["record_errors"] == 1 and counts["failed"] == counts["own_errors"] == 0
    assert any("Engine.absent" in line for line in counts["details"])


def test_generators_and_async_generators_pass_everything_on(project: Path) -> None:
    run(project, """
import asyncio
e = m.Engine()
g = e.tokens(2)
print(next(g), g.send("sent"))
try:
    g.send("last")
except StopIteration as stop:
    print(stop.value)
g = e.tokens(5); next(g); g.close()
async def main():
    s = e.stream(3)
    print(await s.__anext__(), await s.athrow(KeyError()))
    s = e.stream(3)
    await s.__anext__()
    await s.aclose()
    task = asyncio.ensure_future(e.answer(1))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print("cancelled")
asyncio.run(main())
""")
    assert len(events(project / "run", "start")) == len(events(project / "run", "stop")) == 5


def test_exceptions_pass_unchanged(project: Path) -> None:
    traced, plain = run(project, """
import traceback
try:
    m.Engine().fail()
except LookupError as error:
    print(repr(error), error.__cause__, error.__context__)
m.Engine().fail()
""")
    assert traced.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]
    balanced(project / "run")


def test_functions_look_as_before(project: Path) -> None:
    run(project, """
import inspect, pickle
e = m.Engine()
print(inspect.signature(m.function), m.function.__doc__, m.function.__name__, m.function.__module__)
print(inspect.iscoroutinefunction(m.Engine.answer), inspect.isgeneratorfunction(m.Engine.tokens),
      inspect.isasyncgenfunction(m.Engine.stream), isinstance(m.Engine.__dict__["static"], staticmethod))
print(pickle.loads(pickle.dumps(m.function))(1, 1), pickle.loads(pickle.dumps(e.step))([]))
print(type(m.__loader__).__name__, type(m.__spec__.loader).__name__, m.__file__.endswith("engine_under_test.py"))
import sys, importlib.util
print([p for p in sys.path if "hook" in p], importlib.util.find_spec("json").name)
print("sitecustomize" in sys.modules or True)
""")


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing_is_followed(project: Path, method: str) -> None:
    run(project, f"""
import multiprocessing
if __name__ == "__main__":
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        print(pool.map(m.function, range(20)))
""")
    pushes = [e for e in events(project / "run", "push") if e["name"].endswith("function")]
    assert len(pushes) == 20
    assert all(p["pid"] in {q["pid"] for q in lines(project / "run", "processes.jsonl")} for p in pushes)


def test_the_users_own_sitecustomize_still_runs(project: Path) -> None:
    (project / "site").mkdir()
    (project / "site/sitecustomize.py").write_text("import sys; sys.own_site = __name__, __file__.split('/')[-2]\n")
    environment = {**os.environ, "PYTHONPATH": str(project / "site")}
    code = "import sys, sitecustomize; print(sys.own_site, sitecustomize.__file__.split('/')[-2])"
    plain = subprocess.run([PYTHON, "-c", code], env=environment, capture_output=True)
    traced = trace(project / "run", PYTHON, "-c", code, env=environment)
    assert traced.stdout == plain.stdout == b"('sitecustomize', 'site') site\n"
    (project / "site/sitecustomize.py").write_text("raise RuntimeError('mine')\n")
    plain = subprocess.run([PYTHON, "-c", "print(1)"], env=environment, capture_output=True)
    traced = trace(project / "run2", PYTHON, "-c", "print(1)", env=environment, options=("-q",))
    assert (traced.stdout, traced.stderr) == (plain.stdout, plain.stderr)
    assert b"mine" in traced.stderr


def test_without_hooks_and_in_isolated_mode_nothing_is_wrapped(project: Path) -> None:
    run(project, "m.function(1)", "--no-hooks")
    assert not list((project / "run/events").iterdir())
    code = "import sys; sys.path.insert(0, '.'); import engine_under_test as m; print(m.function(1))"
    done = trace(project / "run2", PYTHON, "-I", "-c", code, options=("--hooks", project / "hooks.json"), cwd=project)
    assert done.stdout == b"3\n"
    assert not list((project / "run2/events").iterdir())


def test_a_module_run_as_main_is_counted(project: Path) -> None:
    done = trace(project / "run", PYTHON, "-m", "engine_under_test", options=("--hooks", project / "hooks.json"),
                 cwd=project)
    assert done.returncode == 0
    counts = hook_counts(project)
    assert counts["as_main"] > 0 and counts["installed"] == 0


def test_the_counts_are_there_even_if_the_program_is_killed(project: Path) -> None:
    script = project / "main.py"
    script.write_text("import engine_under_test as m, os\nm.function(1)\nos.kill(os.getpid(), 9)\n")
    done = trace(project / "run", PYTHON, script, options=("--hooks", project / "hooks.json"), cwd=project)
    assert done.returncode == -9
    assert hook_counts(project)["installed"] == 11
    assert [e["name"] for e in events(project / "run", "push")] == ["engine_under_test.py: function"]


def test_hooks_work_beside_another_nvtx_tool(project: Path) -> None:
    run(project, "print(m.function(1))", env={**os.environ, "NVTX_INJECTION64_PATH": "/none/tool.so"})


def hooked(project: Path, module: str, *targets: dict) -> None:
    """Puts another module and other targets in the project's place."""
    (project / "engine_under_test.py").write_text(module)
    entries = [{"module": "engine_under_test", **target} for target in targets]
    (project / "hooks.json").write_text(
        json.dumps({"format": "teller.hooks", "version": 1, "stack": "demo", "targets": entries}))


RECURSIVE = """
def plain(n): return 0 if n <= 0 else 1 + plain(n - 1)
def rich(n): return 0 if n <= 0 else 1 + rich(n - 1)
def items(n):
    if n > 0: yield from items(n - 1)
    yield n
class Holder:
    @property
    def id(self): raise Unprintable()
class Unprintable(Exception):
    def __str__(self): raise LookupError("even its text")
def held(holder): return 1
"""


def test_our_own_errors_do_not_reach_the_program(project: Path) -> None:
    hooked(project, RECURSIVE, {"object": "plain"}, {"object": "items"}, {"object": "held", "request": "args.holder.id"},
           {"object": "rich", "request": "args.n", "record": {"engine": "'demo'", "step": "str(args.n)"}})
    run(project, """
import sys
def probe(function, n):
    try:
        function(n)
    except RecursionError as error:
        # Ours must not be seen in it either.
        assert error.__context__ is None and error.__cause__ is None, repr(error.__context__)
sys.setrecursionlimit(300)
for function in (m.plain, m.rich, lambda n: list(m.items(n))):
    for n in range(40, 330):
        probe(function, n)
print(m.plain(100), m.rich(100), len(list(m.items(60))), m.held(m.Holder()))
import time
time.sleep(0.2)  # so that the last counts find room in the ring
""")
    counts = hook_counts(project)
    # On a busy machine even that may not be enough: then the mark with the last counts is among the dropped.
    assert (counts["own_errors"] > 0 or dropped(project) > 0) and counts["installed"] == 4
    # A burst like this may fill the ring on a busy machine; what is dropped is counted, and nothing else may be missing.
    for begin, end in (("push", "pop"), ("start", "stop")):
        missing = len(events(project / "run", begin)) - len(events(project / "run", end))
        assert abs(missing) <= dropped(project), begin
    assert dropped(project) > 0 or events(project / "run", "push")[-1]["name"] == "engine_under_test.py: held"


def test_a_failed_push_is_a_call_without_a_range(project: Path) -> None:
    hooked(project, RECURSIVE, {"object": "plain"}, {"object": "rich", "request": "args.n"})
    run(project, """
import sys
bridge = sys.modules.get("teller_hooks.bridge")
if bridge:
    # As near the limit, where this depends on the version of Python.
    def failing(*unused):
        raise RecursionError("ours")
    for function in (m.plain, m.rich):
        names = function.__code__.co_freevars
        function.__closure__[names.index("push")].cell_contents = failing
def fails():
    try:
        m.plain("text")
    except TypeError as error:
        return repr(error.__context__), sys.exc_info()[0]
print(m.plain(3), m.rich(3), fails())
""")
    assert not events(project / "run", "push", "pop")
    assert hook_counts(project)["own_errors"] == 9


CALLABLES = """
import functools, types
@functools.lru_cache
def cached(x): return x
part = functools.partial(cached, 1)
class Callable:
    extra = 1
    def __call__(self): return 2
    def method(self, a, b=(1,)): return a
    @types.coroutine
    def old_coroutine(self): yield
    tagged = staticmethod(len)
instance = Callable()
bound = instance.method
size = len
def attributes(a, /, b: int = 2, *c: str, d: float = 1.5, **e) -> list:
    "Says."
    return [a, b, c, d, sorted(e)]
attributes.attr = [1]
"""


def test_only_functions_are_wrapped_and_they_look_as_before(project: Path) -> None:
    names = ("cached", "part", "Callable", "instance", "bound", "size", "attributes", "Callable.tagged", "Callable.method",
             "Callable.old_coroutine")
    hooked(project, CALLABLES, *({"object": name} for name in names))
    run(project, """
import asyncio, copy, inspect, pickle
print(m.cached(1), m.cached.cache_info(), m.cached.cache_clear(), type(m.cached).__name__)
print(m.part.func is m.cached, m.part.args, m.part(), pickle.loads(pickle.dumps(m.part))())
print(m.Callable.extra, isinstance(m.instance, m.Callable), m.instance.extra, m.instance(), type(m.size).__name__, m.size("ab"))
print(m.bound(4), m.bound.__self__ is m.instance, m.bound.__func__.__name__, m.Callable.tagged("a"))
f = m.attributes
print(f(1, 3, 4, d=5, x=6), f(0), f.attr, f.__defaults__, f.__kwdefaults__, f.__annotations__, f.__doc__, inspect.signature(f))
print(m.instance.method.__defaults__, inspect.signature(m.instance.method), inspect.isfunction(f), inspect.ismethod(m.bound))
for kind in (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction, asyncio.iscoroutinefunction):
    print([kind(g) for g in (f, m.Callable.method, m.Callable.old_coroutine)])
print(pickle.loads(pickle.dumps(f)) is f, copy.deepcopy(f) is f, inspect.isawaitable(m.instance.old_coroutine()))
async def main(): await m.instance.old_coroutine()
asyncio.run(main())
""")
    counts = hook_counts(project)
    assert counts["not_function"] == 6 and counts["installed"] == 4 and counts["failed"] == 0
    assert any("cached: a _lru_cache_wrapper" in line for line in counts["details"])


def test_ids_are_short(project: Path) -> None:
    targets = [{"object": "function", "request": "'a' * 50000000 if args.a else args.b"}]
    hooked(project, MODULE, *targets)
    run(project, "print(m.function(1), m.function(0, 7), len(m.function([], [0] * 1000000)))")
    names = [e["name"] for e in events(project / "run", "push")]
    plain = "engine_under_test.py: function"
    assert names == [f"{plain} request={'a' * 1024}", f"{plain} request=7", plain]
    assert hook_counts(project)["record_errors"] == 1


def test_a_forked_child_that_does_nothing_costs_nothing(project: Path) -> None:
    code = "import os, sys; [os.fork() for _ in range(3)]\ntry:\n    while True: os.wait()\nexcept OSError: pass\n"
    assert trace(project / "run", PYTHON, "-c", code).returncode == 0
    assert len(sources(project / "run")) == 1
    assert sum(p["library"] for p in lines(project / "run", "processes.jsonl")) == 1


def test_without_a_target_little_is_imported(project: Path) -> None:
    """What the hooks import, every forked child of every Python copies when it ends."""
    heavy = {"json", "re", "enum", "typing", "ast", "functools", "collections", "importlib.util", "inspect"}
    code = "import sys; print(*sys.modules)"
    plain = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    traced = trace(project / "run", PYTHON, "-c", code, options=("-q", "--hooks", project / "hooks.json")).stdout.decode().split()
    assert "teller_hooks" in traced and not heavy & (set(traced) - set(plain))


def test_built_in_target_files_are_valid() -> None:
    for path in (ROOT / "python_hooks/targets").glob("*.json"):
        data = json.loads(path.read_text())
        assert data["format"] == "teller.hooks" and data["version"] == 1 and data["stack"]
        for target in data["targets"]:
            for text in [*target.get("record", {}).values(), *(target[k] for k in ("request", "before", "when") if k in target)]:
                compile_expression(text)


FOREIGN = '''
class Tensor:
    """Answers like a tensor, and says so."""
    shape = (1,)
    def item(self): print("item was called"); return 7
    def __index__(self): print("index was called"); return 7
    def __int__(self): print("int was called"); return 7
    def __iter__(self): print("iter was called"); return iter((7,))
    def __len__(self): print("len was called"); return 1
    def __str__(self): print("str was called"); return "7"
    __repr__ = __str__
    def tolist(self): print("tolist was called"); return [7]

class Number(int):
    def __index__(self): print("index was called"); return 9
    __int__ = __str__ = __repr__ = __index__

class Engine:
    def schedule(self, n): return (i for i in range(n))
    def rows(self, n): return ((str(i), 0) for i in range(n))
    def tensor(self, request): return Tensor()
    tensors = {"a": [Tensor()]}
'''


def test_values_of_the_program_are_not_touched(project: Path) -> None:
    (project / "engine_under_test.py").write_text(FOREIGN)
    common = {"module": "engine_under_test", "layer": "STEP", "role": "schedule"}
    targets = [
        {**common, "object": "Engine.schedule", "record": {"engine": "'demo'", "all": "result", "nested": "[1, (result,)]",
                                                           "req": "[('a', 'decode', True, 1, 0)]"}},
        {**common, "object": "Engine.rows", "record": {"engine": "'demo'", "req": "result"}},
        {**common, "object": "Engine.tensor", "request": "args.request",
         "record": {"engine": "'demo'", "req": "[('a', result, 1, 1, 1)]", "wait": "result", "deep": "self.tensors",
                    "bad": "float('nan')", "own": "(n for n in (1, 2))", "seqs": "[1, 2]"}}]
    (project / "hooks.json").write_text(
        json.dumps({"format": "teller.hooks", "version": 1, "stack": "demo", "targets": targets}))
    run(project, """
e = m.Engine()
print(list(e.schedule(3)), list(e.rows(2)))
e.tensor(m.Tensor())
e.tensor(m.Number(3))
""")
    records = [json.loads(e["attrs"]) if isinstance(e["attrs"], str) else e["attrs"]
               for e in events(project / "run", "step_record")]
    assert records[:1] == [{"v": 1, "engine": "demo", "req": [["a", "decode", 1, 1, 0]]}]
    marks = [e for e in events(project / "run") if e["record"] in ("mark", "step_record")]
    assert len(marks) == 4
    names = [e["name"] for e in events(project / "run", "push")]
    assert names[2:] == ["engine_under_test.py: Engine.tensor", "engine_under_test.py: Engine.tensor request=3"]
    # Two of schedule, one of rows, four and the request of the first tensor, four of the second.
    assert hook_counts(project)["record_errors"] == 12


def test_plain_values_are_written() -> None:
    class Phase(Enum):
        PREFILL = object()

    class Level(IntEnum):
        HIGH = 3

    class Name(str, Enum):
        ENGINE = "vllm"

    class Pair(NamedTuple):
        first: int
        second: Phase

    table = defaultdict(list, {Level.HIGH: [1.5]})
    cases = [(None, None), (True, True), (Phase.PREFILL, "PREFILL"), (Level.HIGH, 3), (Name.ENGINE, "vllm"),
             (Pair(1, Phase.PREFILL), [1, "PREFILL"]), (table, {"3": [1.5]}), (table.keys(), [3]), ({4}, [4]),
             (deque([1]), [1]), (range(2), [0, 1])]
    try:
        import numpy
    except ImportError:
        numpy = None
    if numpy is not None:
        cases += [(numpy.int64(5), 5), (numpy.float32(0.5), 0.5), (numpy.bool_(True), True)]
    for value, expected in cases:
        got = _plain(value)
        assert got == expected and type(got) is type(expected), value
    deep: list = []
    deep.append(deep)
    for bad in (object(), iter([]), deep, float("inf"), {(1, 2): 3}, zip(), map(len, [])):
        with pytest.raises((Foreign, ValueError)):
            _plain(bad)


@pytest.mark.parametrize("text", [
    "__import__('os')", "self.__class__", "open('x')", "(lambda: 1)()", "getattr(self, '__class__')",
    "getattr(self, args.name)", "self.run()", "[x for x in __builtins__]", "unknown", "f'{self}'", "x := 1",
    "self.items.clear()", "len := print", "eval('1')", "{**self}", "[*self]", "self.x; self.y", "1) or (2", "",
])
def test_expressions_outside_the_subset_are_refused(text: str) -> None:
    with pytest.raises((Refused, SyntaxError)):
        compile_expression(text)


def test_expressions_of_the_subset_are_evaluated() -> None:
    class Thing:
        size = 3
        table = {"a": 1, "b": 2}

    cases = {"self.size + 1": 4, "[k for k in sorted(self.table.keys()) if self.table[k] > 1]": ["b"],
             "{k: v * self.size for k, v in self.table.items()}": {"a": 3, "b": 6}, "self.table.get('z', 0)": 0,
             "'yes' if result is None else 'no'": "yes", "sum(v for v in self.table.values())": 3,
             "(len(args), -self.size % 2, not self.size)": (2, 1, False), "args[1:]": [8]}
    for text, expected in cases.items():
        assert compile_expression(text)(Thing(), [7, 8], None) == expected, text
