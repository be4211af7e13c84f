"""XGBoost on deviations: what is fed to the model, summed up per unit. Searched on validation as the docs say."""
from __future__ import annotations

import numpy as np
import xgboost

from methods import Answer, choose_families, class_by_types, fit_agreement, pooled, top_families
from metrics import CLASSES, best_f1_threshold
from runs import Run

TYPES = CLASSES[1:6]
ROUNDS, PATIENCE = 400, 25
FIXED = {"tree_method": "hist", "max_bin": 128, "nthread": 2, "verbosity": 0, "seed": 1}


def draw_parameters(trial: int) -> dict:
    """Parameters of a trial: the first is XGBoost's usual, the others are drawn."""
    if trial == 0:
        return {"max_depth": 6, "eta": 0.1, "subsample": 0.8, "colsample_bytree": 0.5, "min_child_weight": 1.0,
                "scale_pos_weight": 1.0}
    rng = np.random.default_rng(trial)
    return {"max_depth": int(rng.integers(3, 9)), "eta": float(rng.choice([0.05, 0.1, 0.2])),
            "subsample": float(rng.choice([0.6, 0.8, 1.0])), "colsample_bytree": float(rng.choice([0.2, 0.5, 0.8])),
            "min_child_weight": float(rng.choice([1, 4, 16])), "scale_pos_weight": float(rng.choice([0.5, 1, 3]))}


def matrix(runs: list[Run], chosen: list[np.ndarray], target: list[np.ndarray]) -> xgboost.DMatrix:
    """The chosen units of runs and their targets."""
    return xgboost.DMatrix(np.concatenate([r.x[c] for r, c in zip(runs, chosen)]),
                           label=np.concatenate([t[c] for t, c in zip(target, chosen)]).astype(np.float32))


def train(parameters: dict, fit: xgboost.DMatrix, check: xgboost.DMatrix) -> xgboost.Booster:
    """Trains until the loss on validation has not fallen for a while."""
    return xgboost.train({**FIXED, **parameters}, fit, ROUNDS, evals=[(check, "validation")],
                         early_stopping_rounds=PATIENCE, verbose_eval=False)


def predict(booster: xgboost.Booster, x: np.ndarray, margin: bool = False) -> np.ndarray:
    """Predictions of the best round."""
    last = booster.best_iteration + 1
    return booster.predict(xgboost.DMatrix(x), output_margin=margin, iteration_range=(0, last))


def best_f1(truth: np.ndarray, values: np.ndarray) -> float:
    """F1 at the best threshold."""
    flags = values >= best_f1_threshold(truth, values)
    return 2 * (truth & flags).sum() / max(truth.sum() + flags.sum(), 1)


def fit_steps(training: list[Run], validation: list[Run], trials: int) -> tuple[xgboost.Booster, str]:
    """The step classifier with the best validation F1."""
    fit, check = (matrix(rs, [r.scored for r in rs], [r.abnormal for r in rs]) for rs in (training, validation))
    best = None
    for trial in range(trials):
        parameters = draw_parameters(trial)
        booster = train({**parameters, "objective": "binary:logistic", "eval_metric": "logloss"}, fit, check)
        value = best_f1(*pooled(validation, [predict(booster, r.x) for r in validation]))
        if best is None or value > best[0]:
            best = (value, booster, f"depth {parameters['max_depth']}, eta {parameters['eta']}, {booster.best_iteration + 1} trees")
    return best[1], best[2]


def fit_types(training: list[Run], validation: list[Run], trials: int) -> xgboost.Booster:
    """The classifier of five types, on abnormal units, with the least validation loss."""
    def of(runs: list[Run]) -> xgboost.DMatrix:
        target = [np.array([TYPES.index(t) if t in TYPES else 0 for t in r.type]) for r in runs]
        return matrix(runs, [r.abnormal & (r.type != "none") for r in runs], target)
    fit, check = of(training), of(validation)
    best = None
    for trial in range(trials):
        parameters = {k: v for k, v in draw_parameters(trial).items() if k != "scale_pos_weight"}
        booster = train({**parameters, "objective": "multi:softprob", "num_class": len(TYPES), "eval_metric": "mlogloss"}, fit, check)
        if best is None or booster.best_score < best.best_score:
            best = booster
    return best


def boosted(training: list[Run], validation: list[Run], test: list[Run], trials: int) -> tuple[list[Answer], str]:
    """Step and type classifiers; the run's verdict by the model's own rule, operators from stage 3."""
    steps, chosen = fit_steps(training, validation, trials)
    types = fit_types(training, validation, trials)

    def score(run: Run) -> np.ndarray:
        return predict(steps, run.x, margin=True)

    values = [score(r) for r in validation]
    threshold = best_f1_threshold(*pooled(validation, values))
    kinds = [predict(types, r.x).argmax(axis=1) for r in validation]
    needed = fit_agreement(validation, [v - threshold for v in values], kinds, len(TYPES))
    families = choose_families(validation, [v >= threshold for v in values])
    answers = []
    for run in test:
        own = score(run)
        flags = own >= threshold
        said = class_by_types(own - threshold, predict(types, run.x).argmax(axis=1), needed)
        answers.append(Answer(own, flags, top_families(run, flags, families), said))
    return answers, f"{chosen}, threshold {threshold:.3g}, families {families}, {trials} trials"
