"""Makes the data with teller itself: training runs and a model by scripts/make_model.sh, test runs of other seeds."""
from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runs import Run, read_run

ROOT = Path(__file__).resolve().parents[2]
TELLER = os.environ.get("TELLER_BIN", str(ROOT / "build/dev/src/cli/teller"))
STACKS = ["demo", "vllm-v1", "fsdp"]
BASELINES = 3  # healthy runs of each stack that test runs are compared with, in turn
VALIDATION_SHARE = 0.2
commands: list[str] = []


def call(*words: object, note: bool = False) -> str:
    """Runs a command and gives its output; ends with its error if it fails."""
    command = [str(w) for w in words]
    if note:
        commands.append(" ".join(command).replace(TELLER, "teller").replace(str(ROOT) + "/", ""))
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TELLER_BIN": TELLER})
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        sys.exit(f"bench/rca: {' '.join(command[:3])} failed: {last}")
    return done.stdout


def in_parallel(work, items: list) -> None:
    """work(item) for all, two at a time."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(work, items))


def mechanisms() -> list[dict]:
    """What simulate can break."""
    return [json.loads(line) for line in call(TELLER, "simulate", "--list", "--json").splitlines() if line.strip()]


def check_held_out(held_out: list[str]) -> None:
    """Ends where a stack would be left without a mechanism of a held-out one's category."""
    known = {m["name"]: m for m in mechanisms()}
    for name in held_out:
        for stack in known[name]["stacks"]:
            rest = {m["category"] for m in known.values() if stack in m["stacks"] and m["name"] not in held_out}
            if known[name]["category"] not in rest:
                sys.exit(f"bench/rca: without {name}, {stack} has no mechanism of its category to learn from")


def make_model(work: Path, runs: int, epochs: int, held_out: list[str]) -> Path:
    """Training runs and the model made of them."""
    shutil.rmtree(work, ignore_errors=True)
    without = ["-x", ",".join(held_out)] if held_out else []
    call(ROOT / "scripts/make_model.sh", "-o", work / "model", "-w", work, "-n", runs, *without, "--", "--epochs", epochs, note=True)
    return work / "model"


def make_tests(work: Path, model: Path, runs: dict[str, int], seed: int, only: list[str]) -> None:
    """Test runs of seeds of their own, compared with healthy runs of seeds of their own."""
    stacks_of = {m["name"]: m["stacks"] for m in mechanisms()}
    todo = []
    for i, stack in enumerate(STACKS):
        healthy, tests = work / f"baseline-{stack}", work / f"test-{stack}"
        mine = [m for m in only if stack in stacks_of[m]]
        call(TELLER, "simulate", "--data-set", healthy, "--runs", BASELINES, "--seed", seed + 500 + i, "--stacks", stack,
             "--faulty-share", 0, note=True)
        call(TELLER, "simulate", "--data-set", tests, "--runs", runs[stack], "--seed", seed + i, "--stacks", stack,
             *(["--only", ",".join(mine)] if mine else []), note=True)
        in_parallel(lambda run: call(TELLER, "reconstruct", run), sorted(healthy.glob("run-*")))
        todo += [(run, healthy / f"run-{n % BASELINES:04}") for n, run in enumerate(sorted(tests.glob("run-*")))]

    def prepare(pair: tuple[Path, Path]) -> None:
        run, baseline = pair
        call(TELLER, "reconstruct", run)
        call(TELLER, "slice", run, "--baseline", baseline)
        call(TELLER, "encode", run, "--vocab", model / "tpe.json")
    in_parallel(prepare, todo)


def read_folder(pattern: Path) -> list[Run]:
    """All runs below work/NAME-STACK, named STACK/run-N."""
    runs = []
    for folder in sorted(pattern.parent.glob(pattern.name + "/run-*")):
        run = read_run(folder)
        run.name = f"{run.stack}/{folder.name}"
        runs.append(run)
    return runs


def split_validation(runs: list[Run]) -> tuple[list[Run], list[Run]]:
    """Training and validation runs: of each type and stack a share, drawn by digest."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in sorted(runs, key=lambda r: r.events):
        groups.setdefault((run.fault_type, run.stack), []).append(run)
    training, validation = [], []
    for group in groups.values():
        count = min(max(1, round(VALIDATION_SHARE * len(group))), len(group) - 1)
        validation += group[:count]
        training += group[count:]
    return training, validation


def evaluate(work: Path, model: Path) -> tuple[dict[tuple[str, int], dict], dict[str, dict], dict[str, dict]]:
    """What the model says: per (run, unit), per run; and eval's own figures per stack."""
    units, each, figures = {}, {}, {}
    for stack in STACKS:
        lines = work / f"eval-{stack}.jsonl"
        runs = sorted((work / f"test-{stack}").glob("run-*"))
        said = json.loads(call(TELLER, "eval", *runs, "--model", model, "--json", "--per-step", lines))
        commands.append(f"teller eval {work.relative_to(ROOT) if work.is_relative_to(ROOT) else work.name}/test-{stack}/run-* "
                        "--model MODEL --json --per-step FILE")
        each.update({f"{stack}/{one['run']}": one for one in said["each"]})
        figures[stack] = said
        for line in lines.read_text().splitlines():
            one = json.loads(line)
            units[f"{stack}/{one['run']}", one["unit"]] = one
    return units, each, figures


def data_hash(runs: list[Run]) -> str:
    """SHA-256 over the digests of the runs' events, in the order of names."""
    return hashlib.sha256("".join(r.name + r.events for r in sorted(runs, key=lambda r: r.name)).encode()).hexdigest()
