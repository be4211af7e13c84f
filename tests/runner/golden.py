#!/usr/bin/env python3
"""Runs golden cases: text in, the real binary, text out.

A case file (*.case) holds a header of `# key: value` lines and then directives, each at the start of a line:

    events            the lines below, up to a blank line or the next directive, build the run (tests/tools/make_run)
    load FILE         the same from a file beside the case (tests/golden/runs/*.jsonl)
    write FILE        the lines below become FILE in the case's scratch folder
    show FILE         FILE of the scratch folder stands for the last run's stdout
    run ARGS          runs `teller ARGS`; RUN stands for the run folder, DIR for the case's scratch folder
    expect            the lines between two `----` are the whole of the last run's stdout
    expect-lines      each line between two `----` must occur in the last run's stdout, in this order
    reject-lines      no line between two `----` may occur in the last run's stdout
    error CODE "TEXT" the last run ended with exit code CODE and one line on stderr that holds TEXT

`run` must end with 0 unless an `error` follows. TELLER_UPDATE_GOLDEN=1 rewrites `expect` blocks.
"""
from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

FENCE = "----"
DIRECTIVES = ("events", "load ", "write ", "show ", "run ", "expect", "expect-lines", "reject-lines", "error ")


class CaseFailure(Exception):
    """A case that did not hold."""


@dataclass
class Directive:
    """One directive of a case: its line, and the block that belongs to it."""

    line: str
    number: int
    block: list[str] = field(default_factory=list)


def is_directive(line: str) -> bool:
    """True if a line starts a directive."""
    word = line.rstrip()
    return any(word == d.strip() or line.startswith(d) and d.endswith(" ") for d in DIRECTIVES)


def parse(text: str) -> list[Directive]:
    """Splits a case into directives with their blocks."""
    directives: list[Directive] = []
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line == FENCE:
            fenced = not fenced
        elif fenced:
            directives[-1].block.append(line)
        elif line.startswith("#") or not line.strip():
            continue
        elif is_directive(line):
            directives.append(Directive(line.strip(), number))
        elif directives:
            directives[-1].block.append(line.strip())
        else:
            raise CaseFailure(f"line {number}: not a directive: {line}")
    if fenced:
        raise CaseFailure("a ---- is not closed")
    return directives


