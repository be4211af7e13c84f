"""The benchmark itself: two splits, five methods, one set of tables."""
from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import xgboost

import datasets
import report
from boosted import boosted
from judge import check_figures, left_out, model_answers
from methods import Answer, latency, slice_length, stage3
from runs import Run

# One of each category, of which another one stays in each stack that it lives in.
HELD_OUT = ["kv_leak", "slow_attention", "lifo_admission", "blocking_call", "flaky_link"]


@dataclass
class Split:
    """One comparison: who was trained on what, and what all said of the same test runs."""

    name: str
    title: str
    training_hash: str
    test_hash: str
    training_runs: int
    test: list[Run]
    answers: dict[str, list[Answer]]  # by method, the model first
    chosen: dict[str, str]  # what validation chose
    each: dict[str, dict]  # the model's verdicts by run


def progress(text: str) -> None:
    """Says on stderr what is being done."""
    print(f"bench/rca: {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def compare(name: str, title: str, work: Path, options: argparse.Namespace, seed: int, held_out: list[str]) -> Split:
    """Trains the model and its peers on the same runs, and asks them about the same test runs."""
    progress(f"{name}: training runs and the model")
    model = datasets.make_model(work, options.runs, options.epochs, held_out)
    progress(f"{name}: test runs")
    share = {"demo": options.test_runs // 2, "vllm-v1": options.test_runs // 4, "fsdp": options.test_runs // 4}
    datasets.make_tests(work, model, share, seed, held_out)
    progress(f"{name}: the model's answers")
    units, each, figures = datasets.evaluate(work, model)
    progress(f"{name}: peers")
    test, known = datasets.read_folder(work / "test-*"), datasets.read_folder(work / "train-*")
    if {r.events for r in test} & {r.events for r in known}:
        sys.exit("bench/rca: a test run stands among the training runs")
    training, validation = datasets.split_validation(known)
    answers, chosen = {"model": model_answers(test, units, each)}, {"model": f"{options.epochs} epochs, {options.runs} runs"}
    check_figures(test, answers["model"], figures)
    answers["xgboost"], chosen["xgboost"] = boosted(training, validation, test, options.trials)
    answers["stage 3"], chosen["stage 3"] = stage3(validation, test)
    answers["latency"], chosen["latency"] = latency(training, validation, test)
    answers["slice length"], chosen["slice length"] = slice_length(validation, test)
    return Split(name, title, datasets.data_hash(known), datasets.data_hash(test), len(known), test, answers, chosen, each)


def read_options() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(prog="bench/rca/run", description="Judges the model beside its peers on held-out simulated runs.")
    parser.add_argument("--quick", action="store_true", help="few runs, one epoch: figures mean nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--runs", type=int, help="training runs [200; quick 12]")
    parser.add_argument("--epochs", type=int, help="of the model [8; quick 1]")
    parser.add_argument("--test-runs", type=int, help="test runs of each split [200; quick 8]")
    parser.add_argument("--trials", type=int, help="search trials of XGBoost [4; quick 1]")
    options = parser.parse_args()
    for name, full, quick in (("runs", 200, 12), ("epochs", 8, 1), ("test_runs", 200, 8), ("trials", 4, 1)):
        if getattr(options, name) is None:
            setattr(options, name, quick if options.quick else full)
    if options.runs < 12 or options.test_runs < 8 or options.epochs < 1 or options.trials < 1:
        parser.error("too few: --runs from 12, --test-runs from 8, --epochs and --trials from 1")
    return options


def main() -> None:
    """Runs both splits and prints."""
    options = read_options()
    if not Path(datasets.TELLER).exists():
        sys.exit(f"bench/rca: {datasets.TELLER} is not there: build first, or name it in TELLER_BIN")
    datasets.check_held_out(HELD_OUT)
    work = datasets.ROOT / ("build/bench-rca-quick" if options.quick else "build/bench-rca")
    splits = [compare("seeds", "held-out seeds", work / "seeds", options, 20001, []),
              compare("mechanisms", "held-out mechanisms", work / "mechanisms", options, 40001, HELD_OUT)]
    machine = f"{platform.machine()}, xgboost {xgboost.__version__}"
    if options.json:
        data = {s.name: {"training": s.training_hash, "test": s.test_hash, "training_runs": s.training_runs,
                         "test_runs": len(s.test), "left_out": left_out(s.test)} for s in splits}
        print(json.dumps({"rows": [row for s in splits for row in report.rows(s)], "data": data,
                          "summary": [report.paragraph(s) for s in splits], "machine": machine,
                          "commands": datasets.commands}, indent=1))
        return
    for split in splits:
        print(report.text(split))
    print(f"machine: {machine}\ncommands:")
    for command in datasets.commands:
        print(f"  {command}")
