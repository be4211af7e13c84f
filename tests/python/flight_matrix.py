"""Jobs that hang in a known way, their flight recorder dumps, and who is to be named. Seeds make the same job again.

Each rank's host enqueues its program in order, `ahead` operations beyond its device at most; its device runs one
operation after the other; an operation completes when all its members are at the same call. What PyTorch would have
written of that state is written.
"""
from __future__ import annotations

import json
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from flight_support import Job, as_json

NEVER = 1 << 30


@dataclass(frozen=True)
class Op:
    """One call of a program: the group, what is called, its elements; of a transfer both ends, as ranks of the group."""

    group: str
    name: str
    elements: int = 1024
    ends: tuple[int, int] | None = None
    dtype: str = "Float"


@dataclass
class Case:
    """A hang and its answer: `required` has to be named, nobody outside `allowed`; `first` heads the list."""

    kind: str
    world: int
    seed: str
    job: Job
    required: set[int]
    allowed: set[int]
    first: set[int] | None = None
    link: tuple[int, int] | None = None
    absent: set[int] = field(default_factory=set)
    needs_past: bool = False  # what is completed has to be in the dump
    only_active: bool = False
    ring: int = NEVER
    spoil: dict[int, dict] = field(default_factory=dict)  # rank -> changes of one entry

    def is_right(self, found: dict) -> bool:
        """Whether a diagnosis names whom it has to."""
        named = found["culprit_ranks"]
        good = self.required <= set(named) <= self.allowed
        if self.first is not None:
            good = good and bool(named) and named[0] in self.first
        if self.link is not None:
            good = good and found["culprit_link"] is not None and \
                (found["culprit_link"]["from"], found["culprit_link"]["to"]) == self.link
        return good

    def dump(self, rank: int) -> dict:
        """What the rank's process wrote."""
        dump = self.job.dump(rank, self.only_active)
        dump["entries"] = [dict(entry) for entry in dump["entries"][-self.ring:]]
        if rank in self.spoil and dump["entries"]:
            change = dict(self.spoil[rank])
            dump["entries"][change.pop("entry", -1) % len(dump["entries"])].update(change)
        return dump

    def write(self, folder: Path, form: int | str) -> list[Path]:
        """Writes the dumps as pickles of a protocol, or "json"; names as PyTorch's."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for rank in range(self.world):
            if rank in self.absent:
                continue
            dump = self.dump(rank)
            path = folder / f"nccl_trace_rank_{rank}"
            path.write_bytes(as_json(dump) if form == "json" else pickle.dumps(dump, protocol=int(form)))
            paths.append(path)
        return paths


class Machine:
    """Programs of all ranks, and how far they come."""

    def __init__(self, layout: str, world: int, random: Random) -> None:
        self.job = Job(world)
        self.layout, self.world, self.random = layout, world, random
        self.ahead = random.choice([1, 2, 4, 8])
        self.host_stops: dict[int, int] = {}    # rank -> operation that it does not enqueue
        self.device_stops: dict[int, int] = {}  # … that it enqueues and does not begin
        self.lonely: dict[int, int] = {}        # … that completes on all its peers, but not there
        self.stuck_link: tuple[int, int] | None = None
        self.early: dict[int, int] = {}         # rank -> so many of its operations are done when its dump is written
        self.seen: dict[int, tuple[int, int]] = {}  # of those: done and enqueued in the dump
        self.timing = False
        self.program: list[list[Op]] = [[] for _ in range(world)]
        self.groups: dict[tuple[str, int], str] = {}
        getattr(self, "_" + layout)()
        self.done = [0] * world

    # --- programs ---------------------------------------------------------------------------------------------------

    def _group(self, kind: str, ranks: list[int]) -> None:
        name = str(len(self.job.groups))
        self.job.group(name, kind, ranks)
        self.groups.update({(kind, rank): name for rank in ranks})

    def _everyone(self, *ops: Op) -> None:
        for program in self.program:
            program.extend(ops)

    def _ddp(self) -> None:
        for step in range(4):
            self._everyone(*(Op("0", "all_reduce", 4096 + 512 * bucket) for bucket in range(3)))

    def _fsdp(self) -> None:
        for step in range(3):
            for layer in range(2):
                self._everyone(Op("0", "_all_gather_base", 2048 + layer), Op("0", "_reduce_scatter_base", 2048 + layer))
            self._everyone(Op("0", "all_reduce", 1))

    def _twins(self) -> None:
        """Two groups of the same ranks, as of compute and of checkpoints."""
        self._group("TWIN", list(range(self.world)))
        for step in range(4):
            self._everyone(Op("0", "all_reduce", 4096), Op(self.groups["TWIN", 0], "all_reduce", 64),
                           Op("0", "_all_gather_base", 512))

    def _grid(self, stages: int, shards: int) -> None:
        """Pipeline stages × data-parallel copies × tensor-parallel shards."""
        copies = self.world // (stages * shards)
        rank = lambda s, c, h: (s * copies + c) * shards + h  # noqa: E731
        cells = [(s, c, h) for s in range(stages) for c in range(copies) for h in range(shards)]
        for s in range(stages):
            for c in range(copies):
                self._group("TENSOR", [rank(s, c, h) for h in range(shards)])
        for s in range(stages):
            for h in range(shards):
                self._group("DATA", [rank(s, c, h) for c in range(copies)])
        if stages > 1:
            for c in range(copies):
                for h in range(shards):
                    self._group("PIPELINE", [rank(s, c, h) for s in range(stages)])
        for step in range(3):
            for s, c, h in cells:
                self._add_cell(rank(s, c, h), s, stages, shards, copies)
        self.stages = stages

    def _add_cell(self, rank: int, stage: int, stages: int, shards: int, copies: int) -> None:
        program = self.program[rank]
        if stage > 0:
            program.append(Op(self.groups["PIPELINE", rank], "recv", 256, (stage - 1, stage)))
        if shards > 1:
            tensor = self.groups["TENSOR", rank]
            program += [Op(tensor, "_all_gather_base", 640), Op(tensor, "all_to_all", 640), Op(tensor, "all_reduce", 128)]
        if stage < stages - 1:
            program.append(Op(self.groups["PIPELINE", rank], "send", 256, (stage, stage + 1)))
        if copies > 1:
            program.append(Op(self.groups["DATA", rank], "all_reduce", 8192))
        program.append(Op("0", "all_reduce", 2))

    def _tp(self) -> None:
        self._grid(1, self.world)

    def _tp_dp(self) -> None:
        self._grid(1, 2)

    def _pp_dp(self) -> None:
        self._grid(min(4, self.world), 1)

    def _tp_pp_dp(self) -> None:
        self._grid(2, 2)

    def _mixed(self) -> None:
        """A pipeline whose transfers and collectives share the default group: each counts its own."""
        for step in range(4):
            for micro in range(2):
                for rank, program in enumerate(self.program):
                    if rank > 0:
                        program.append(Op("0", "recv", 256, (rank - 1, rank)))
                    if rank < self.world - 1:
                        program.append(Op("0", "send", 256, (rank, rank + 1)))
            self._everyone(Op("0", "all_reduce", 4096), Op("0", "_all_gather_base", 512))

    # --- what happens -----------------------------------------------------------------------------------------------

    def members(self, rank: int, index: int) -> list[int]:
        """Who takes part in an operation."""
        op = self.program[rank][index]
        ranks = self.job.groups[op.group][1]
        return ranks if op.ends is None else [ranks[op.ends[0]], ranks[op.ends[1]]]

    def number(self, rank: int, index: int) -> int:
        """Its sequence number: collectives of the group, or transfers of it."""
        op = self.program[rank][index]
        return sum(1 for one in self.program[rank][:index + 1]
                   if one.group == op.group and (one.ends is None) == (op.ends is None))

    def _turn(self, rank: int, index: int) -> int:
        op = self.program[rank][index]
        return sum(1 for one in self.program[rank][:index] if one.group == op.group and one.ends == op.ends)

    def enqueued(self, rank: int) -> int:
        return min(len(self.program[rank]), self.done[rank] + self.ahead, self.host_stops.get(rank, NEVER))

    def _at(self, rank: int) -> tuple | None:
        index = self.done[rank]
        if index >= self.enqueued(rank) or index >= self.device_stops.get(rank, NEVER):
            return None
        op = self.program[rank][index]
        if op.ends is None:
            return (op.group, self.number(rank, index), op.name, op.elements, op.dtype)
        return (op.group, op.ends, self._turn(rank, index))

    def run(self) -> "Machine":
        """Until nothing moves."""
        moved = True
        while moved:
            moved = False
            for rank, done in self.early.items():
                if self.done[rank] >= done and rank not in self.seen:
                    self.seen[rank] = (self.done[rank], self.enqueued(rank))
            for rank in range(self.world):
                at = self._at(rank)
                if at is None:
                    continue
                members = self.members(rank, self.done[rank])
                if len(members) == 2 and tuple(members) == self.stuck_link:
                    continue
                if any(self._at(one) != at for one in members):
                    continue
                for one in members:
                    if self.lonely.get(one) == self.done[one]:
                        self.device_stops[one] = self.done[one]
                    else:
                        self.done[one] += 1
                moved = True
        return self

    def write(self) -> None:
        """Fills the job's dumps."""
        for rank in range(self.world):
            self._write(rank)

    def shown(self, rank: int) -> tuple[int, int]:
        """How many operations are done and enqueued by its dump."""
        return self.seen.get(rank, (self.done[rank], self.enqueued(rank)))

    def is_proven_early(self, rank: int) -> bool:
        """Whether a peer has completed what the dump does not show to be enqueued, and could not have alone."""
        done = {(op.group, self.number(one, i)) for one in range(self.world) if one != rank
                for i, op in enumerate(self.program[one][:self.shown(one)[0]]) if op.ends is None}
        mine = {op.group for op in self.program[rank][:self.shown(rank)[1]] if op.ends is None}
        return any((op.group, self.number(rank, i)) in done and op.group in mine
                   for i, op in enumerate(self.program[rank]) if i >= self.shown(rank)[1] and op.ends is None)

    def _write(self, rank: int) -> None:
        done, enqueued = self.shown(rank)
        for index in range(enqueued):
            op = self.program[rank][index]
            begun = index == done and index < self.device_stops.get(rank, NEVER)
            state = "completed" if index < done else "started" if begun and self.timing else "scheduled"
            name = op.name
            if op.ends is not None:
                name += f" {op.ends[0]}->{op.ends[1]}" if op.name == "send" else f" {op.ends[1]}<-{op.ends[0]}"
            sizes = {"input_sizes": [[op.elements]], "output_sizes": [[op.elements]],
                     "input_dtypes": [op.dtype], "output_dtypes": [op.dtype]}
            entry = self.job.add(rank, op.group, self.number(rank, index), name, state, **sizes)
            if not self.timing:
                entry["time_discovered_started_ns"] = None