class Case:
    """Runs one case file."""

    def __init__(self, path: Path, teller: str, make_run: str, scratch: Path) -> None:
        self.path, self.teller, self.make_run, self.scratch = path, teller, make_run, scratch
        self.last: subprocess.CompletedProcess[str] | None = None
        self.error_allowed = False
        self.updates: dict[int, str] = {}

    def words(self, text: str) -> list[str]:
        """Splits arguments and fills in RUN and DIR."""
        run, scratch = str(self.scratch / "run"), str(self.scratch)
        return [w.replace("RUN", run).replace("DIR", scratch) for w in shlex.split(text)]

    def shown(self, text: str) -> str:
        """Output with the scratch folder's name replaced, so that it can be compared."""
        return text.replace(str(self.scratch / "run"), "RUN").replace(str(self.scratch), "DIR")

    def build(self, lines: list[str], number: int) -> None:
        """Builds the run from event lines."""
        done = subprocess.run([self.make_run, str(self.scratch / "run")], input="\n".join(lines),
                              text=True, capture_output=True)
        if done.returncode != 0:
            raise CaseFailure(f"line {number}: {done.stderr.strip()}")

    def run_teller(self, directive: Directive) -> None:
        """Runs teller with the directive's arguments."""
        self.check_last()
        args = self.words(directive.line.removeprefix("run"))
        env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", "TZ": "UTC"}
        self.last = subprocess.run([self.teller, *args], text=True, capture_output=True, env=env,
                                   cwd=self.scratch, timeout=120)
        self.error_allowed = False

    def check_last(self) -> None:
        """The last run must have succeeded unless an `error` directive spoke of it."""
        if self.last is not None and self.last.returncode != 0 and not self.error_allowed:
            raise CaseFailure(f"{self.last.args} ended with {self.last.returncode}: {self.last.stderr.strip()}")

    def expect(self, directive: Directive) -> None:
        """Compares the whole output."""
        assert self.last is not None
        got = self.shown(self.last.stdout).rstrip("\n").splitlines()
        if got == directive.block:
            return
        if os.environ.get("TELLER_UPDATE_GOLDEN") == "1":
            self.updates[directive.number] = "\n".join(got)
            return
        import difflib
        diff = "\n".join(difflib.unified_diff(directive.block, got, "expected", "got", lineterm=""))
        raise CaseFailure(f"line {directive.number}: output differs\n{diff}")

    def expect_lines(self, directive: Directive) -> None:
        """Every given line occurs, in order."""
        assert self.last is not None
        got = iter([line.strip() for line in self.shown(self.last.stdout).splitlines()])
        for wanted in directive.block:
            if not any(wanted.strip() == line for line in got):
                raise CaseFailure(f"line {directive.number}: missing, or out of order: {wanted}\n{self.last.stdout}")

    def reject_lines(self, directive: Directive) -> None:
        """No given line occurs."""
        assert self.last is not None
        got = {line.strip() for line in self.shown(self.last.stdout).splitlines()}
        for unwanted in directive.block:
            if unwanted.strip() in got:
                raise CaseFailure(f"line {directive.number}: should not be there: {unwanted}")

    def expect_error(self, directive: Directive) -> None:
        """The exit code and the one line on stderr."""
        assert self.last is not None
        _, code, *text = shlex.split(directive.line)
        stderr = self.shown(self.last.stderr)
        if self.last.returncode != int(code):
            raise CaseFailure(f"line {directive.number}: exit code {self.last.returncode}: {stderr}")
        if len(stderr.strip().splitlines()) != 1 or " ".join(text) not in stderr:
            raise CaseFailure(f"line {directive.number}: stderr is {stderr!r}")
        self.error_allowed = True

    def step(self, directive: Directive) -> None:
        """Carries out one directive."""
        line = directive.line
        if line == "events":
            self.build(directive.block, directive.number)
        elif line.startswith("load "):
            source = self.path.parent / line.removeprefix("load ").strip()
            self.build(source.read_text().splitlines(), directive.number)
        elif line.startswith("write "):
            (self.scratch / line.split()[1]).write_text("".join(text + "\n" for text in directive.block))
        elif line.startswith("show "):
            self.check_last()
            text = (self.scratch / line.split()[1]).read_text()
            self.last = subprocess.CompletedProcess(line, 0, text, "")
        elif line.startswith("run"):
            self.run_teller(directive)
        elif line == "expect":
            self.expect(directive)
        elif line == "expect-lines":
            self.expect_lines(directive)
        elif line == "reject-lines":
            self.reject_lines(directive)
        elif line.startswith("error "):
            self.expect_error(directive)

    def run(self) -> int:
        """Runs the whole case; the number of checks made."""
        directives = parse(self.path.read_text())
        for directive in directives:
            self.step(directive)
        self.check_last()
        checks = sum(d.line.startswith(("expect", "reject", "error")) for d in directives)
        if checks == 0:
            raise CaseFailure("the case checks nothing")
        return checks


def update(path: Path, updates: dict[int, str]) -> None:
    """Rewrites the `expect` blocks that start at the given lines."""
    lines = path.read_text().splitlines()
    for number in sorted(updates, reverse=True):
        first = number  # index of the line after the directive
        if first < len(lines) and lines[first] == FENCE:
            last = lines.index(FENCE, first + 1)
            del lines[first:last + 1]
        lines[first:first] = [FENCE, *updates[number].splitlines(), FENCE]
    path.write_text("\n".join(lines) + "\n")


def main() -> int:
    """Runs the cases named on the command line; exit code 1 if one fails."""
    if len(sys.argv) < 4:
        print("usage: golden.py TELLER MAKE_RUN CASE…", file=sys.stderr)
        return 2
    failed = 0
    for name in sys.argv[3:]:
        with tempfile.TemporaryDirectory(prefix="teller-golden-") as scratch:
            case = Case(Path(name), *map(os.path.abspath, sys.argv[1:3]), Path(scratch))
            try:
                checks = case.run()
                print(f"{name}: {checks} checks hold")
            except (CaseFailure, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f"{name}: FAILED\n{failure}", file=sys.stderr)
            if case.updates:
                update(Path(name), case.updates)
                print(f"{name}: {len(case.updates)} blocks rewritten")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
