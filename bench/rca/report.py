"""Prints what was measured: tables in Markdown, rows for JSON, and a paragraph that says what the model adds."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import judge
from metrics import CLASSES, ratio

if TYPE_CHECKING:
    from compare import Split

STEP = ["accuracy", "precision", "recall", "f1", "auroc", "auprc"]
OPERATOR = ["macro", "all", "macro_plus"]
RUN = ["accuracy", "macro_recall", "macro_f1", "detection_f1"]
TYPED = ["model", "xgboost"]  # who names fault types
AIMS = {"mechanisms.vertical.step_f1": 0.88, "mechanisms.horizontal.step_f1": 0.88, "mechanisms.run.accuracy_faulty": 0.6,
        "seeds.vertical.step_f1": 0.94, "seeds.horizontal.step_f1": 0.94, "seeds.run.macro_f1": 0.9}
SAY = {"vertical.step_f1": "the step F1 (vertical)", "horizontal.step_f1": "the step F1 (horizontal)",
       "run.macro_f1": "the macro F1 of fault types"}


def table(head: list[str], body: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def figures(values: list[float]) -> list[str]:
    """Three digits each."""
    return [f"{v:.3f}" for v in values]


def view_table(split: "Split", scores: dict[str, dict], view: str) -> str:
    """Steps and operators of a view."""
    number = judge.VIEWS.index(view)
    truth = judge.pick(split.test, split.answers["model"], bool(number))[0]
    names = [*(f"{view}.step_{m}" for m in STEP), *(f"{view}.operator_{m}" for m in OPERATOR)]
    body = [[name, *figures([scores[name][n] for n in names])] for name in split.answers]
    head = [f"{view}: {len(truth)} steps, {int(truth.sum())} abnormal", *STEP, "operators Macro", "all", "Macro+"]
    return table([h.replace("f1", "F1").replace("auroc", "AUROC").replace("auprc", "AUPRC") for h in head], body)


def run_table(split: "Split", scores: dict[str, dict]) -> str:
    """Runs: fault types, and whether faulty at all."""
    faulty = sum(r.is_fault for r in split.test)
    body = [[name, *(figures([scores[name][f"run.{m}"] for m in RUN[:3]]) if name in TYPED else ["–"] * 3),
             f"{scores[name]['run.detection_f1']:.3f}"] for name in split.answers]
    return table([f"runs: {len(split.test)}, {faulty} faulty", "type accuracy", "macro recall", "macro F1", "faulty or not, F1"], body)


def strata_table(split: "Split") -> str:
    """By magnitude: step F1 and right types of faulty runs."""
    head = ["faulty runs", "count", *[f"{n}, step F1" for n in split.answers], *[f"{n}, type right" for n in TYPED]]
    body = []
    for name, chosen in judge.strata(split.test):
        values = {n: judge.of_runs(split.test, a, chosen) for n, a in split.answers.items()}
        shown = [*(values[n][0] for n in split.answers), *(values[n][1] for n in TYPED)]
        body.append([name, str(int(chosen.sum())), *figures(shown)])
    return table(head, body)


def mechanism_table(split: "Split") -> str:
    """By mechanism: step F1 and right types of model and XGBoost, and what the model said most."""
    body = []
    for mechanism in sorted({r.mechanism for r in split.test if r.is_fault}):
        chosen = np.array([r.is_fault and r.mechanism == mechanism for r in split.test])
        values = [judge.of_runs(split.test, split.answers[n], chosen) for n in TYPED]
        said = np.bincount([a.run_class for a, c in zip(split.answers["model"], chosen) if c], minlength=len(CLASSES))
        body.append([mechanism, str(int(chosen.sum())), *figures([v[0] for v in values]), *figures([v[1] for v in values]),
                     ", ".join(f"{CLASSES[i]} {said[i]}" for i in np.argsort(-said, kind="stable") if said[i])])
    head = ["mechanism", "faulty runs", *[f"{n}, step F1" for n in TYPED], *[f"{n}, type right" for n in TYPED], "the model says"]
    return table(head, body)


def compared(split: "Split") -> dict[str, tuple[float, float, float]]:
    """The model less XGBoost."""
    return judge.intervals(split.test, split.answers["model"], split.answers["xgboost"])


def type_right(split: "Split", name: str) -> float:
    """Share of faulty runs whose type is right."""
    faulty = [(r, a) for r, a in zip(split.test, split.answers[name]) if r.is_fault]
    return ratio(sum(a.run_class == CLASSES.index(r.fault_type) for r, a in faulty), len(faulty))


def paragraph(split: "Split") -> str:
    """What the model adds here, from the numbers alone."""
    parts = []
    for measure, (difference, low, high) in compared(split).items():
        verdict = "better than" if low > 0 else "worse than" if high < 0 else "not told apart from"
        parts.append(f"{SAY[measure]} is {verdict} XGBoost's (difference {difference:+.3f}, 95 % interval {low:+.3f} to {high:+.3f})")
    scores = {n: judge.measure(split.test, a) for n, a in split.answers.items()}
    for view in judge.VIEWS:
        key = f"{view}.operator_macro_plus"
        best = max((n for n in scores if n != "model"), key=lambda n: scores[n][key])
        parts.append(f"its operator F1 (Macro+, {view}) is {scores['model'][key]:.3f}, the best peer's {scores[best][key]:.3f} ({best})")
    parts.append(f"the type is right in {type_right(split, 'model'):.0%} of the faulty runs (XGBoost {type_right(split, 'xgboost'):.0%}), "
                 f"surely wrong in {judge.surely_wrong(split.test, split.each):.0%}")
    return f"On {split.title}, for the model: " + "; ".join(parts) + "."


def text(split: "Split") -> str:
    """All of a split, in Markdown."""
    scores = {n: judge.measure(split.test, a) for n, a in split.answers.items()}
    lines = [f"## {split.title}", f"training: {split.training_runs} runs, data {split.training_hash[:16]}; "
             f"test: {len(split.test)} runs, data {split.test_hash[:16]}; left out: {judge.left_out(split.test)}"]
    lines += [view_table(split, scores, view) for view in judge.VIEWS]
    lines += [run_table(split, scores), strata_table(split), mechanism_table(split)]
    lines.append("\n".join(f"- {name}: {chosen}" for name, chosen in split.chosen.items()))
    lines.append(paragraph(split))
    return "\n\n".join(lines) + "\n"


def row(measure: str, ours: float, peer: str, theirs: float | None, interval: tuple[float, float, float] | None = None) -> dict:
    """One row as all benchmarks print it; aims of evaluation hold for the model alone."""
    aim = AIMS.get(measure)
    out = {"measure": measure, "unit": "", "ours": ours, "peer": peer, "theirs": theirs, "ratio": ratio(ours, theirs) if theirs else None,
           "aim": f">= {aim}" if aim else "", "met": ours >= aim if aim else None}
    if interval:
        out["difference"], out["interval"] = interval[0], list(interval[1:])
        if measure.startswith("mechanisms") and "step_f1" in measure:
            out["aim"], out["met"] = "interval above 0", interval[1] > 0
    return out


def rows(split: "Split") -> list[dict]:
    """Every score of the model beside every peer's."""
    scores = {n: judge.measure(split.test, a) for n, a in split.answers.items()}
    intervals = compared(split)
    out = []
    for peer in [n for n in scores if n != "model"]:
        for name, ours in scores["model"].items():
            if name.startswith("run.") and name != "run.detection_f1" and peer not in TYPED:
                continue
            out.append(row(f"{split.name}.{name}", ours, peer, scores[peer][name], intervals.get(name) if peer == "xgboost" else None))
    out.append(row(f"{split.name}.run.accuracy_faulty", type_right(split, "model"), "xgboost", type_right(split, "xgboost")))
    out.append(row(f"{split.name}.run.surely_wrong", judge.surely_wrong(split.test, split.each), "", None))
    return out
