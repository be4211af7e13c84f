"""The Python peers of bench/ingest/run: `peers.py orjson FILE` and `peers.py hta FOLDER`. Prints one JSON object."""
from __future__ import annotations

import json
import sys


def read_orjson(path: str) -> dict:
    """Parses, and walks over the events for the same fields as the C++ peers."""
    import orjson

    with open(path, "rb") as file:
        events = orjson.loads(file.read())["traceEvents"]
    text_bytes = ids = 0
    for event in events:
        text_bytes += len(event.get("name", "")) + len(event.get("cat", "")) + len(event.get("ph", ""))
        arguments = event.get("args")
        if arguments:
            ids += arguments.get("correlation", 0) + arguments.get("External id", 0)
    return {"version": orjson.__version__, "events": len(events), "text_bytes": text_bytes, "ids": ids % 2**64}


def read_hta(folder: str) -> dict:
    """Parses the traces of a folder, one rank each."""
    from importlib.metadata import version

    from hta.common.trace import Trace

    trace = Trace(trace_dir=folder)
    trace.parse_traces(use_multiprocessing=False)
    return {"version": version("HolisticTraceAnalysis"), "events": len(trace.get_trace(0))}


if __name__ == "__main__":
    print(json.dumps({"orjson": read_orjson, "hta": read_hta}[sys.argv[1]](sys.argv[2])))
