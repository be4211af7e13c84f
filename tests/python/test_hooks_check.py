"""`teller hooks check` and `list`: what is in the source is found, and none of it runs."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, expect_one_line, run_teller
from trace_support import PYTHON

MODULES = {
    "pack/__init__.py": "open('ran', 'w').close()\nfrom .inner import exported\nfrom .inner import Middle as Renamed\n",
    "pack/inner.py": """
import functools
from .base import Base, helper
from . import base as other
open('ran', 'w').close()
def exported(): pass
async def asynchronous(): pass
lambda_function = lambda: 1
alias = exported
VALUE = 3
made = functools.partial(exported)
@functools.lru_cache(maxsize=2)
def cached(): pass
@some.decorator
def decorated(): pass
if VALUE:
    def conditional(): pass
else:
    class Other: pass
try:
    import fast
except ImportError:
    def slow(): pass
class Middle(Base):
    def own(self): pass
    @property
    def size(self): pass
    @staticmethod
    def static(): pass
    class Nested:
        def deep(self): pass
    attribute = 3
class Dotted(other.Base): pass
class Foreign(elsewhere.Thing): pass
class Loop1(Loop2): pass
class Loop2(Loop1): pass
""",
    "pack/base.py": "def helper(): pass\nclass Root:\n    def far(self): pass\nclass Base(Root):\n    def near(self): pass\n",
    "pack/star.py": "from .base import *\nfrom unreadable_package import *\n",
    "pack/clean_star.py": "from .base import *\n",
    "pack/broken.py": "def f(:\n",
    "pack/nul.py": "x = 1\0\n",
    "pack/deep.py": "x = " + "-" * 200000 + "1\n",
    "pack/nested.py": "x = " + "(" * 5000 + ")" * 5000 + "\n",
    "namespace/part.py": "def f(): pass\n",
}
STATUS = {
    "pack:exported": "there", "pack:Renamed.own": "there", "pack:Renamed.far": "there", "pack:absent": "missing",
    "pack.inner:exported": "there", "pack.inner:asynchronous": "there", "pack.inner:lambda_function": "there",
    "pack.inner:alias": "there", "pack.inner:helper": "there", "pack.inner:VALUE": "unknown", "pack.inner:made": "unknown",
    "pack.inner:cached": "not_function", "pack.inner:decorated": "there", "pack.inner:conditional": "there",
    "pack.inner:slow": "there", "pack.inner:fast": "unknown", "pack.inner:Middle": "not_function", "pack.inner:Other": "not_function",
    "pack.inner:Middle.own": "there", "pack.inner:Middle.size": "not_function", "pack.inner:Middle.static": "there",
    "pack.inner:Middle.Nested.deep": "there", "pack.inner:Middle.near": "there", "pack.inner:Middle.far": "there",
    "pack.inner:Middle.absent": "missing", "pack.inner:Middle.own.more": "missing", "pack.inner:Dotted.far": "there",
    "pack.inner:Foreign.any": "unknown", "pack.inner:Loop1.any": "unknown", "pack.star:helper": "there", "pack.star:absent": "unknown",
    "pack.clean_star:Base.far": "there", "pack.clean_star:absent": "missing", "pack.broken:f": "unknown", "pack.nul:f": "unknown",
    "pack.deep:f": "unknown", "pack.nested:f": "unknown", "pack.gone:f": "no_module", "nopack.mod:f": "no_package",
    "namespace.part:f": "there", "namespace:f": "unknown", "../pack:f": "no_package", "built:f": "unknown",
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of packages."""
    folder = tmp_path / "site"
    for name, text in MODULES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "built.cpython-311-x86_64-linux-gnu.so").write_bytes(b"")
    (folder / "pack-1.2.3.dist-info").mkdir()
    return folder


def hook_file(folder: Path, targets: list, **head: object) -> Path:
    """A hook file."""
    path = folder / "hooks.json"
    path.write_text(json.dumps({"format": "teller.hooks", "version": 1, "stack": "x", "targets": targets, **head}))
    return path


def target(name: str, **more: object) -> dict:
    """A target of module:object."""
    module, _, path = name.partition(":")
    return {"module": module, "object": path, **more}


def check(*arguments: object, **options: object) -> subprocess.CompletedProcess:
    """teller hooks check."""
    return run_teller("hooks", "check", "--python", PYTHON, *arguments, **options)


