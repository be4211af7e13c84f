"""What the benchmark reads of a run folder: units with labels, features of their slices, suspicious operators, durations."""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from columns import Columns

LAYERS = ["STEP", "FE", "BE", "RT", "K"]
FEATURES = 24  # all of docs/slice.md
NORMAL, CAUSE = "normal", "cause"
SUSPICIOUS, GHOST = 1, 8  # SliceFlag
ROW = 2  # NodeFlag
NONE = 0xFFFFFFFF
NO_PROCESS = -1
HIGH = 3.0  # |feature| from here on is counted
PREFILL_ROWS, LOG_TOKENS = 2, 6  # columns of step_features

Operator = tuple[str, str, int]  # layer, family, rank (-1: vertical view, or any)


@dataclass
class Run:
    """One labelled run. Arrays have one element per unit that has a label and a token."""

    name: str
    stack: str
    mechanism: str
    magnitude: float
    is_fault: bool
    fault_type: str
    events: str  # digest
    suspicious: bool  # verdict of the findings
    unit: np.ndarray  # index in slices.tcol
    horizontal: np.ndarray
    state: np.ndarray  # of str
    visible: np.ndarray  # "none" is left out of scores
    type: np.ndarray  # of str
    x: np.ndarray  # [unit, feature]
    score: np.ndarray  # largest score of I_s
    nodes: np.ndarray  # slice length
    pace: np.ndarray
    log_duration: np.ndarray
    kind: np.ndarray  # of str: stack, view, phase and token bin
    truth: list[set[Operator]] = field(default_factory=list)
    ranked: list[list[Operator]] = field(default_factory=list)  # families of I_s, most suspicious first

    @property
    def scored(self) -> np.ndarray:
        """Units that count: cause or normal, and visible."""
        return ((self.state == NORMAL) | (self.state == CAUSE)) & (self.visible != "none")

    @property
    def abnormal(self) -> np.ndarray:
        """Units that are abnormal."""
        return self.state == CAUSE


