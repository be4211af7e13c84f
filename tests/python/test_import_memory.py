"""What an import does with files that ask for more memory than there is, or than they are worth."""
from __future__ import annotations

import gzip
import json
import resource
from pathlib import Path

import pytest
from conftest import expect_one_line, run_teller

MIB = 1 << 20


def limited(mib: int, folder: Path, *args) -> object:
    """Runs teller in a folder with so much address space."""
    return run_teller(*args, cwd=folder, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (mib * MIB, mib * MIB)))


def many(count: int, around: str, one: str = "{}") -> str:
    """`one` so many times, in an array that stands in `around` where its "@" is."""
    return around.replace("@", "[" + ",".join([one] * count) + "]")


FLIGHT = '{"entries":@}'
OTLP = '{"resourceSpans":[{"scopeSpans":[{"spans":@}]}]}'
# Texts that are good to import, each with a large array somewhere.
GOOD = {
    "otlp": '{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"a","startTimeUnixNano":"1","endTimeUnixNano":"2",'
            '"attributes":[{"key":"a","value":{"arrayValue":{"values":@}}}]}]}]}]}',
    "kineto": '{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"n","pid":1,"tid":1,"ts":1,"dur":1}],"deviceProperties":@}',
    "event": '{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"n\\u0061","pid":1,"tid":1,"ts":1,"dur":1,"args":{"a": @}}]}',
    "chakra": '{"schema":"1.0.1","pid":1,"nodes":[{"id":3,"name":"aten::mm","rf_id":1,"parent":2,"tid":1,"inputs":@}]}',
}


@pytest.mark.parametrize("kind", [FLIGHT, OTLP], ids=["flight", "otlp"])
def test_a_small_file_of_many_values_is_refused(tmp_path, kind):
    source = tmp_path / "bomb.gz"
    source.write_bytes(gzip.compress(many(12_000_000, kind).encode(), 1))
    done = limited(2000, tmp_path, "import", "bomb.gz", "-o", "run")
    expect_one_line(done, 5, says="has more than 4194304 values")
    assert [p.name for p in tmp_path.iterdir()] == ["bomb.gz"]


@pytest.mark.parametrize("kind", ["flight", "spans", *GOOD])
def test_too_little_memory_is_one_line_and_leaves_nothing(tmp_path, kind):
    around = {"flight": FLIGHT, "spans": OTLP}.get(kind) or GOOD[kind]
    source = tmp_path / "source"
    source.write_text(many(1_500_000, around))
    refused = 0
    for mib in (600, 400, 320, 260, 220, 180, 150, 120, 100):
        done = limited(mib, tmp_path, "import", "source", "-o", "run")
        if done.returncode == 0:
            assert kind in GOOD
            run_teller("verify", tmp_path / "run", check=True)
            for path in sorted((tmp_path / "run").rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
            (tmp_path / "run").rmdir()
            continue
        if done.returncode == 127:
            continue  # not even the program was loaded
        expect_one_line(done, 4, 6)
        refused += done.returncode == 6
        assert [p.name for p in tmp_path.iterdir()] == ["source"], (mib, done.stderr)
    assert refused


def test_a_file_that_memory_does_not_suffice_for_is_named(tmp_path):
    (tmp_path / "good.json").write_text(json.dumps({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "n", "ts": 1, "dur": 1}]}))
    (tmp_path / "large.json").write_text(many(1_500_000, GOOD["otlp"], '{"stringValue":"x"}'))
    done = limited(300, tmp_path, "import", "good.json", "large.json", "-o", "run")
    expect_one_line(done, 6, says="importing large.json: there is not enough memory for it")
    assert not (tmp_path / "run").exists()