def test_what_the_source_says(site: Path, tmp_path: Path) -> None:
    path = hook_file(tmp_path, [target(name) for name in STATUS])
    done = check(path, "--site", site, "--json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    report, = json.loads(done.stdout)["files"]
    assert {f"{t['module']}:{t['object']}": t["status"] for t in report["targets"]} == STATUS
    assert report["versions"]["pack"] == "1.2.3" and report["versions"]["nopack"] is None
    assert report["there"] == sum(status == "there" for status in STATUS.values())
    assert not list(tmp_path.rglob("ran"))  # nothing was executed


def test_exit_codes_and_text(site: Path, tmp_path: Path) -> None:
    done = check(hook_file(tmp_path, [target("pack:exported"), target("pack.inner:Middle.near")]), "--site", site)
    assert done.returncode == 0 and "2 of 2 targets there; pack 1.2.3" in done.stdout and "inherited from Base" in done.stdout
    done = check(hook_file(tmp_path, [target("pack:exported"), target("pack:absent")]), "--site", site)
    assert done.returncode == 1 and "MISSING" in done.stdout
    done = check(hook_file(tmp_path, [target("pack.base:absent", unless="helper")]), "--site", site)
    assert done.returncode == 0 and "left out, since helper is there" in done.stdout


def test_modules_that_import_all_from_each_other(tmp_path: Path) -> None:
    """Each is looked at a few times, not once for every way that leads to it."""
    names = [f"m{n}" for n in range(24)]
    for name in names:
        (tmp_path / f"{name}.py").write_text("".join(f"from {other} import *\n" for other in names))
    (tmp_path / "m23.py").write_text("from m0 import *\ndef last(): pass\n")
    path = hook_file(tmp_path, [target("m0:absent"), target("m0:last")])
    report, = json.loads(check(path, "--site", tmp_path, "--json", timeout=60).stdout)["files"]
    assert [t["status"] for t in report["targets"]] == ["missing", "there"]


def test_the_runtime_agrees(site: Path, tmp_path: Path) -> None:
    """What the check calls there, the hooks install; what it calls missing, they miss."""
    sys.path.insert(0, str(ROOT / "python_hooks"))
    from teller_hooks.source_index import SourceIndex

    index = SourceIndex([str(site)])
    names = ("Middle.own", "Middle.near", "Middle.far", "Middle.static", "Middle.Nested.deep", "Middle.absent", "Dotted.far", "helper")
    code = (site / "pack/inner.py").read_text()
    code = code.replace("class Foreign(elsewhere.Thing): pass", "").split("class Loop1")[0].replace("@some.decorator", "")
    (site / "pack/inner.py").write_text(code)
    probe = "import sys; sys.path[:0] = sys.argv[1:3]; import pack.inner as m; from teller_hooks.patching import _find, Missing\n" \
            "for n in sys.argv[3:]:\n    try:\n        _find(m, n); print('there')\n    except Missing: print('missing')\n"
    done = subprocess.run([PYTHON, "-c", probe, site, ROOT / "python_hooks", *names], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.split() == [index.find("pack.inner", name).status for name in names], done.stderr


def test_code_in_pth_files_does_not_run(site: Path, tmp_path: Path) -> None:
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    folder = next((tmp_path / "venv/lib").glob("python*/site-packages"))
    (folder / "a.pth").write_text(f"import os; open({str(tmp_path / 'ran')!r}, 'w')\n# comment\n{site}\n")
    (folder / "sitecustomize.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    (folder / "b.pth").mkdir()  # cannot be read
    (folder / "c.pth").symlink_to("nowhere")
    path = hook_file(tmp_path, [target("pack:exported"), target("json:loads")])
    done = run_teller("hooks", "check", path, "--python", tmp_path / "venv/bin/python", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(tmp_path.rglob("ran"))


BAD = [
    ("", "Expecting value"), ("[]", "not a hook file"), ('{"format": "teller.hooks", "version": 2}', "version 1"),
    ('{"format": "teller.hooks", "version": 1, "targets": {}}', "targets must be a list"), ("[" * 100000, "recursion"),
    (json.dumps({"format": "teller.hooks", "version": 1, "targets": [{"module": "m"}]}), "target 1: object must be a name"),
    (json.dumps({"format": "teller.hooks", "version": 1, "targets": [3]}), "target 1: a target must be an object"),
    *((json.dumps({"format": "teller.hooks", "version": 1, "targets": [target("m:f", **more)]}), says) for more, says in (
        ({"layer": "K"}, "unknown layer"), ({"layer": ["FE"]}, "target 1: unknown layer"), ({"role": ["step"]}, "target 1: unknown role"), ({"role": "boss"}, "unknown role"), ({"recrod": {}}, "unknown key recrod"),
        ({"when": "__import__('os')"}, "when: "), ({"record": {"req": "open('x')"}}, "req: "), ({"record": []}, "record must be"),
        ({"unless": 3}, "unless must be a name"))),
]


@pytest.mark.parametrize(("text", "says"), BAD)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    expect_one_line(check(tmp_path / "bad.json"), 2, says=says)


def test_other_mistakes(tmp_path: Path) -> None:
    good = hook_file(tmp_path, [])
    expect_one_line(check(tmp_path / "absent.json"), 2, says="No such file")
    expect_one_line(check(tmp_path), 2, says="directory")
    expect_one_line(check(good, "--site", tmp_path / "none"), 2, says="no such folder")
    expect_one_line(run_teller("hooks", "check", good, "--python", "/no/python"), 3, says="no such program")
    for program in ("/bin/true", "/bin/echo"):
        expect_one_line(run_teller("hooks", "check", good, "--python", program), 2, says="did not answer as a Python does")
    os.mkfifo(tmp_path / "pipe")
    expect_one_line(check(tmp_path / "pipe", timeout=20), 2, says="it is a pipe")
    expect_one_line(run_teller("hooks", "check"), 2, says="FILE")
    expect_one_line(run_teller("hooks"), 2)


def test_list_names_the_files_that_come_with_teller() -> None:
    files = json.loads(run_teller("hooks", "list", "--python", PYTHON, "--json").stdout)
    names = {path.stem for path in (ROOT / "python_hooks/targets").glob("*.json")}
    assert {file["name"] for file in files} == names and all(file["targets"] and file["comment"] for file in files)
    text = run_teller("hooks", "list", "--python", PYTHON).stdout
    assert all(any(line.startswith(name) for line in text.splitlines()) for name in names)
    for name in names:  # each is a file that check accepts
        assert check(name, "--site", "/").returncode == 1
