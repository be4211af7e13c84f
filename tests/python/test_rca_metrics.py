"""The figures of merit of bench/rca, and its rules for runs, against values worked out by hand."""
from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest
from conftest import ROOT

np = pytest.importorskip("numpy")
sys.path.insert(0, str(ROOT / "bench/rca"))

import columns  # noqa: E402
import methods  # noqa: E402
import metrics  # noqa: E402

TRUTH = [True, True, False, False, True]
SCORES = [0.9, 0.4, 0.4, 0.1, 0.8]


def test_step_scores() -> None:
    """Pairs: 2 positives above both negatives (4), one tied with one (0.5) and above the other (1): 5.5 of 6.

    Average precision by groups of equal scores: (1 · 1/1 + 1 · 2/2 + 1 · 3/4) / 3.
    """
    scores = metrics.step_scores(TRUTH, SCORES, [s >= 0.4 for s in SCORES])
    assert scores["accuracy"] == pytest.approx(4 / 5)
    assert scores["precision"] == pytest.approx(3 / 4)
    assert scores["recall"] == pytest.approx(1)
    assert scores["f1"] == pytest.approx(6 / 7)
    assert scores["auroc"] == pytest.approx(5.5 / 6)
    assert scores["auprc"] == pytest.approx((1 + 1 + 3 / 4) / 3)


def test_step_scores_of_one_class() -> None:
    """Without positives nothing can be ranked, and nothing divides by zero."""
    scores = metrics.step_scores([False, False], [0.3, 0.2], [False, True])
    assert (scores["f1"], scores["auroc"], scores["auprc"], scores["accuracy"]) == (0, 0.5, 0, 0.5)
    assert metrics.step_scores([], [], [])["f1"] == 0


def test_threshold() -> None:
    """F1 is 2/4 from .9, 4/5 from .8, 6/7 from .4, 6/8 from .1 on: the third, in the middle to the next."""
    assert metrics.best_f1_threshold(TRUTH, SCORES) == pytest.approx(0.25)
    assert metrics.best_f1_threshold([True], [3.0]) == pytest.approx(3.0)
    assert metrics.best_f1_threshold([], []) == 0


def test_operator_scores() -> None:
    """F1 of the units: 2/3, none (empty/empty), 0 (missed), 0 (false alarm)."""
    a, b = ("K", "gemm", -1), ("RT", "cudaMalloc", -1)
    scores = metrics.operator_scores([{a, b}, set(), set(), {b}], [{a}, set(), {a}, set()])
    assert scores["all"] == pytest.approx((2 / 3) / 4)
    assert scores["macro"] == pytest.approx((2 / 3) / 3)
    assert scores["macro_plus"] == pytest.approx((2 / 3) / 2)


def test_class_scores() -> None:
    """Classes without a true case take no part in the averages; what was called so still costs precision."""
    scores = metrics.class_scores(np.array([[3, 1, 0], [1, 1, 2], [0, 0, 0]]))
    assert scores["accuracy"] == pytest.approx(4 / 8)
    assert scores["macro_recall"] == pytest.approx((3 / 4 + 1 / 4) / 2)
    assert scores["macro_f1"] == pytest.approx((3 / 4 + 2 * (1 / 2) * (1 / 4) / (3 / 4)) / 2)


def test_bootstrap() -> None:
    """The same answers differ by nothing; right against wrong in all runs differs by one in every draw."""
    good, bad = np.array([[2, 0, 0]] * 5), np.array([[0, 1, 2]] * 5)
    assert metrics.bootstrap_difference(good, good, metrics.f1_of_counts, rounds=50) == (0, 0, 0)
    assert metrics.bootstrap_difference(good, bad, metrics.f1_of_counts, rounds=50) == (1, 1, 1)
    mixed = np.array([[2, 0, 0], [0, 1, 2], [2, 0, 0], [0, 1, 2]])
    difference, low, high = metrics.bootstrap_difference(mixed, bad[:4], metrics.f1_of_counts, rounds=500)
    assert difference == pytest.approx(2 * 4 / (2 * 4 + 2 + 4)) and low < difference < high


def test_run_rules() -> None:
    """A type needs so many units; the verdict is the type that has the most for its need, if it has half of all."""
    likeliest = np.array([0, 0, 1, 2])
    margin = np.array([0.0, 2.0, 1.0, -1.0])
    flagged = margin >= 0
    rule = methods.class_by_types
    assert metrics.CLASSES[rule(margin, likeliest, [(1, 0, 0)] * 5)] == "memory"  # 2 of 3
    assert metrics.CLASSES[rule(margin, likeliest, [(2, 0, 0), *[(1, 0, 0)] * 4])] == "memory"  # 1 of 2
    assert rule(margin, likeliest, [(3, 0, 0)] * 5) == 0
    assert rule(margin, likeliest, [(1, 0.7, 0)] * 5) == 0  # 3 of 4 units needed
    assert metrics.CLASSES[rule(margin, likeliest, [(1, 0, 3), *[(1, 0, 0)] * 4])] == "cuda_kernel"  # no memory unit so sure
    assert rule(np.full(4, -1.0), likeliest, [(1, 0, 0)] * 5) == 0
    assert metrics.CLASSES[rule(np.ones(3), np.arange(3), [(1, 0, 0)] * 5)] == "unknown"  # 1 of 3
    assert methods.class_by_count(flagged, 3) == metrics.UNKNOWN and methods.class_by_count(flagged, 4) == 0
    assert methods.middle_of_best([1, 4, 4, 4, 2, 4]) == 3


def test_ranks() -> None:
    """Where the truth names an operator on all ranks, the rank that was said does not matter; elsewhere it does."""
    said = {("K", "gemm", 0), ("K", "gemm", 1), ("RT", "cudaFree", 2)}
    assert methods.any_rank(said, {("K", "gemm", -1), ("RT", "cudaFree", 1)}) == {("K", "gemm", -1), ("RT", "cudaFree", 2)}


def test_columns(tmp_path: Path) -> None:
    """A column file written byte by byte is read as it was meant; another magic is refused."""
    data = struct.pack("<4f", 1, 2, 3, 4)
    entry = struct.pack("<24s24sIIQQQ", b"nodes", b"features", 8, 0, 2, 64, 0)
    header = b"\x89TLRCO\r\n" + struct.pack("<HHIQQ", 1, 0, 1, 80, 0)
    path = tmp_path / "x.tcol"
    path.write_bytes(header.ljust(64, b"\0") + data + entry)
    assert columns.Columns(path).get("nodes", "features", "<f4").tolist() == [[1, 2], [3, 4]]
    path.write_bytes(b"\0" * 200)
    with pytest.raises(ValueError, match="no column file"):
        columns.Columns(path)
