"""The model's peers. Each is fitted on training runs, its choices made on validation runs, and gives an Answer per test run."""
from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from metrics import CLASSES, UNKNOWN, best_f1_threshold, operator_scores
from runs import Operator, Run

MOST_STEPS = 24  # k of the run verdict is sought from 1 to this
MOST_FAMILIES = 8
AGREEMENT = 0.5  # share of the support that names a type
AGREEMENT_STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24)  # as teller train tries
AGREEMENT_SHARES = (0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12)
AGREEMENT_ABOVE = (0, 0.5, 1, 2, 3, 4, 5)

# What a type needs: units, a share of the run's units, and how far above the step threshold (log odds) each must lie.
Agreement = tuple[int, float, float]


@dataclass
class Answer:
    """What one method says of one run: per unit a score, whether it is abnormal, the operators; of the run a class."""

    score: np.ndarray
    flagged: np.ndarray
    operators: list[set[Operator]]
    run_class: int


def any_rank(predicted: set[Operator], truth: set[Operator]) -> set[Operator]:
    """`predicted` without the ranks of operators that the truth names on all ranks (-1)."""
    everywhere = {(layer, family) for layer, family, rank in truth if rank < 0}
    return {(o[0], o[1], -1) if (o[0], o[1]) in everywhere else o for o in predicted}


def pooled(runs: list[Run], values: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Truth and values of all units that count."""
    return (np.concatenate([r.abnormal[r.scored] for r in runs]), np.concatenate([v[r.scored] for r, v in zip(runs, values)]))


def middle_of_best(right: list[int]) -> int:
    """The middle of the first stretch of equal best values, counted from 1."""
    most = max(right)
    first = right.index(most)
    length = next((i for i, n in enumerate(right[first:]) if n != most), len(right) - first)
    return first + (length - 1) // 2 + 1


def choose_families(runs: list[Run], flagged: list[np.ndarray]) -> int:
    """How many of stage 3's families to name on flagged steps: the number with the best mean F1 (Macro)."""
    def value(k: int) -> float:
        said, truth = [], []
        for run, flags in zip(runs, flagged):
            for i in np.flatnonzero(run.scored):
                said.append(any_rank(set(run.ranked[i][:k]), run.truth[i]) if flags[i] else set())
                truth.append(run.truth[i])
        return operator_scores(said, truth)["macro"]
    return max(range(1, MOST_FAMILIES + 1), key=value)


def top_families(run: Run, flagged: np.ndarray, k: int) -> list[set[Operator]]:
    """Stage 3's first k families on flagged units."""
    return [set(ranked[:k]) if flag else set() for ranked, flag in zip(run.ranked, flagged)]


def class_by_count(flagged: np.ndarray, k: int) -> int:
    """The verdict of a method that knows no types: unknown from k flagged units on."""
    return UNKNOWN if flagged.sum() >= k else 0


def class_by_types(margin: np.ndarray, likeliest: np.ndarray, needed: list[Agreement]) -> int:
    """The model's own rule (docs/learn.md): of each type as many units as it needs; the type with the most for its need.

    `margin` is how far each unit lies above the step threshold, `likeliest` the place of its type.
    """
    counts = [int((margin[likeliest == place] >= above).sum()) for place, (_, _, above) in enumerate(needed)]
    support = np.array(counts) / [max(steps, math.ceil(share * len(margin))) for steps, share, _ in needed]
    best = int(np.argmax(support))
    if support[best] < 1:
        return 0
    return UNKNOWN if support[best] < AGREEMENT * support.sum() else best + 1


def fit_agreement(runs: list[Run], margins: list[np.ndarray], likeliest: list[np.ndarray], types: int) -> list[Agreement]:
    """What each type needs: the values that judge the most runs right, one type after the other, twice."""
    needed: list[Agreement] = [(1, 0.0, 0.0)] * types

    def rights(tried: list[Agreement]) -> int:
        return sum(right(r, class_by_types(m, t, tried), True) for r, m, t in zip(runs, margins, likeliest))

    for place in list(range(len(needed))) * 2:
        choices = [needed[place], *itertools.product(AGREEMENT_STEPS, AGREEMENT_SHARES, AGREEMENT_ABOVE)]
        needed[place] = max(choices, key=lambda choice: rights([*needed[:place], choice, *needed[place + 1:]]))
    return needed


def right(run: Run, said: int, typed: bool) -> bool:
    """Whether a verdict is right; without types, whether it tells faulty from healthy."""
    return said == CLASSES.index(run.fault_type) if typed else (said > 0) == run.is_fault


def scored_method(score: Callable[[Run], np.ndarray], validation: list[Run], test: list[Run]) -> tuple[list[Answer], str]:
    """A method that is one score per unit: threshold, k and number of families from validation."""
    values = [score(r) for r in validation]
    threshold = best_f1_threshold(*pooled(validation, values))
    flagged = [v >= threshold for v in values]
    k = middle_of_best([sum(right(r, class_by_count(f, k), False) for r, f in zip(validation, flagged)) for k in range(1, MOST_STEPS + 1)])
    families = choose_families(validation, flagged)
    answers = []
    for run in test:
        own = score(run)
        flags = own >= threshold
        answers.append(Answer(own, flags, top_families(run, flags, families), class_by_count(flags, k)))
    return answers, f"threshold {threshold:.3g}, k {k}, families {families}"


def stage3(validation: list[Run], test: list[Run]) -> tuple[list[Answer], str]:
    """The largest score of I_s; of the run, the verdict of the findings."""
    answers, chosen = scored_method(lambda r: r.score, validation, test)
    for run, answer in zip(test, answers):
        answer.run_class = UNKNOWN if run.suspicious else 0
    return answers, chosen + ", run verdict of the findings"


def slice_length(validation: list[Run], test: list[Run]) -> tuple[list[Answer], str]:
    """Nodes of the slice."""
    return scored_method(lambda r: r.nodes, validation, test)


def latency_scores(training: list[Run]) -> dict[str, Callable[[Run], np.ndarray]]:
    """Ways to say how long a step took: against healthy training steps of its kind, the run's own, and its pace."""
    by_kind = defaultdict(list)
    for run in training:
        for kind, value, state in zip(run.kind, run.log_duration, run.state):
            if state == "normal":
                by_kind[kind].append(value)
    expected = {kind: float(np.median(values)) for kind, values in by_kind.items()}

    def against_training(run: Run) -> np.ndarray:
        return np.array([d - expected.get(k, d) for d, k in zip(run.log_duration, run.kind)])

    def against_itself(run: Run) -> np.ndarray:
        medians = {k: np.median(run.log_duration[run.kind == k]) for k in set(run.kind)}
        return np.array([d - medians[k] for d, k in zip(run.log_duration, run.kind)])

    return {"training": against_training, "itself": against_itself, "pace": lambda run: run.pace.astype(float)}


def latency(training: list[Run], validation: list[Run], test: list[Run]) -> tuple[list[Answer], str]:
    """A latency threshold, against what validation shows to be the best expectation."""
    def value(score: Callable[[Run], np.ndarray]) -> float:
        truth, values = pooled(validation, [score(r) for r in validation])
        flags = values >= best_f1_threshold(truth, values)
        return 2 * (truth & flags).sum() / max(truth.sum() + flags.sum(), 1)
    ways = latency_scores(training)
    name = max(ways, key=lambda n: value(ways[n]))
    answers, chosen = scored_method(ways[name], validation, test)
    return answers, f"against {name}, {chosen}"
