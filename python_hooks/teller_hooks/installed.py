"""Where a Python finds its packages, and their versions, without running code of theirs.

`python -I -S` imports nothing of site-packages; the folders are then worked out here as site.py would. Lines of .pth files
that are code are left out.
"""
from __future__ import annotations

import os
import sys
from typing import Optional

_MAX_PTH_BYTES = 1 << 20


def _prefixes() -> list:
    """Where site-packages may lie: of the venv that the executable belongs to, else of the installation."""
    home = os.path.dirname(os.path.dirname(os.path.abspath(sys.executable)))
    try:
        with open(os.path.join(home, "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
            lines = [line.partition("=") for line in file]
    except OSError:
        return [sys.prefix, sys.exec_prefix]
    system = any(key.strip() == "include-system-site-packages" and value.strip().lower() == "true"
                 for key, _, value in lines)
    return [home, sys.base_prefix] if system else [home]


def _site_folders() -> list:
    version = "python%d.%d" % sys.version_info[:2]
    folders = []
    for prefix in _prefixes():
        folders += [os.path.join(prefix, "lib", version, "site-packages"), os.path.join(prefix, "lib64", version, "site-packages")]
        if prefix == "/usr":  # Debian's
            folders += [os.path.join("/usr/local/lib", version, "dist-packages"), "/usr/lib/python3/dist-packages"]
    return folders


def _pth_lines(path: str) -> list:
    """What cannot be read is passed over, as site.py does."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MAX_PTH_BYTES).splitlines()
    except OSError:
        return []


def _pth_paths(folder: str) -> list:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    paths = []
    for name in names:
        for line in _pth_lines(os.path.join(folder, name)) if name.endswith(".pth") else ():
            if line.strip() and not line.startswith(("#", "import ", "import\t")):
                paths.append(os.path.join(folder, line.strip()))
    return paths


def search_path() -> list:
    """The folders that this Python would import from, its standard library and PYTHONPATH included."""
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    paths += [path for path in sys.path if os.path.isdir(path)]
    for folder in _site_folders():
        if os.path.isdir(folder):
            paths.append(folder)
            paths += _pth_paths(folder)
    unique: dict = {}
    for path in paths:
        if os.path.isdir(path):
            unique.setdefault(os.path.realpath(path), path)
    return list(unique.values())


def version_of(package: str, paths: list) -> Optional[str]:
    """The version of the distribution that brings `package`, by the names of the .dist-info folders; None if unknown."""
    wanted = package.lower().replace("-", "_")
    for path in paths:
        try:
            entries = sorted(os.listdir(path))
        except OSError:
            continue
        for entry in entries:
            name, _, version = entry.removesuffix(".dist-info").partition("-")
            if entry.endswith(".dist-info") and name.lower().replace("-", "_") == wanted:
                return version
    return None
