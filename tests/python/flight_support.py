"""Makes dumps of PyTorch's NCCL flight recorder, one per rank, as `dump_nccl_trace` writes them."""
from __future__ import annotations

import json
import pickle
from pathlib import Path

START_NS = 1_700_000_000_000_000_000


class Job:
    """Ranks, their groups, and what each has enqueued."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.groups: dict[str, tuple[str, list[int]]] = {}
        self.entries: dict[int, list[dict]] = {rank: [] for rank in range(count)}
        self.status: dict[int, dict[str, list[int]]] = {rank: {} for rank in range(count)}
        self.counts: dict[int, dict[str, list[int]]] = {rank: {} for rank in range(count)}
        self.group("0", "default_pg", list(range(count)))

    def group(self, name: str, description: str, ranks: list[int]) -> None:
        """Adds a process group; names are numbers in the order of their making, as PyTorch's are."""
        self.groups[name] = (description, ranks)

    def groups_of(self, rank: int) -> list[str]:
        """The names of the groups that a rank is in, as they were made."""
        return [name for name, (_, ranks) in self.groups.items() if rank in ranks]

    def add(self, rank: int, group: str, seq: int, name: str, state: str = "scheduled", **fields: object) -> dict:
        """Enqueues an operation on a rank."""
        entries = self.entries[rank]
        created = START_NS + 1_000_000 * len(entries) + 1000 * rank
        p2p = name.startswith(("send", "recv"))
        done = state == "completed"
        counts = self.counts[rank].setdefault(group, [0, 0])  # collectives, transfers: an entry has both
        counts[p2p] = max(counts[p2p], seq)
        status = self.status[rank].setdefault(group, [0, 0])  # of the last work of either kind
        status[0] = seq
        status[1] = seq if done else status[1]
        entry = {
            "frames": [{"name": "forward", "filename": "/job/model.py", "line": 42}],
            "record_id": len(entries), "pg_id": self.groups_of(rank).index(group),
            "process_group": (group, self.groups[group][0]), "thread_name": "python3", "thread_id": "1",
            "collective_seq_id": counts[0], "p2p_seq_id": counts[1], "op_id": len(entries),
            "profiling_name": f"nccl:{name}", "time_created_ns": created, "input_sizes": [[8, 4]],
            "input_dtypes": ["Float"], "output_sizes": [[8, 4]], "output_dtypes": ["Float"], "state": state,
            "time_discovered_started_ns": created + 1000 if state != "scheduled" else None,
            "time_discovered_completed_ns": created + 500_000 if done else None, "retired": done,
            "timeout_ms": 600000, "is_p2p": p2p, **fields}
        entries.append(entry)
        return entry

    def everyone(self, group: str, seq: int, name: str, state: str = "scheduled", but: tuple[int, ...] = ()) -> None:
        """Enqueues an operation on all ranks of a group, but some."""
        for rank in self.groups[group][1]:
            if rank not in but:
                self.add(rank, group, seq, name, state)

    def dump(self, rank: int, only_active: bool = False) -> dict:
        """What the rank writes."""
        names = self.groups_of(rank)
        entries = [entry for entry in self.entries[rank] if not only_active or entry["state"] != "completed"]
        return {
            "version": "2.9", "nccl_version": "2.27.3",
            "pg_config": {name: {"name": name, "desc": self.groups[name][0], "ranks": str(self.groups[name][1])}
                          for name in names},
            "pg_status": {str(i): {"last_enqueued_collective": self.status[rank].get(name, [0, 0])[0],
                                   "last_started_collective": -1,
                                   "last_completed_collective": self.status[rank].get(name, [0, 0])[1]}
                          for i, name in enumerate(names)},
            "entries": entries}


def as_json(dump: dict) -> bytes:
    """The form of dump_nccl_trace_json: 0 for a time that is not there, status as text, no frames, keys sorted."""
    dump = json.loads(json.dumps(dump))
    for entry in dump["entries"]:
        entry.pop("frames", None)
        for key in ("time_discovered_started_ns", "time_discovered_completed_ns"):
            entry[key] = entry[key] or 0
    for status in dump["pg_status"].values():
        status.update({key: str(value) for key, value in status.items()})
    if not dump["entries"]:
        del dump["entries"]
    return json.dumps(dump, sort_keys=True).encode()