def read_labels(path: Path) -> tuple[dict, dict]:
    """The run's label, and the steps' by (horizontal, number, pid)."""
    run, steps = {}, {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            label = json.loads(line)
            if label["label"] == "run":
                run = label
            elif label["label"] == "step":
                horizontal = label["view"] == "horizontal"
                steps[horizontal, label["number"], NO_PROCESS if horizontal else label.get("pid", NO_PROCESS)] = label
    return run, steps


def per_unit(operation: np.ufunc, values: np.ndarray, first: np.ndarray, count: np.ndarray) -> np.ndarray:
    """operation over the nodes of each unit; 0 for units without nodes."""
    out = np.zeros((len(first), *values.shape[1:]), np.float32)
    some = count > 0
    if some.any():
        out[some] = operation.reduceat(values, first[some], axis=0)
    return out


def node_features(slices: Columns, layer: np.ndarray, first: np.ndarray, count: np.ndarray) -> list[np.ndarray]:
    """Largest, least, mean and count of high deviations, per unit; largest and least also per layer."""
    z = slices.get("nodes", "features", "<f4")[:, :FEATURES]
    columns = [per_unit(np.maximum, z, first, count), per_unit(np.minimum, z, first, count),
               per_unit(np.add, z, first, count) / np.maximum(count, 1)[:, None],
               per_unit(np.add, (np.abs(z) > HIGH).astype(np.float32), first, count)]
    for number in range(len(LAYERS)):
        of_layer = np.where((layer == number)[:, None], z, 0)
        columns += [per_unit(np.maximum, of_layer, first, count), per_unit(np.minimum, of_layer, first, count),
                    per_unit(np.add, (layer == number).astype(np.float32)[:, None], first, count)]
    return columns


def step_features(chains: Columns) -> np.ndarray:
    """Per step: log lines, warnings and errors among them, rows by phase, tokens, context, free share of the KV blocks."""
    steps = len(chains.get("steps", "root", "<u4"))
    strings = chains.strings()
    log_step, level = chains.get("logs", "step", "<u4"), chains.get("logs", "level", "<u4")
    grave = np.array([strings[i].upper()[:4] in ("WARN", "ERRO", "CRIT", "FATA") for i in level], bool)
    inside = log_step != NONE
    row_step, phase = chains.get("rows", "step", "<u4"), chains.get("rows", "phase", "u1")
    columns = [np.bincount(log_step[inside], minlength=steps), np.bincount(log_step[inside & grave], minlength=steps)]
    columns += [np.bincount(row_step[phase == p], minlength=steps) for p in (1, 2, 3, 4)]
    tokens, context = chains.get("steps", "tokens", "<i8"), chains.get("steps", "context", "<i8")
    free, total = chains.get("steps", "kv_free", "<i4"), chains.get("steps", "kv_total", "<i4")
    columns += [np.log1p(np.maximum(tokens, 0)), np.log1p(np.maximum(context, 0)), free / np.maximum(total, 1)]
    return np.stack(columns, axis=1).astype(np.float32)


def suspicious_families(slices: Columns, chains: Columns, layer: np.ndarray, begin: int, end: int,
                        horizontal: bool) -> list[Operator]:
    """Operators of a unit's I_s, most suspicious first."""
    flags, score = slices.get("nodes", "flags", "<u2"), slices.get("nodes", "score", "<f4")
    node, rank = slices.get("nodes", "node", "<u4"), slices.get("nodes", "rank", "<i4")
    family, strings = chains.get("nodes", "family", "<u4"), chains.strings()
    best: dict[Operator, float] = {}
    for i in begin + np.flatnonzero((flags[begin:end] & (SUSPICIOUS | GHOST)) == SUSPICIOUS):
        key = (LAYERS[layer[i]], strings[int(family[node[i]])], int(rank[i]) if horizontal else -1)
        best[key] = max(best.get(key, 0.0), float(score[i]))
    return sorted(best, key=lambda key: (-best[key], key))


def member_durations(slices: Columns, chains: Columns) -> np.ndarray:
    """log(1 + microseconds) of each unit's longest step."""
    first, count = slices.get("units", "first_member", "<u4"), slices.get("units", "member_count", "<u4")
    step = slices.get("members", "step", "<u4")
    duration = chains.get("steps", "end_ns", "<i8") - chains.get("steps", "begin_ns", "<i8")
    log_us = np.log1p(np.maximum(duration[step], 0) / 1e3).astype(np.float32)
    return per_unit(np.maximum, log_us, first, count)


def units_with_labels(slices: Columns, chains: Columns, labels: dict) -> tuple[list[int], list[dict]]:
    """Units that have nodes and a label, and their labels: joined by view, step number and process, as teller eval does."""
    step, view = slices.get("units", "step", "<u4"), slices.get("units", "view", "u1")
    count = slices.get("units", "node_count", "<u4")
    number, root = chains.get("steps", "number", "<i8")[step], chains.get("steps", "root", "<u4")[step]
    track, pids = chains.get("nodes", "track", "<u4")[root], chains.get("tracks", "pid", "<i8")
    units, found = [], []
    for u in range(len(step)):
        horizontal = bool(view[u])
        pid = NO_PROCESS if horizontal or track[u] == NONE else int(pids[track[u]])
        label = labels.get((horizontal, int(number[u]), pid)) or labels.get((horizontal, int(number[u]), NO_PROCESS))
        if label and count[u]:
            units.append(u)
            found.append(label)
    return units, found


def true_operators(label: dict) -> set[Operator]:
    """Operators that a label of an abnormal step names."""
    if label["state"] != CAUSE:
        return set()
    with_rank = label["view"] == "horizontal"
    return {(o["layer"], o["family"], o.get("rank", -1) if with_rank else -1) for o in label["operators"]}


def unit_values(slices: Columns, chains: Columns, stack: str) -> dict[str, np.ndarray]:
    """Features and single figures of every unit."""
    step, view = slices.get("units", "step", "<u4"), slices.get("units", "view", "u1")
    first, count = slices.get("units", "first_node", "<u4"), slices.get("units", "node_count", "<u4")
    layer = chains.get("nodes", "layer", "u1")[slices.get("nodes", "node", "<u4")]
    steps = step_features(chains)[step]
    score = per_unit(np.maximum, slices.get("nodes", "score", "<f4"), first, count)
    pace, duration = slices.get("units", "pace", "<f4"), member_durations(slices, chains)
    shape = np.stack([view, pace, count, slices.get("units", "whole_nodes", "<u4"), duration, score,
                      slices.get("units", "member_count", "<u4")], axis=1).astype(np.float32)
    kind = [f"{stack} {v} {s[PREFILL_ROWS] > 0} {int(s[LOG_TOKENS] / np.log(2))}" for v, s in zip(view, steps)]
    return {"x": np.concatenate([*node_features(slices, layer, first, count), steps, shape], axis=1), "score": score,
            "nodes": count.astype(np.float32), "pace": pace, "log_duration": duration, "kind": np.array(kind, object),
            "horizontal": view == 1}


def ranked_families(slices: Columns, chains: Columns, units: list[int]) -> list[list[Operator]]:
    """suspicious_families of the units."""
    layer = chains.get("nodes", "layer", "u1")[slices.get("nodes", "node", "<u4")]
    view = slices.get("units", "view", "u1")
    first, count = slices.get("units", "first_node", "<u4"), slices.get("units", "node_count", "<u4")
    return [suspicious_families(slices, chains, layer, int(first[u]), int(first[u] + count[u]), bool(view[u])) for u in units]


def read_run(folder: Path) -> Run:
    """Reads a run that has labels and slices."""
    chains, slices = Columns(folder / "chains.tcol"), Columns(folder / "slices.tcol")
    label, labels = read_labels(folder / "labels.jsonl")
    provenance, fault_type = label["provenance"], label["fault_type"]
    units, found = units_with_labels(slices, chains, labels)
    values = unit_values(slices, chains, provenance["stack"])
    manifest = json.loads((folder / "manifest.json").read_text())
    findings = json.loads((folder / "findings.json").read_text())
    return Run(
        name=folder.name, stack=provenance["stack"], mechanism=provenance["mechanism"], magnitude=provenance["magnitude"],
        is_fault=label["is_fault"], fault_type=fault_type, events=manifest["artifacts"]["events"]["digest"],
        suspicious=findings["verdict"]["suspicious"], unit=np.array(units, int),
        state=np.array([f["state"] for f in found], object), visible=np.array([f["visible_in"] for f in found], object),
        type=np.array([fault_type if f["fault_type"] == "none" else f["fault_type"] for f in found], object),
        truth=[true_operators(f) for f in found], ranked=ranked_families(slices, chains, units),
        **{name: column[units] for name, column in values.items()})
