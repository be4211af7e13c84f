"""The model's commands on a small simulated data set: train, eval, diagnose, and what they refuse."""
from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import expect_one_line, run_teller, teller_binary

FILES = ("bundle.json", "weights.safetensors", "tpe.json")


def must(*args: object, **options: object) -> str:
    """Runs teller, which must succeed."""
    done = run_teller(*args, **options)
    assert done.returncode == 0, (args, done.stderr)
    return done.stdout


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve encoded runs, a vocabulary and a baseline file."""
    folder = tmp_path_factory.mktemp("learn")
    done = run_teller("train", "nowhere", "--vocab", "none", "-o", folder / "m")
    if done.returncode == 5 and "loading the model library" in done.stderr:
        pytest.skip("teller was built without LibTorch")
    must("simulate", "--data-set", folder / "healthy", "--runs", 2, "--seed", 50, "--faulty-share", 0)
    must("simulate", "--data-set", folder / "runs", "--runs", 12, "--seed", 1,
         "--only", "kv_pinned,credit_starvation,slow_attention")
    for run in sorted((folder / "healthy").glob("run-*")):
        must("reconstruct", run)
    must("slice", folder / "healthy/run-0000", "--baseline", folder / "healthy/run-0001",
         "--save-baseline", folder / "baseline.json", "--baseline-name", "demo")
    runs = sorted((folder / "runs").glob("run-*"))
    for run in runs:
        must("reconstruct", run)
        must("slice", run, "--baseline", folder / "baseline.json")
    must("tpe-train", *runs, "-o", folder / "tpe.json", "--vocab-size", 64)
    for run in runs:
        must("encode", run, "--vocab", folder / "tpe.json")
    return folder


def train_args(data: Path, output: Path, *more: object, epochs: int = 2, width: int = 16) -> list[object]:
    """Command line of a small training."""
    return ["train", *sorted((data / "runs").glob("run-*"))[:9], "--vocab", data / "tpe.json", "--baseline",
            data / "baseline.json", "-o", output, "--width", width, "--heads", 2, "--epochs", epochs, *more]


def held_out(data: Path) -> list[Path]:
    """Runs that the model of `model` has not seen."""
    return sorted((data / "runs").glob("run-*"))[9:]


@pytest.fixture(scope="module")
def model(data: Path) -> Path:
    """A small trained model."""
    must(*train_args(data, data / "model", "--quiet"))
    return data / "model"


def test_the_same_training_gives_the_same_bytes(data: Path, model: Path, tmp_path: Path) -> None:
    must(*train_args(data, tmp_path / "model", "--quiet"))
    for name in (*FILES, "baseline.json"):
        assert (tmp_path / "model" / name).read_bytes() == (model / name).read_bytes(), name
    must(*train_args(data, tmp_path / "other", "--quiet", "--seed", 2))
    assert (tmp_path / "other/weights.safetensors").read_bytes() != (model / "weights.safetensors").read_bytes()


@pytest.mark.parametrize("option", ["--paper", "--without-deviations"])
def test_the_papers_model_trains_too(data: Path, tmp_path: Path, option: str) -> None:
    report = json.loads(must(*train_args(data, tmp_path / "model", "--quiet", "--json", option)))
    assert len(report["epochs"]) == 2 and report["validation"]["runs"] >= 1
    must("eval", *held_out(data), "--model", tmp_path / "model")


def test_eval_counts_every_labelled_step(data: Path, model: Path, tmp_path: Path) -> None:
    result = json.loads(must("eval", *held_out(data), "--model", model, "--json", "--per-step", tmp_path / "steps"))
    lines = [json.loads(line) for line in (tmp_path / "steps").read_text().splitlines()]
    labels = [json.loads(line) for run in held_out(data) for line in (run / "labels.jsonl").read_text().splitlines()]
    states = [label["state"] for label in labels if label["label"] == "step"]
    assert sorted(line["state"] for line in lines) == sorted(states)
    scored = result["vertical"]["step"]
    left_out = result["vertical"]["left_out"]
    assert scored["positives"] + scored["negatives"] + sum(left_out.values()) == len(states)
    assert result["runs"] == 3 and len(result["each"]) == 3


def test_eval_refuses_runs_that_the_model_has_seen(data: Path, model: Path) -> None:
    seen = data / "runs/run-0000"
    expect_one_line(run_teller("eval", seen, "--model", model), 2, says="trained on it")
    must("eval", seen, "--model", model, "--allow-seen")


def test_a_diagnosis_is_complete_and_always_the_same(data: Path, model: Path) -> None:
    run = held_out(data)[0]
    diagnosis = json.loads(must("diagnose", run, "--model", model, "--json"))
    for key in ("abnormal", "fault_type", "probability", "abnormal_steps", "operators", "requests", "culprit_ranks",
                "culprit_link", "uniform", "first_seen", "evidence", "explanation", "coverage"):
        assert key in diagnosis, key
    assert 0 <= diagnosis["probability"] <= 1
    first = (run / "diagnosis.json").read_bytes()
    must("diagnose", run, "--model", model, "--again")
    assert (run / "diagnosis.json").read_bytes() == first
    must("verify", run)


def test_slices_without_a_baseline_are_compared_with_the_models_own(data: Path, model: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(held_out(data)[0], run)

    def compared_with() -> str:
        manifest = json.loads((run / "manifest.json").read_text())
        return manifest["artifacts"]["slices"]["options"]["baseline"]["from"]

    must("slice", run)
    assert compared_with() == "run"
    must("diagnose", run, "--model", model)
    assert compared_with() != "run"


def test_a_lower_prior_lowers_the_probability(data: Path, model: Path) -> None:
    run = held_out(data)[0]
    at = {prior: json.loads(must("diagnose", run, "--model", model, "--json", "--prior", prior))["probability"]
          for prior in (0.01, 0.5, 0.9)}
    assert at[0.01] < at[0.5] < at[0.9]
    expect_one_line(run_teller("diagnose", run, "--model", model, "--prior", 1), 2, says="--prior")


def wait_for_bundle(process: subprocess.Popen[str]) -> None:
    """Reads the progress until a bundle was written."""
    assert process.stderr is not None
    for line in process.stderr:
        if "(kept)" in line:
            return
    raise AssertionError("the training ended before it wrote a bundle")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_stopped_training_leaves_the_last_good_bundle(data: Path, tmp_path: Path, number: signal.Signals) -> None:
    args = train_args(data, tmp_path / "model", epochs=500)
    process = subprocess.Popen([teller_binary(), *map(str, args)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               text=True)
    wait_for_bundle(process)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == (-number if number == signal.SIGKILL else 130)
    must("eval", *held_out(data), "--model", tmp_path / "model")
    if number != signal.SIGKILL:
        assert [path.name for path in tmp_path.iterdir()] == ["model"]


def copy_of(model: Path, tmp_path: Path) -> Path:
    """A bundle to spoil."""
    target = tmp_path / "spoilt"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(model, target)
    return target


@pytest.mark.parametrize("name", FILES)
def test_damaged_bundles_are_refused(data: Path, model: Path, tmp_path: Path, name: str) -> None:
    run = held_out(data)[0]
    whole = (model / name).read_bytes()
    draw = random.Random(name)
    spoilt: list[bytes | None] = [None, b"", b"\0" * 100, whole[: len(whole) // 2], whole[:-2], b"[]", b"{}", whole * 2]
    for _ in range(4):
        place = draw.randrange(len(whole))
        spoilt.append(whole[:place] + bytes([whole[place] ^ 0x5A]) + whole[place + 1:])
    for content in spoilt:
        bundle = copy_of(model, tmp_path)
        if content is None:
            (bundle / name).unlink()
        else:
            (bundle / name).write_bytes(content)
        expect_one_line(run_teller("eval", run, "--model", bundle), 2, 3, 4, 5, 7)


def test_what_is_no_model_is_refused(data: Path, tmp_path: Path) -> None:
    run = held_out(data)[0]
    expect_one_line(run_teller("diagnose", run, "--model", tmp_path / "nowhere"), 3, says="no model in it")
    expect_one_line(run_teller("diagnose", run, "--model", run), 2, 3, 4)
    (tmp_path / "file").write_text("x")
    expect_one_line(run_teller("diagnose", run, "--model", tmp_path / "file"), 3)


def test_a_baseline_that_is_not_there_ends_before_the_training(data: Path, tmp_path: Path) -> None:
    args = ["train", *(data / "runs").glob("run-*"), "--vocab", data / "tpe.json", "-o", tmp_path / "m"]
    expect_one_line(run_teller(*args, "--baseline", tmp_path / "none.json"), 3, says="none.json")


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_that_make_no_sense(data: Path, model: Path, threads: int) -> None:
    run = held_out(data)[0]
    expect_one_line(run_teller("diagnose", run, "--model", model, "--threads", threads), 2, says="--threads")
    expect_one_line(run_teller("eval", run, "--model", model, "--threads", threads), 2, says="--threads")


def test_a_model_never_replaces_anything_else(data: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/precious").write_text("x")
    done = run_teller(*train_args(data, tmp_path / "mine", "--quiet"))
    expect_one_line(done, 2, says="something else is there")
    assert (tmp_path / "mine/precious").read_text() == "x"


BAD_LABELS = {
    "no json": "hello\n",
    "no run": '{"label":"step","view":"vertical","number":1,"state":"normal"}\n',
    "unknown word": '{"label":"other"}\n',
    "other format": '{"label":"run","format":"x","version":1}\n',
    "other version": '{"label":"run","format":"teller.labels","version":9}\n',
    "bad type": '{"label":"run","format":"teller.labels","version":1,"fault_type":"gremlins"}\n',
    "fault of no type": '{"label":"run","format":"teller.labels","version":1,"is_fault":true}\n',
    "type of no fault": '{"label":"run","format":"teller.labels","version":1,"fault_type":"memory"}\n',
    "two runs": '{"label":"run","format":"teller.labels","version":1}\n' * 2,
    "rank out of range": '{"label":"run","format":"teller.labels","version":1}\n'
                         '{"label":"step","view":"vertical","number":1,"state":"normal","ranks":[4294967296]}\n',
    "bad state": '{"label":"run","format":"teller.labels","version":1}\n'
                 '{"label":"step","view":"vertical","number":1,"state":"odd"}\n',
    "bad view": '{"label":"run","format":"teller.labels","version":1}\n{"label":"step","view":"up","number":1}\n',
    "deep": "[" * 100000 + "\n",
    "operators": '{"label":"run","format":"teller.labels","version":1}\n'
                 '{"label":"step","view":"vertical","number":1,"state":"cause","operators":[7]}\n',
}


@pytest.mark.parametrize("why", BAD_LABELS)
def test_bad_labels_are_refused(data: Path, model: Path, tmp_path: Path, why: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(held_out(data)[0], run)
    (run / "labels.jsonl").write_text(BAD_LABELS[why])
    expect_one_line(run_teller("eval", run, "--model", model), 4, says="labels")


def test_labels_that_people_write_need_no_manifest(data: Path, model: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(held_out(data)[0], run)
    manifest = json.loads((run / "manifest.json").read_text())
    del manifest["artifacts"]["labels"]
    (run / "manifest.json").write_text(json.dumps(manifest))
    assert json.loads(must("eval", run, "--model", model, "--json"))["runs"] == 1
    (run / "labels.jsonl").unlink()
    expect_one_line(run_teller("eval", run, "--model", model), 3, says="labels")


def test_runs_of_another_vocabulary_are_refused(data: Path, model: Path, tmp_path: Path) -> None:
    runs = held_out(data)
    must("tpe-train", *runs, "-o", tmp_path / "tpe.json", "--vocab-size", 40)
    run = tmp_path / "run"
    shutil.copytree(runs[0], run)
    must("encode", run, "--vocab", tmp_path / "tpe.json")
    expect_one_line(run_teller("eval", run, "--model", model), 7, says="another vocabulary")
    expect_one_line(run_teller("train", run, "--vocab", data / "tpe.json", "-o", tmp_path / "m"), 7)


def test_runs_encoded_otherwise_are_refused(data: Path, model: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(held_out(data)[0], run)
    must("encode", run, "--vocab", data / "tpe.json", "--plain")
    expect_one_line(run_teller("eval", run, "--model", model), 7, says="encoded as plain")
    expect_one_line(run_teller("train", data / "runs/run-0000", run, "--vocab", data / "tpe.json", "-o", tmp_path / "m"),
                    7, says="runs before as protected")
    must("diagnose", run, "--model", model)


@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"width": 15}, {"width": 10**9}])
def test_sizes_that_make_no_sense(data: Path, tmp_path: Path, wrong: dict[str, int]) -> None:
    expect_one_line(run_teller(*train_args(data, tmp_path / "m", **wrong)), 2)


@pytest.mark.parametrize("options", [["--validation-share", 1], ["--learning-rate", 0], ["--blocks", 99],
                                     ["--batch", 0], ["--units-per-run", -1], ["--validation-share", "nan"],
                                     ["--threads", 0], ["--threads", 100000]])
def test_options_that_make_no_sense(data: Path, tmp_path: Path, options: list[object]) -> None:
    expect_one_line(run_teller(*train_args(data, tmp_path / "m", *options)), 2)


def test_a_run_given_twice_is_refused(data: Path, tmp_path: Path) -> None:
    run, copy = data / "runs/run-0000", tmp_path / "copy"
    shutil.copytree(run, copy)
    expect_one_line(run_teller("train", run, copy, "--vocab", data / "tpe.json", "-o", tmp_path / "m"), 2, says="twice")


@pytest.mark.parametrize("threads", [0, -1, 100000])
def test_numbers_of_threads_that_make_no_sense(data: Path, model: Path, threads: int) -> None:
    run = held_out(data)[0]
    for command in ("eval", "diagnose"):
        expect_one_line(run_teller(command, run, "--model", model, "--threads", threads), 2, says="--threads")


@pytest.mark.parametrize("text", ["", "{}", '{"format":"teller.baseline","version":1,"entries":[{"name":7}]}'])
def test_a_bundle_never_takes_in_a_broken_baseline(data: Path, tmp_path: Path, text: str) -> None:
    broken = tmp_path / "baseline.json"
    broken.write_text(text)
    args = [broken if arg == data / "baseline.json" else arg for arg in train_args(data, tmp_path / "m")]
    expect_one_line(run_teller(*args), 4, says="baseline")
    assert not (tmp_path / "m").exists()


def test_too_few_runs_are_refused(data: Path, tmp_path: Path) -> None:
    run = data / "runs/run-0000"
    expect_one_line(run_teller("train", run, "--vocab", data / "tpe.json", "-o", tmp_path / "m"), 2, says="more runs")


def test_only_the_models_commands_load_libtorch(data: Path, tmp_path: Path) -> None:
    """The binary alone, without the model's library, runs every other command; none of them opens LibTorch."""
    alone = tmp_path / "bin/teller"
    alone.parent.mkdir()
    shutil.copy(teller_binary(), alone)
    run = tmp_path / "run"
    env = {**os.environ, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(tmp_path / "loaded")}
    commands = [["simulate", "-o", run, "--seed", 3, "--requests", 4], ["reconstruct", run], ["slice", run],
                ["tpe-train", run, "-o", tmp_path / "tpe.json", "--vocab-size", 40],
                ["encode", run, "--vocab", tmp_path / "tpe.json"], ["report", run], ["stats", run],
                ["dump", run, "chains.steps"], ["verify", run], ["--help"]]
    for command in commands:
        done = subprocess.run([alone, *map(str, command)], env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (command, done.stderr)
    loaded = "".join(path.read_text() for path in tmp_path.glob("loaded.*"))
    assert "libteller" not in loaded and "libtorch" not in loaded and "libc.so" in loaded
    for command in (["diagnose", run], ["eval", run], ["train", run, "--vocab", "x", "-o", tmp_path / "m"]):
        done = subprocess.run([alone, *map(str, command)], capture_output=True, text=True, timeout=60)
        expect_one_line(done, 5, says="loading the model library")