# Kinds of hangs: each takes a machine, and returns what of a case is not the default.

def _index(machine: Machine, rank: int, fits=lambda op: True, least: int = 2) -> int:
    """An operation of a rank that fits, not one of the first."""
    places = [i for i, op in enumerate(machine.program[rank]) if i >= least and fits(op)]
    return machine.random.choice(places) if places else -1


def _is_wide(machine: Machine):
    return lambda op: op.ends is None and len(machine.job.groups[op.group][1]) > 2


def healthy(machine: Machine, rank: int) -> dict:
    return {"required": set(), "allowed": set()}


def in_the_middle(machine: Machine, rank: int) -> dict:
    """All ranks of the job are in one operation, as in a dump of a job that is well."""
    place = len(machine.program[0]) - 1
    for one in range(machine.world):
        last = [i for i, op in enumerate(machine.program[one]) if op.group == "0"][-1]
        machine.device_stops[one] = last
    return {"required": set(), "allowed": set()} if place >= 0 else {}


def host_stuck(machine: Machine, rank: int) -> dict:
    machine.host_stops[rank] = _index(machine, rank)
    return {"required": {rank}, "allowed": {rank}}


def two_hosts_stuck(machine: Machine, rank: int) -> dict:
    """Two members of one group stop before one operation of it."""
    index = _index(machine, rank, _is_wide(machine))
    if index < 0:
        return {}
    op = machine.program[rank][index]
    other = machine.random.choice([one for one in machine.members(rank, index) if one != rank])
    turn = [i for i in range(index + 1) if machine.program[rank][i].group == op.group and machine.program[rank][i].ends is None]
    theirs = [i for i, one in enumerate(machine.program[other]) if one.group == op.group and one.ends is None]
    machine.host_stops = {rank: index, other: theirs[len(turn) - 1]}
    return {"required": {rank, other}, "allowed": {rank, other}}


