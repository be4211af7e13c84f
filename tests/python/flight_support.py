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
        status = self.status[rank].setdefault(group, [0, 0])
        status[0] = max(status[0], seq)
        status[1] = max(status[1], seq) if done else status[1]
        entry = {
            "frames": [{"name": "forward", "filename": "/job/model.py", "line": 42}],
            "record_id": len(entries), "pg_id": self.groups_of(rank).index(group),
            "process_group": (group, self.groups[group][0]), "thread_name": "python3", "thread_id": "1",
            "collective_seq_id": 0 if p2p else seq, "p2p_seq_id": seq if p2p else 0, "op_id": len(entries),
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
