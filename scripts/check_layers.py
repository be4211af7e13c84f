#!/usr/bin/env python3
"""Checks who includes whom: the rules of src/README.md as a test.

Stages meet only in the run folder: a stage folder includes base/, procfs/, run_folder/ and itself; of another folder only cli/
may include anything, and then only its facade header (the one named like the folder). Third parties are tied to the
places where they belong.
"""
from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = {"base": {"base"}, "procfs": {"base", "procfs"}, "run_folder": {"base", "run_folder"}, "logs": {"base", "logs"},
          "redact": {"base", "logs", "redact"}, "context": {"base", "context"}}
# Shared folders that every stage may include, and those that some stages may.
FOR_ALL = {"base", "procfs", "run_folder", "logs"}
FOR_ONE = {"capture": {"redact", "context"}, "snapshot": {"redact"}, "importers": {"redact"}}
STAGES = {"simulate", "capture", "importers", "reconstruct", "horizontal", "vertical", "stats", "slice", "tpe", "learn", "report", "dump",
          "verify", "merge", "snapshot", "doctor"}
# Facades besides the one that is named like its folder.
FACADES = {"horizontal": {"flight.h"}}
# Third-party header (as a pattern on the include) -> folders that may use it; tests may use all but CLI11.
THIRD_PARTIES = {
    r"^CLI/": {"cli"},
    r"^spdlog/": {"base"},
    r"^Eigen/": {"slice", "reconstruct"},
    r"^torch/": {"learn"},
    r"^simdjson": {"importers"},
    r"^sqlite3": {"importers"},
    r"^(archive|archive_entry|zstd)\.h": {"importers"},
    r"^(elfutils/|dwarf\.h|libelf|gelf)": {"snapshot"},
    r"^(cupti|nvtx3/|Python\.h)": {"preload"},
    r"^nlohmann/": STAGES | {"run_folder", "cli", "base", "context"},
    r"^re2/": {"redact", "capture"},
    r"^httplib": {"context"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)


def allowed_own(folder: str) -> set[str]:
    """Folders of ours that `folder` may include in full."""
    if folder in SHARED:
        return SHARED[folder]
    if folder == "preload":
        return {"preload"}
    return FOR_ALL | FOR_ONE.get(folder, set()) | {folder}


def violation(folder: str, header: str) -> str | None:
    """Why `folder` may not include `header`; None if it may."""
    for pattern, folders in THIRD_PARTIES.items():
        if re.match(pattern, header) and folder not in folders:
            return "this library belongs elsewhere"
    owner, _, rest = header.partition("/")
    if owner not in STAGES | set(SHARED) | {"cli"} or owner in allowed_own(folder):
        return None
    if folder == "cli" and rest in {f"{owner}.h"} | FACADES.get(owner, set()):
        return None
    return "stages meet only in the run folder" if folder != "cli" else "only the folder's facade header"


def main() -> int:
    """Checks every source file; exit code 1 if a rule is broken."""
    broken = 0
    files = 0
    for top in ("src", "preload"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix not in {".h", ".cpp", ".c"}:
                continue
            files += 1
            folder = path.relative_to(ROOT / top).parts[0] if top == "src" else "preload"
            for header in INCLUDE.findall(path.read_text(encoding="utf-8")):
                why = violation(folder, header)
                if why is not None:
                    broken += 1
                    print(f"{path.relative_to(ROOT)}: includes {header}: {why}", file=sys.stderr)
    if files == 0:
        print("no source files found", file=sys.stderr)
        return 1
    print(f"{files} files, {broken} broken rules")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