def device_stuck_with_timing(machine: Machine, rank: int) -> dict:
    """A kernel before the collective does not end; only states with timing tell."""
    machine.timing = True
    index = _index(machine, rank, lambda op: op.ends is None)
    if index < 0:
        return {}
    machine.device_stops[rank] = index
    return {"required": {rank}, "allowed": {rank}}


def device_stuck(machine: Machine, rank: int) -> dict:
    """The same without timing: the operation is known, not who of its members."""
    index = _index(machine, rank)
    machine.device_stops[rank] = index
    members = set(machine.members(rank, index))
    return {"required": set(), "allowed": members}


def device_lost(machine: Machine, rank: int) -> dict:
    """It does not complete what its peers have completed."""
    index = _index(machine, rank, lambda op: op.ends is None)
    if index < 0:
        return {}
    machine.lonely[rank] = index
    return {"required": {rank}, "allowed": {rank}}


def _change(machine: Machine, rank: int, change, wide: bool = True) -> dict:
    index = _index(machine, rank, _is_wide(machine) if wide else lambda op: op.ends is None)
    if index < 0:
        return {}
    change(machine.program[rank], index)
    members = set(machine.members(rank, index))
    return {"required": {rank}, "allowed": {rank} if wide else members | {rank}}


def skipped(machine: Machine, rank: int) -> dict:
    """The rank leaves a collective out, and goes on. In pairs only the steps before tell who is out of order."""
    index = _index(machine, rank, _is_wide(machine), len(machine.program[rank]) // 3 + 1)
    if index < 0:
        return {}
    del machine.program[rank][index]
    return {"required": {rank}, "allowed": {rank}, "needs_past": True}


def skipped_at_first(machine: Machine, rank: int) -> dict:
    """The same in the first step: where the next call is one of a pair, both may be named."""
    places = [i for i, op in enumerate(machine.program[rank][:len(machine.program[rank]) // 3]) if _is_wide(machine)(op)]
    if not places or len(machine.program[rank]) < places[0] + 2:
        return {}
    del machine.program[rank][places[0]]
    others = set(machine.members(rank, places[0]))
    return {"required": {rank}, "allowed": {rank} | (others if len(others) == 2 else set())}


def wrong_call(machine: Machine, rank: int) -> dict:
    def change(program: list[Op], index: int) -> None:
        op = program[index]
        program[index] = Op(op.group, "broadcast", op.elements)
    return _change(machine, rank, change)


def wrong_size(machine: Machine, rank: int) -> dict:
    index = _index(machine, rank, lambda op: _is_wide(machine)(op) and op.name != "all_to_all")
    if index < 0:
        return {}
    op = machine.program[rank][index]
    machine.program[rank][index] = Op(op.group, op.name, op.elements + 7)
    return {"required": {rank}, "allowed": {rank}}


def wrong_call_of_a_pair(machine: Machine, rank: int) -> dict:
    """Of two members both are named; the steps before tell who comes first."""
    index = _index(machine, rank, lambda op: op.ends is None and len(machine.job.groups[op.group][1]) == 2,
                   len(machine.program[rank]) // 2 + 1)
    if index < 0:
        return {}
    op = machine.program[rank][index]
    machine.program[rank][index] = Op(op.group, "broadcast", op.elements)
    members = set(machine.members(rank, index))
    return {"required": members, "allowed": members, "first": {rank}, "needs_past": True}


def wrong_order(machine: Machine, rank: int) -> dict:
    """Two calls of one group are swapped."""
    program = machine.program[rank]
    places = [i for i in range(2, len(program) - 1) if _is_wide(machine)(program[i]) and program[i].group == program[i + 1].group
              and program[i].name != program[i + 1].name and program[i + 1].ends is None]
    if not places:
        return {}
    index = machine.random.choice(places)
    program[index], program[index + 1] = program[index + 1], program[index]
    return {"required": {rank}, "allowed": {rank}}


def wrong_order_of_groups(machine: Machine, rank: int) -> dict:
    """Two calls of different groups with the same members are swapped."""
    program = machine.program[rank]
    ranks = lambda op: machine.job.groups[op.group][1]  # noqa: E731
    places = [i for i in range(2, len(program) - 1) if program[i].group != program[i + 1].group
              and ranks(program[i]) == ranks(program[i + 1]) and program[i].ends is program[i + 1].ends is None]
    if not places:
        return {}
    index = machine.random.choice(places)
    program[index], program[index + 1] = program[index + 1], program[index]
    if machine.world == 2:
        return {"required": {rank}, "allowed": {0, 1}, "first": {rank} if index > len(program) // 2 else None,
                "needs_past": True}
    return {"required": {rank}, "allowed": {rank}}


def wrong_type(machine: Machine, rank: int) -> dict:
    """The tensor of one rank has another type."""
    index = _index(machine, rank, lambda op: _is_wide(machine)(op) and op.name != "all_to_all")
    if index < 0:
        return {}
    op = machine.program[rank][index]
    machine.program[rank][index] = Op(op.group, op.name, op.elements, dtype="Half")
    return {"required": {rank}, "allowed": {rank}}


def wrong_group(machine: Machine, rank: int) -> dict:
    """A rank calls a collective in another of its groups than its peers do, where the next of that group is far."""
    program = machine.program[rank]
    wide = {op.group for op in program if _is_wide(machine)(op)}
    index = _index(machine, rank, lambda op: _is_wide(machine)(op) and len(wide) > 1, len(program) // 3 + 1)
    if index < 0:
        return {}
    op = program[index]
    other = machine.random.choice(sorted(wide - {op.group}))
    program[index] = Op(other, op.name, op.elements + 3)
    return {"required": {rank}, "allowed": {rank}, "needs_past": True}


def many_dumps_are_missing(machine: Machine, rank: int) -> dict:
    """A rank's host stopped; of a third of the others there is no dump."""
    machine.host_stops[rank] = _index(machine, rank)
    others = [one for one in range(machine.world) if one != rank]
    absent = set(machine.random.sample(others, machine.world // 3))
    op = machine.program[rank][machine.host_stops[rank]]
    waits = set(machine.members(rank, machine.host_stops[rank])) - absent - {rank}
    return {"required": {rank} if waits else set(), "allowed": {rank} | absent, "absent": absent} if op else {}


def dead(machine: Machine, rank: int) -> dict:
    """Its process is gone, and with it its dump."""
    machine.host_stops[rank] = _index(machine, rank)
    return {"required": {rank}, "allowed": {rank}, "absent": {rank}}


def another_dump_is_missing(machine: Machine, rank: int) -> dict:
    """Another rank, which is well, wrote no dump: it may be named too, but not first."""
    machine.host_stops[rank] = _index(machine, rank)
    other = machine.random.choice([one for one in range(machine.world) if one != rank])
    return {"required": {rank} if machine.world > 2 else set(), "allowed": {rank, other}, "absent": {other}}


def stuck_transfer(machine: Machine, rank: int) -> dict:
    """A send and its receive are there, and do not come through."""
    index = _index(machine, rank, lambda op: op.ends is not None)
    if index < 0:
        return {}
    ends = machine.members(rank, index)
    machine.stuck_link = (ends[0], ends[1])
    return {"required": set(), "allowed": set(ends), "link": (ends[0], ends[1])}


def _allowed_early(machine: Machine, ranks: list[int]) -> set[int]:
    """Of ranks whose dumps are early, those of which a peer's dump does not prove it: theirs look like hangs."""
    return {rank for rank in ranks if not machine.is_proven_early(rank)}


def dumped_earlier(machine: Machine, rank: int) -> dict:
    """A job that is well; one dump was written some operations before the others."""
    last = len(machine.program[rank])
    machine.early[rank] = machine.random.randrange(last // 3, last)
    machine.run()
    return {"required": set(), "allowed": _allowed_early(machine, [rank]), "needs_past": True}


def dumped_earlier_in_the_middle(machine: Machine, rank: int) -> dict:
    """The same, and the others are in one operation."""
    in_the_middle(machine, rank)
    return dumped_earlier(machine, rank)


def dumped_at_many_moments(machine: Machine, rank: int) -> dict:
    """A job that is well; each dump was written at a moment of its own."""
    for one in range(machine.world):
        machine.early[one] = machine.random.randrange(2, len(machine.program[one]) + 1)
    machine.run()
    return {"required": set(), "allowed": _allowed_early(machine, list(range(machine.world))), "needs_past": True}


def dumped_earlier_and_stuck(machine: Machine, rank: int) -> dict:
    """One dump was written while all was well, then the host of another rank stopped."""
    other = machine.random.choice([one for one in range(machine.world) if one != rank])
    machine.host_stops[other] = _index(machine, other, least=len(machine.program[other]) * 2 // 3)
    machine.early[rank] = machine.random.randrange(2, len(machine.program[rank]) // 2)
    machine.run()
    early = _allowed_early(machine, [rank])
    stop = machine.host_stops[other]
    waits = len(machine.members(other, stop)) > 2  # others than the early one
    return {"required": {other} - early if waits else set(), "allowed": {other} | early, "needs_past": True}


SPOILT = ({"state": "scheduled", "time_discovered_completed_ns": 1_700_000_000_900_000_000},
          {"state": "completed", "time_discovered_started_ns": 5, "time_discovered_completed_ns": 4},
          {"input_sizes": "wide", "output_sizes": [["x", 3]]}, {"input_dtypes": [7], "output_dtypes": 9},
          {"collective_seq_id": 2 ** 70}, {"state": "dreaming"}, {"profiling_name": 5}, {"process_group": None})


def spoilt_and_healthy(machine: Machine, rank: int) -> dict:
    """All are in one place; of one rank the entry there is broken."""
    in_the_middle(machine, rank)
    return {"required": set(), "allowed": set(), "spoil": {rank: machine.random.choice(SPOILT)}}


def spoilt_and_stuck(machine: Machine, rank: int) -> dict:
    """One rank is stuck; an older entry of another is broken."""
    machine.host_stops[rank] = _index(machine, rank, least=3)
    other = machine.random.choice([one for one in range(machine.world) if one != rank])
    return {"required": {rank}, "allowed": {rank},
            "spoil": {other: {**machine.random.choice(SPOILT[2:4]), "entry": machine.random.choice([0, 1])}}}


LAYOUTS = {"ddp": 2, "mixed": 3, "fsdp": 2, "twins": 2, "tp": 2, "tp_dp": 4, "pp_dp": 4, "tp_pp_dp": 8}  # and their least world
KINDS = (healthy, in_the_middle, host_stuck, two_hosts_stuck, device_stuck_with_timing, device_stuck, device_lost, skipped, skipped_at_first,
         wrong_call, wrong_size, wrong_call_of_a_pair, wrong_order, wrong_order_of_groups, dead, another_dump_is_missing,
         stuck_transfer, spoilt_and_healthy, spoilt_and_stuck, dumped_earlier, dumped_earlier_in_the_middle,
         dumped_at_many_moments, dumped_earlier_and_stuck, wrong_type, wrong_group, many_dumps_are_missing)
WORLDS = (2, 3, 4, 8, 16, 32, 64)


def make_case(kind, layout: str, world: int, seed: int) -> Case | None:
    """The case of a kind; nothing where the layout has no such operation."""
    name = f"{kind.__name__}-{layout}-{world}-{seed}"
    random = Random(name)
    if world < LAYOUTS[layout] or (layout in ("tp_dp", "pp_dp", "tp_pp_dp") and world % LAYOUTS[layout] != 0):
        return None
    machine = Machine(layout, world, random)
    answer = kind(machine, random.randrange(world))
    if not answer:
        return None
    machine.run().write()
    case = Case(kind.__name__, world, name, machine.job, **answer)
    if not case.needs_past:
        case.only_active = random.random() < 0.3 and not case.spoil
        case.ring = random.choice([NEVER, NEVER, 12])
    return case


def cases(worlds: tuple[int, ...] = WORLDS, seeds: int = 2, kinds=KINDS):
    """All of them, in a fixed order."""
    for kind in kinds:
        for world in worlds:
            for layout in LAYOUTS:
                for seed in range(seeds):
                    case = make_case(kind, layout, world, seed)
                    if case is not None:
                        yield case


def twin_forms(case: Case) -> tuple[int | str, str]:
    """A protocol of pickles, by the case, and JSON."""
    return Random(case.seed).choice([2, 3, 4, 5]), "json"


def text_of(found: dict) -> str:
    """What of a diagnosis has to be the same for twins."""
    return json.dumps([found["verdict"], found["culprits"], found["culprit_link"]])
