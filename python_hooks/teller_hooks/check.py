"""`teller hooks check` and `teller hooks list`: run by the Python whose packages are in question, with -I -S."""
from __future__ import annotations

import argparse
import json
import os
import stat
import sys
from typing import Optional

from . import bridge, expressions, installed
from .source_index import Found, SourceIndex

ALL_THERE, SOME_MISSING, BAD_FILE, FAILED = 0, 1, 2, 70
_MAX_FILE_BYTES = 16 << 20
_KEYS = {"module", "object", "layer", "range", "role", "request", "record", "before", "same_wait", "when", "unless", "comment"}
_ROLES = ("step", "schedule", "iteration")
_SIGNS = {"there": "ok", "missing": "MISSING", "no_module": "MISSING", "no_package": "MISSING",
          "not_function": "NO FUNCTION", "unknown": "unknown"}


class BadFile(ValueError):
    """The target file is wrong."""


def targets_folder() -> str:
    """Where the target files lie that come with teller."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "targets")


def built_in() -> list:
    """Paths of the target files that come with teller."""
    folder = targets_folder()
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".json")]


def _check_entry(entry: object) -> None:
    """Raises BadFile if `entry` is not a target."""
    if not isinstance(entry, dict):
        raise BadFile("a target must be an object")
    for key in ("module", "object"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise BadFile("%s must be a name" % key)
    unknown = sorted(set(entry) - _KEYS)
    if unknown:
        raise BadFile("unknown key %s" % unknown[0])
    if not isinstance(entry.get("unless", ""), str):
        raise BadFile("unless must be a name")
    if not isinstance(entry.get("layer", "FE"), str) or entry.get("layer", "FE") not in bridge.CATEGORIES:
        raise BadFile("unknown layer %r" % (entry["layer"],))
    if entry.get("role", "step") not in _ROLES:
        raise BadFile("unknown role %r" % (entry["role"],))
    record = entry.get("record", {})
    if not isinstance(record, dict):
        raise BadFile("record must be an object")
    for key, text in [*record.items(), *((key, entry[key]) for key in ("request", "before", "same_wait", "when") if key in entry)]:
        try:
            expressions.compile_expression(text)
        except (ValueError, SyntaxError) as error:
            raise BadFile("%s: %s" % (key, error)) from None


def read(path: str) -> dict:
    """A target file. Raises BadFile."""
    try:
        if stat.S_ISFIFO(os.stat(path).st_mode):  # to open it would wait for its writer
            raise BadFile("it is a pipe")
        with open(path, encoding="utf-8") as file:
            text = file.read(_MAX_FILE_BYTES + 1)
        if len(text) > _MAX_FILE_BYTES:
            raise BadFile("it is larger than 16 MiB")
        data = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise BadFile(getattr(error, "strerror", None) or str(error)) from None
    if not isinstance(data, dict) or data.get("format") != "teller.hooks" or data.get("version") != 1:
        raise BadFile("not a hook file of version 1")
    if not isinstance(data.get("targets", []), list):
        raise BadFile("targets must be a list")
    for number, entry in enumerate(data.get("targets", [])):
        try:
            _check_entry(entry)
        except BadFile as error:
            raise BadFile("target %d: %s" % (number + 1, error)) from None
    return data


def check_file(path: str, index: SourceIndex) -> dict:
    """What became of each target of a file."""
    data = read(path)
    results, versions = [], {}
    for entry in data.get("targets", []):
        package = entry["module"].partition(".")[0]
        versions[package] = installed.version_of(package, index.paths)
        found: Found = index.find(entry["module"], entry["object"])
        instead = entry.get("unless")
        if instead and index.find(entry["module"], instead).status == "there":
            found = Found("there", "left out, since %s is there" % instead)
        results.append({"module": entry["module"], "object": entry["object"], "status": found.status, "note": found.note})
    there = sum(result["status"] == "there" for result in results)
    return {"file": path, "stack": data.get("stack", ""), "versions": versions, "there": there, "targets": results}


def _print_check(report: dict) -> None:
    versions = ", ".join("%s %s" % (name, version or "(no version)") for name, version in report["versions"].items())
    print("%s: %d of %d targets there; %s" % (report["file"], report["there"], len(report["targets"]), versions))
    for result in report["targets"]:
        note = "  (%s)" % result["note"] if result["note"] else ""
        print("  %-11s %s:%s%s" % (_SIGNS[result["status"]], result["module"], result["object"], note))


def _path_of(name: str) -> str:
    """A file, or the name of one that comes with teller (vllm_v1)."""
    known = os.path.join(targets_folder(), name + ".json")
    return known if not os.path.exists(name) and os.sep not in name and os.path.exists(known) else name


def _check(options: argparse.Namespace) -> int:
    index = SourceIndex(options.site or installed.search_path())
    for folder in options.site:
        if not os.path.isdir(folder):
            return _refuse("looking in %s: no such folder" % folder)
    reports = []
    for name in options.files:
        try:
            reports.append(check_file(_path_of(name), index))
        except BadFile as error:
            return _refuse("reading hook file %s: %s (see docs/hooks.md)" % (name, error))
    if options.json:
        print(json.dumps({"python": sys.version.split()[0], "files": reports}, indent=1))
    else:
        for report in reports:
            _print_check(report)
    complete = all(report["there"] == len(report["targets"]) for report in reports)
    return ALL_THERE if complete else SOME_MISSING


def _list(options: argparse.Namespace) -> int:
    files = []
    for path in built_in():
        data = read(path)
        name = os.path.splitext(os.path.basename(path))[0]
        files.append({"name": name, "stack": data.get("stack", ""), "targets": len(data["targets"]),
                      "checked": bool(data.get("checked")), "comment": data.get("comment", ""), "file": path})
    if options.json:
        print(json.dumps(files, indent=1))
        return 0
    for file in files:
        run = "run" if file["checked"] else "read"
        print("%-18s %3d targets  %-4s  %s" % (file["name"], file["targets"], run, file["comment"]))
    return 0


def _refuse(text: str) -> int:
    print("teller: error: %s" % text, file=sys.stderr)
    return BAD_FILE


def main(arguments: Optional[list] = None) -> int:
    """Exit code: 0 all targets are there, 1 some are not or cannot be told, 2 a file is wrong."""
    parser = argparse.ArgumentParser(prog="teller hooks")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check")
    check.add_argument("--site", action="append", default=[])
    check.add_argument("files", nargs="+")
    for command in (check, commands.add_parser("list")):
        command.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    try:
        return _check(options) if options.command == "check" else _list(options)
    except Exception as error:  # a traceback's exit code would read "some missing"
        print("teller: error: unexpected failure: %s: %s (please report it)" % (type(error).__name__, error), file=sys.stderr)
        return FAILED
