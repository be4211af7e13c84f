"""The rows of bench/overhead/run --json, as all benchmarks print them: measure, ours, peer, theirs, ratio, aim, met."""
from __future__ import annotations

# The most that recording may add at the default level, in percent.
AIMS = {"wall_pct": 3.0, "cpu_pct": 3.0, "rss_pct": 2.0}
_MEASURES = {"wall_s": "wall_pct", "cpu_s": "cpu_pct", "max_rss_mib": "rss_pct"}
# measure of pairs.py -> (name, aim in ns, peers)
_RANGES = {
    "C, teller: pair": ("c_push_pop_us", 80, ("C, no tool: pair",)),
    "teller: pair": ("python_push_pop_us", 200, ("nvtx: pair", "record_function: pair")),
    "teller: wrapped call": ("wrapped_call_us", 400, ("viztracer: traced call", "plain wrapper: wrapped call")),
}


def of_programs(made: list) -> list:
    """From the rows of results.py: what each variant adds to the plain program, in percent."""
    rows = []
    for row in made:
        measure = _MEASURES.get(row["measure"])
        if measure is None or "percent" not in row:
            continue
        switched = row["base"] == "hooks off"
        if switched and measure == "rss_pct":
            continue  # of one process: the same by nature
        low, middle, high = row["percent"]
        default = switched or row["variant"] == "frontend"
        rows.append({"measure": measure if default else f"{measure}_{row['variant']}", "unit": "%", "ours": middle, "quartiles": [low, middle, high],
                     "peer": f"{row['case']} {'hooks off' if switched else 'untraced'}", "theirs": 0.0, "ratio": None,
                     "aim": f"<= {AIMS[measure]:g}" if default else None, "met": middle <= AIMS[measure] if default else None})
    return rows


def of_pairs(made: list) -> list:
    """From the rows of pairs.py: what a range costs, and what it costs with others."""
    medians = {row["measure"]: row["median"] for row in made}
    rows = []
    for measure, (name, aim, peers) in _RANGES.items():
        for peer in peers:
            if measure in medians and peer in medians:
                ours, theirs = medians[measure], medians[peer]
                rows.append({"measure": name, "unit": "us", "ours": ours / 1e3, "peer": peer.partition(":")[0], "theirs": theirs / 1e3,
                             "ratio": theirs / ours if ours > 0 else None, "aim": f"<= {aim / 1e3:g}", "met": ours <= aim})
    return rows


def table(rows: list) -> str:
    """The rows that have an aim, as text."""
    lines = []
    for row in rows:
        if row["aim"] is not None:
            lines.append(f"{row['measure']:20s} {row['ours']:8.3f} {row['unit']:3s} {row['peer']:24s} aim {row['aim']}: {'met' if row['met'] else 'missed'}")
    return "\n".join(lines)