def write(job: Job, folder: Path, protocol: int | str = 2, only_active: bool = False, absent: tuple[int, ...] = (),
          name: str = "nccl_trace_rank_{}") -> list[Path]:
    """Writes the dumps as pickles of a protocol, or "json"."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for rank in range(job.count):
        if rank in absent:
            continue
        dump = job.dump(rank, only_active)
        path = folder / name.format(rank)
        path.write_bytes(as_json(dump) if protocol == "json" else pickle.dumps(dump, protocol=int(protocol)))
        paths.append(path)
    return paths


class Training:
    """A job that trains on a grid of stages, data-parallel copies and tensor-parallel shards, until a rank fails.

    Each rank's device runs what its host enqueued, in order; a collective completes when all its members are at it.
    Hosts run ahead of their devices by `ahead` operations. A rank in `host_stops` enqueues no more from that operation
    on; one in `device_stops` never begins it.
    """

    def __init__(self, stages: int, copies: int, shards: int, steps: int, ahead: int,
                 host_stops: dict[int, int] | None = None, device_stops: dict[int, int] | None = None) -> None:
        self.shape = (stages, copies, shards)
        self.job = Job(stages * copies * shards)
        self.ahead = ahead
        self.host_stops = host_stops or {}
        self.device_stops = device_stops or {}
        self.program: dict[int, list[tuple[str, str, str]]] = {rank: [] for rank in range(self.job.count)}
        self._make_groups()
        for _ in range(steps):
            self._add_step()
        self.done = dict.fromkeys(self.program, 0)
        self._run()
        self._write_entries()

    def _rank(self, stage: int, copy: int, shard: int) -> int:
        return (stage * self.shape[1] + copy) * self.shape[2] + shard

    def _make_groups(self) -> None:
        stages, copies, shards = (range(size) for size in self.shape)
        rank = self._rank
        grids = {"TENSOR": [[rank(s, c, h) for h in shards] for s in stages for c in copies],
                 "EXPERT": [[rank(s, c, h) for c in copies for h in shards] for s in stages],
                 "DATA": [[rank(s, c, h) for c in copies] for s in stages for h in shards],
                 "PIPELINE": [[rank(s, c, h) for s in stages] for c in copies for h in shards]}
        self.named: dict[tuple[str, int], str] = {}
        for kind, groups in grids.items():
            for ranks in groups:
                name = str(len(self.job.groups))
                self.job.group(name, kind, ranks)
                self.named.update({(kind, rank): name for rank in ranks})

    def _add_step(self) -> None:
        last = self.shape[0] - 1
        per_stage = self.shape[1] * self.shape[2]
        for rank, program in self.program.items():
            stage = rank // per_stage
            call = {kind: self.named[kind, rank] for kind in ("TENSOR", "EXPERT", "DATA", "PIPELINE")}
            if stage > 0:
                program.append((call["PIPELINE"], f"recv {stage}<-{stage - 1}", f"send {stage - 1}->{stage}"))
            program += [(call["TENSOR"], "_all_gather_base", ""), (call["EXPERT"], "all_to_all", ""),
                        (call["EXPERT"], "all_to_all", ""), (call["TENSOR"], "_reduce_scatter_base", "")]
            if stage < last:
                program.append((call["PIPELINE"], f"send {stage}->{stage + 1}", f"recv {stage + 1}<-{stage}"))
            program += [(call["DATA"], "all_reduce", ""), ("0", "all_reduce", "")]

    def _number(self, rank: int, index: int) -> int:
        group, name, other = self.program[rank][index]
        return 1 + sum(1 for g, n, o in self.program[rank][:index] if g == group and (n == name if other else not o))

    def _enqueued(self, rank: int) -> int:
        return min(len(self.program[rank]), self.done[rank] + self.ahead, self.host_stops.get(rank, 1 << 30))

    def _at(self, rank: int) -> tuple | None:
        """What the rank's device has begun."""
        index = self.done[rank]
        if index >= self._enqueued(rank) or index >= self.device_stops.get(rank, 1 << 30):
            return None
        group, name, other = self.program[rank][index]
        return (group, name if other else "", self._number(rank, index), other)

    def _completes(self, rank: int) -> list[int]:
        """Who completes what this rank is at; nobody if one is not there."""
        at = self._at(rank)
        if at is None:
            return []
        group, name, number, other = at
        ranks = self.job.groups[group][1]
        if not other:
            return ranks if all(self._at(one) == at for one in ranks) else []
        peer = ranks[int(name.replace("<-", "->").split("->")[1])]
        return [rank, peer] if self._at(peer) == (group, other, number, name) else []

    def _run(self) -> None:
        moved = True
        while moved:
            moved = False
            for rank in self.program:
                for one in self._completes(rank):
                    self.done[one] += 1
                    moved = True

    def _write_entries(self) -> None:
        for rank, program in self.program.items():
            p2p: dict[str, int] = {}
            for index in range(self._enqueued(rank)):
                group, name, other = program[index]
                p2p[group] = p2p.get(group, 0) + (1 if other else 0)
                number = p2p[group] if other else self._number(rank, index)
                self.job.add(rank, group, number, name, "completed" if index < self.done[rank] else "scheduled")
