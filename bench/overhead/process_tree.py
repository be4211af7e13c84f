"""What a process and all that descend from it have used, from /proc."""
from __future__ import annotations

import os
from pathlib import Path

TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")


def _stats() -> dict:
    """pid -> (parent, user ticks, system ticks, minor faults, those of its dead children: ticks, faults)."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            fields = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parent, minor, children_minor = int(fields[1]), int(fields[7]), int(fields[8])
        user, system, children_user, children_system = (int(field) for field in fields[11:15])
        found[int(entry)] = (parent, user, system, minor, children_user + children_system, children_minor)
    return found


def tree(root: int) -> dict:
    """The living processes of the tree and their counts."""
    stats = _stats()
    members = {root}
    grown = True
    while grown:
        more = {pid for pid, counts in stats.items() if counts[0] in members} - members
        members |= more
        grown = bool(more)
    return {pid: stats[pid] for pid in members if pid in stats}


def usage(root: int) -> dict:
    """CPU seconds and minor faults since each process began, ended children included; peak RSS of the living in MiB."""
    members = tree(root)
    return {
        "cpu_s": sum(c[1] + c[2] + c[4] for c in members.values()) * TICK_S,
        "minor_faults": float(sum(c[3] + c[5] for c in members.values())),
        "max_rss_mib": sum(_peak_kib(pid) for pid in members) / 1024,
    }


def _peak_kib(pid: int) -> int:
    try:
        lines = Path("/proc", str(pid), "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)
