"""What a process and all that descend from it have used, from /proc."""
from __future__ import annotations

import os
from pathlib import Path


def _stats() -> dict:
    """pid -> (parent, minor faults, those of its dead children)."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            fields = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found[int(entry)] = (int(fields[1]), int(fields[7]), int(fields[8]))
    return found


def tree(root: int) -> list:
    """The living processes that descend from `root`, itself included."""
    stats = _stats()
    members = {root}
    grown = True
    while grown:
        more = {pid for pid, counts in stats.items() if counts[0] in members} - members
        members |= more
        grown = bool(more)
    return sorted(members)


def _cpu_ns(pid: int) -> int:
    """Of its living threads: the clock of /proc/PID/stat ticks a hundred times a second, too seldom for short blocks."""
    used = 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            used += int(Path(f"/proc/{pid}/task/{thread}/schedstat").read_text().split()[0])
    except (OSError, IndexError):
        pass
    return used


def usage(members: list) -> dict:
    """CPU seconds of the processes' living threads, and minor faults, ended children included."""
    stats = _stats()
    return {"cpu_s": sum(map(_cpu_ns, members)) / 1e9, "minor_faults": float(sum(sum(stats[pid][1:]) for pid in members if pid in stats))}


def peak_rss_mib(members: list) -> float:
    """The sum of the processes' peaks: shared pages count in each."""
    return sum(map(_peak_kib, members)) / 1024


def _peak_kib(pid: int) -> int:
    try:
        lines = Path("/proc", str(pid), "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)
