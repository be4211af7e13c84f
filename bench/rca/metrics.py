"""Figures of merit, as docs/learn.md and docs/evaluation.md define them. Plain arrays in, plain numbers out."""
from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

CLASSES = ["none", "memory", "cuda_kernel", "runtime_driver", "communication", "scheduling", "unknown"]
UNKNOWN = CLASSES.index("unknown")


def ratio(a: float, b: float) -> float:
    """a / b, 0 where b is 0."""
    return float(a) / float(b) if b else 0.0


def harmonic(a: float, b: float) -> float:
    """Harmonic mean, 0 where both are 0."""
    return ratio(2 * a * b, a + b)


def _groups(truth: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Equal scores together, highest first: score, positives and negatives of each group."""
    values, place = np.unique(-scores, return_inverse=True)
    positives = np.bincount(place, weights=truth, minlength=len(values))
    return -values, positives, np.bincount(place, minlength=len(values)) - positives


def step_scores(truth: Sequence[bool], scores: Sequence[float], flagged: Sequence[bool]) -> dict[str, float]:
    """Scores of a detector of abnormal steps. AUROC counts ties half; AUPRC is average precision."""
    truth, scores, flagged = np.asarray(truth, bool), np.asarray(scores, float), np.asarray(flagged, bool)
    hits, called = int((truth & flagged).sum()), int(flagged.sum())
    positives, negatives = int(truth.sum()), int((~truth).sum())
    precision, recall = ratio(hits, called), ratio(hits, positives)
    out = {"units": len(truth), "positives": positives, "accuracy": ratio((truth == flagged).sum(), len(truth)),
           "precision": precision, "recall": recall, "f1": harmonic(precision, recall), "auroc": 0.5, "auprc": 0.0}
    if len(truth):
        _, good, bad = _groups(truth, scores)
        below = negatives - np.cumsum(bad)
        if positives and negatives:
            out["auroc"] = float((good * (below + 0.5 * bad)).sum() / (positives * negatives))
        seen = np.cumsum(good)
        out["auprc"] = ratio((good * seen / (seen + np.cumsum(bad))).sum(), positives)
    return out


def best_f1_threshold(truth: Sequence[bool], scores: Sequence[float]) -> float:
    """The threshold with the largest F1 (score >= threshold is called abnormal), in the middle to the next score below."""
    truth, scores = np.asarray(truth, bool), np.asarray(scores, float)
    if not len(truth):
        return 0.0
    values, good, bad = _groups(truth, scores)
    f1 = 2 * np.cumsum(good) / (truth.sum() + np.cumsum(good) + np.cumsum(bad))
    best = int(np.argmax(f1))
    return float(values[best] if best + 1 == len(values) else (values[best] + values[best + 1]) / 2)


def operator_scores(predicted: Sequence[set], truth: Sequence[set]) -> dict[str, float]:
    """Mean F1 of operator sets: macro (either is not empty), all (0 for empty/empty), macro_plus (the true one is not empty)."""
    f1 = np.array([harmonic(ratio(len(p & t), len(p)), ratio(len(p & t), len(t))) for p, t in zip(predicted, truth)])
    either = np.array([bool(p or t) for p, t in zip(predicted, truth)], bool)
    named = np.array([bool(t) for t in truth], bool)
    return {"all": ratio(f1.sum(), len(f1)), "macro": ratio(f1[either].sum(), either.sum()) if len(f1) else 0.0,
            "macro_plus": ratio(f1[named].sum(), named.sum()) if len(f1) else 0.0}


def class_scores(confusion: np.ndarray) -> dict[str, float]:
    """Of confusion[truth][predicted]: accuracy, and recall and F1 averaged over the classes that the truth has."""
    rows, columns, hits = confusion.sum(axis=1), confusion.sum(axis=0), np.diag(confusion)
    present = [c for c in range(len(rows)) if rows[c] > 0]
    recall = [ratio(hits[c], rows[c]) for c in present]
    f1 = [harmonic(ratio(hits[c], columns[c]), ratio(hits[c], rows[c])) for c in present]
    return {"accuracy": ratio(hits.sum(), confusion.sum()), "macro_recall": ratio(sum(recall), len(present)),
            "macro_f1": ratio(sum(f1), len(present))}


def f1_of_counts(counts: np.ndarray) -> float:
    """F1 of (hits, false alarms, misses)."""
    return ratio(2 * counts[0], 2 * counts[0] + counts[1] + counts[2])


def bootstrap_difference(ours: np.ndarray, theirs: np.ndarray, statistic: Callable[[np.ndarray], float],
                         rounds: int = 2000, seed: int = 1) -> tuple[float, float, float]:
    """statistic(summed ours) - statistic(summed theirs), and its 95 % interval over runs drawn with replacement.

    `ours[r]` and `theirs[r]` are counts of run r; a draw takes the same runs of both.
    """
    rng = np.random.default_rng(seed)
    runs = len(ours)
    draws = rng.multinomial(runs, np.full(runs, 1 / runs), size=rounds)
    differences = [statistic(np.tensordot(w, ours, 1)) - statistic(np.tensordot(w, theirs, 1)) for w in draws]
    low, high = np.percentile(differences, [2.5, 97.5])
    return statistic(ours.sum(axis=0)) - statistic(theirs.sum(axis=0)), float(low), float(high)
