"""The shared real traces, imported and recounted from the event files, against their reference values."""

from __future__ import annotations

import json
import os
import tarfile
from collections import Counter, defaultdict
from pathlib import Path

import pytest
import tev
from test_import import run_import

SHARED = Path(os.environ.get("TELLER_SHARED", Path(__file__).resolve().parents[3] / "shared"))
TRACES = SHARED / "traces"
pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason=f"no shared traces at {TRACES}")

ACTIVITIES = {tev.KERNEL, tev.MEMCPY, tev.MEMSET}
COMPLETE = {tev.RANGE, tev.API, tev.KERNEL, tev.MEMCPY, tev.MEMSET, tev.SYNC, tev.OVERHEAD, tev.DEVICE_RANGE,
            tev.WINDOW}


def references() -> list[dict]:
    """Every line of reference.jsonl; none where the traces are absent."""
    path = TRACES / "reference.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


@pytest.fixture(scope="module")
def trace_files(tmp_path_factory) -> dict[str, Path]:
    """All single trace files by name, the members of the tar among them."""
    folder = tmp_path_factory.mktemp("members")
    for archive in TRACES.glob("kineto/*.tar.gz"):
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    paths = list(TRACES.glob("kineto/*.json*")) + list(TRACES.glob("nsys/*.sqlite")) + list(folder.rglob("*.json"))
    return {path.name: path for path in paths}


def union_ns(spans: list[tuple[int, int]]) -> int:
    total, end = 0, None
    for a, b in sorted(spans):
        if end is None or a > end:
            total, end = total + b - a, b
        elif b > end:
            total, end = total + b - end, b
    return total


def recount(file: tev.EventFile) -> dict:
    """The device values of reference.py, from an event file."""
    calls = {(e.track.pid, e.correlation) if file.meta["dialect"] == "nsys" else e.correlation
             for e in file.events if e.kind == tev.API and e.flags & tev.HAS_CORRELATION}
    devices, streams, bound, count = defaultdict(list), defaultdict(list), 0, 0
    for e in file.events:
        if e.kind not in ACTIVITIES:
            continue
        count += 1
        key = (e.track.pid, e.correlation) if file.meta["dialect"] == "nsys" else e.correlation
        bound += bool(e.flags & tev.HAS_CORRELATION) and key in calls
        devices[e.track.device_label].append((e.begin, e.end))
        streams[e.track.device_label, e.track.stream_label].append((e.begin, e.end))
    overlaps = 0
    for spans in streams.values():
        ordered = sorted(spans)
        overlaps += sum(1 for (_, e), (s, _) in zip(ordered, ordered[1:]) if s < e)
    return {"device_activities": count, "device_activities_bound": bound,
            "busy_ns": {d: union_ns(v) for d, v in sorted(devices.items())}, "same_stream_overlaps": overlaps}


@pytest.mark.parametrize("reference", references(), ids=lambda r: r["file"])
def test_matches_reference(reference, trace_files, tmp_path):
    source = trace_files[reference["file"]]
    before = {p: p.stat().st_mtime_ns for p in source.parent.iterdir()}
    run_import(source, "-o", tmp_path / "run")
    assert {p: p.stat().st_mtime_ns for p in source.parent.iterdir()} == before, "the input's folder changed"
    (path,) = (tmp_path / "run" / "events").iterdir()
    file = tev.read_tev(path)
    assert file.whole
    expected = {key: reference[key] for key in ("device_activities", "device_activities_bound", "busy_ns",
                                                "same_stream_overlaps")}
    assert recount(file) == expected
    counts = file.meta["counts"]
    buckets = ("events", "metadata", "flows", "duplicates", "malformed")
    assert counts["records"] == sum(counts[b] for b in buckets) + sum(counts["unknown"].values())
    assert counts["malformed"] == 0 and counts["unknown"] == {}
    by_category = Counter(e.category for e in file.events if e.kind in COMPLETE)
    if "rows" in reference:
        assert file.meta["rows"] == reference["rows"]
        nonzero = {table: n for table, n in reference["rows"].items() if n}
        assert {t: by_category[t] for t in nonzero} == nonzero
    else:
        assert dict(by_category) == reference["complete_events"] == file.meta["complete_events"]
        names = sorted({e.name for e in file.events if e.category == "user_annotation"})
        assert names[:40] == reference["annotations"]
        assert (file.meta["rank"], file.meta["world_size"]) == (reference["rank"], reference["world_size"])


def test_eight_ranks_make_one_run(trace_files, tmp_path):
    ranks = sorted(p for name, p in trace_files.items() if name.startswith("worker"))
    assert len(ranks) == 8
    run_import(*ranks, "-o", tmp_path / "run")
    files = [tev.read_tev(p) for p in (tmp_path / "run" / "events").iterdir()]
    assert sorted(f.meta["rank"] for f in files) == list(range(8))
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["artifacts"]["events"]["records"] == sum(len(f.events) for f in files)
