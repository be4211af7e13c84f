"""Reads event files (*.tev) by their documented layout, independently of the C++ reader."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = b"\x89TLREV\r\n"
BLOCK = struct.Struct("<IHHQIIQ")
EVENT = struct.Struct("<qqQQqIIIIHHI")
TRACK = struct.Struct("<IIqqqqiIIIQ")
META, STRINGS, TRACKS, EVENTS, END = 1, 2, 3, 4, 5

RANGE, PUSH, POP, RANGE_START, RANGE_END, MARK, API, KERNEL, MEMCPY, MEMSET = range(1, 11)
SYNC, OVERHEAD, DEVICE_RANGE, FLOW_START, FLOW_END, COUNTER, WINDOW, STEP_RECORD, UNKNOWN = range(11, 20)
HAS_CORRELATION, HAS_EXTERNAL, DRIVER, REPAIRED, GRAPH, PYTHON, OPERATOR, FAILED = (1 << i for i in range(8))
OPEN_NS = (1 << 63) - 1


@dataclass
class Track:
    """One TrackRecord with its strings resolved."""

    kind: int
    name: str
    pid: int
    tid: int
    context: int
    stream: int
    device: int
    device_label: str
    stream_label: str


@dataclass
class Event:
    """One EventRecord with its strings resolved."""

    begin: int
    end: int
    correlation: int
    external: int
    value: int
    name: str
    category: str
    attrs: dict
    track: Track
    kind: int
    flags: int
    domain: str


@dataclass
class EventFile:
    """A whole event file in memory."""

    meta: dict = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    tracks: list[Track] = field(default_factory=list)
    whole: bool = False


def read_tev(path: Path | str) -> EventFile:
    """Reads one file; fails on anything that does not follow the layout."""
    data = Path(path).read_bytes()
    assert data[:8] == MAGIC, path
    out = EventFile()
    strings, tracks, at = [""], out.tracks, 32
    while at < len(data):
        mark, kind, _, size, records, _, _ = BLOCK.unpack_from(data, at)
        assert mark == 0x4B4C4254
        payload = data[at + BLOCK.size : at + BLOCK.size + size]
        at += BLOCK.size + (size + 7) // 8 * 8
        if kind == META:
            out.meta.update(json.loads(payload))
        elif kind == STRINGS:
            offset = 0
            for _ in range(records):
                (length,) = struct.unpack_from("<I", payload, offset)
                strings.append(payload[offset + 4 : offset + 4 + length].decode("utf-8"))
                offset += 4 + length
        elif kind == TRACKS:
            for row in TRACK.iter_unpack(payload):
                k, name, pid, tid, context, stream, device, dlabel, slabel, _, _ = row
                tracks.append(Track(k, strings[name], pid, tid, context, stream, device, strings[dlabel],
                                    strings[slabel]))
        elif kind == EVENTS:
            for b, e, c, x, v, name, cat, attrs, track, k, flags, domain in EVENT.iter_unpack(payload):
                out.events.append(Event(b, e, c, x, v, strings[name], strings[cat],
                                        json.loads(strings[attrs]) if attrs else {}, tracks[track], k, flags,
                                        strings[domain]))
        elif kind == END:
            out.whole = True
    return out
