"""From answers to tables: scores per view, operators, runs, strata, and intervals of differences."""
from __future__ import annotations

import sys

import numpy as np

from methods import Answer, any_rank
from metrics import CLASSES, bootstrap_difference, class_scores, f1_of_counts, harmonic, operator_scores, ratio, step_scores
from runs import Operator, Run

VIEWS = ["vertical", "horizontal"]


def model_answers(test: list[Run], units: dict[tuple[str, int], dict], each: dict[str, dict]) -> list[Answer]:
    """The model's answers, from eval. Labels must be the same there and here."""
    answers = []
    for run in test:
        lines = [units.get((run.name, int(u))) for u in run.unit]
        for line, state in zip(lines, run.state):
            if line is None or line["state"] != state:
                sys.exit(f"bench/rca: {run.name}: labels read here and by teller eval differ")
        flagged = np.array([line["abnormal"] for line in lines], bool)
        said = [{tuple(o) for o in line["said_operators"]} if f else set() for line, f in zip(lines, flagged)]
        answers.append(Answer(np.array([line["logit"] for line in lines]), flagged, said, CLASSES.index(each[run.name]["said"])))
    return answers


def check_figures(test: list[Run], answers: list[Answer], figures: dict[str, dict]) -> None:
    """Ends where scores computed here differ from those of teller eval on the same answers."""
    for stack, said in figures.items():
        pairs = [(r, a) for r, a in zip(test, answers) if r.stack == stack]
        for number, view in enumerate(VIEWS):
            mine = step_scores(*pick([r for r, _ in pairs], [a for _, a in pairs], bool(number)))
            for name in ("accuracy", "precision", "recall", "f1", "auroc", "auprc"):
                if mine["units"] and abs(mine[name] - said[view]["step"][name]) > 1e-4:
                    sys.exit(f"bench/rca: {stack}, {view}, {name}: {mine[name]:.6f} here, {said[view]['step'][name]:.6f} by teller eval")


def pick(runs: list[Run], answers: list[Answer], horizontal: bool | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Truth, scores and flags of the units that count, of one view or both."""
    chosen = [r.scored & ((r.horizontal == horizontal) if horizontal is not None else True) for r in runs]
    return (np.concatenate([r.abnormal[c] for r, c in zip(runs, chosen)]), np.concatenate([a.score[c] for a, c in zip(answers, chosen)]),
            np.concatenate([a.flagged[c] for a, c in zip(answers, chosen)]))


def operators(runs: list[Run], answers: list[Answer], horizontal: bool) -> dict[str, float]:
    """Operator F1 of a view."""
    said: list[set[Operator]] = []
    truth: list[set[Operator]] = []
    for run, answer in zip(runs, answers):
        for i in np.flatnonzero(run.scored & (run.horizontal == horizontal)):
            said.append(any_rank(answer.operators[i], run.truth[i]))
            truth.append(run.truth[i])
    return operator_scores(said, truth)


def confusions(runs: list[Run], answers: list[Answer]) -> np.ndarray:
    """Per run a matrix [truth][said] with a single 1."""
    out = np.zeros((len(runs), len(CLASSES), len(CLASSES)), int)
    for i, (run, answer) in enumerate(zip(runs, answers)):
        out[i, CLASSES.index(run.fault_type), answer.run_class] = 1
    return out


def step_counts(runs: list[Run], answers: list[Answer], horizontal: bool) -> np.ndarray:
    """Per run: hits, false alarms, misses."""
    out = []
    for run, answer in zip(runs, answers):
        chosen = run.scored & (run.horizontal == horizontal)
        truth, flags = run.abnormal[chosen], answer.flagged[chosen]
        out.append([(truth & flags).sum(), (~truth & flags).sum(), (truth & ~flags).sum()])
    return np.array(out)


def detection(runs: list[Run], answers: list[Answer]) -> float:
    """F1 of "this run is faulty", of whatever type."""
    truth, said = np.array([r.is_fault for r in runs]), np.array([a.run_class > 0 for a in answers])
    hits = (truth & said).sum()
    return harmonic(ratio(hits, said.sum()), ratio(hits, truth.sum()))


def measure(runs: list[Run], answers: list[Answer]) -> dict[str, float]:
    """All scores of a method, by name."""
    out: dict[str, float] = {}
    for number, view in enumerate(VIEWS):
        steps = step_scores(*pick(runs, answers, bool(number)))
        out.update({f"{view}.step_{name}": steps[name] for name in ("accuracy", "precision", "recall", "f1", "auroc", "auprc")})
        out.update({f"{view}.operator_{name}": value for name, value in operators(runs, answers, bool(number)).items()})
    out.update({f"run.{name}": value for name, value in class_scores(confusions(runs, answers).sum(axis=0)).items()})
    out["run.detection_f1"] = detection(runs, answers)
    return out


def intervals(runs: list[Run], ours: list[Answer], theirs: list[Answer]) -> dict[str, tuple[float, float, float]]:
    """Ours less theirs, with 95 % intervals over runs."""
    out = {}
    for number, view in enumerate(VIEWS):
        pair = [step_counts(runs, a, bool(number)) for a in (ours, theirs)]
        out[f"{view}.step_f1"] = bootstrap_difference(*pair, f1_of_counts)
    pair = [confusions(runs, a) for a in (ours, theirs)]
    out["run.macro_f1"] = bootstrap_difference(*pair, lambda c: class_scores(c)["macro_f1"])
    return out


def strata(runs: list[Run]) -> list[tuple[str, np.ndarray]]:
    """Terciles of the magnitude of faulty runs."""
    magnitude, faulty = np.array([r.magnitude for r in runs]), np.array([r.is_fault for r in runs])
    if not faulty.any():
        return []
    low, high = np.quantile(magnitude[faulty], [1 / 3, 2 / 3])
    return [(f"magnitude < {low:.2f}", faulty & (magnitude < low)),
            (f"magnitude {low:.2f} to {high:.2f}", faulty & (magnitude >= low) & (magnitude < high)),
            (f"magnitude >= {high:.2f}", faulty & (magnitude >= high))]


def of_runs(runs: list[Run], answers: list[Answer], chosen: np.ndarray) -> tuple[float, float]:
    """Step F1 within the chosen runs, both views, and the share of them whose type is right."""
    runs, answers = [r for r, c in zip(runs, chosen) if c], [a for a, c in zip(answers, chosen) if c]
    if not runs:
        return 0.0, 0.0
    truth, _, flags = pick(runs, answers)
    hits = (truth & flags).sum()
    step = harmonic(ratio(hits, flags.sum()), ratio(hits, truth.sum()))
    return step, ratio(sum(a.run_class == CLASSES.index(r.fault_type) for r, a in zip(runs, answers)), len(runs))


def surely_wrong(runs: list[Run], each: dict[str, dict]) -> float:
    """Share of faulty runs that the model gives another category with p > .8."""
    faulty = [r for r in runs if r.is_fault]
    wrong = [each[r.name]["said"] not in (r.fault_type, "none", "unknown") and each[r.name]["probability"] > 0.8 for r in faulty]
    return ratio(sum(wrong), len(faulty))


def left_out(runs: list[Run]) -> dict[str, int]:
    """Units that are not scored."""
    return {"weak": sum(int((r.state == "weak").sum()) for r in runs), "affected": sum(int((r.state == "affected").sum()) for r in runs),
            "not_visible": sum(int((r.visible == "none").sum()) for r in runs)}


