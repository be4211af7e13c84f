#!/usr/bin/env python3
"""Groups source files for clang-tidy: most of its time goes into headers that all files include, so several files are
checked as one translation unit. Files that define the same name differently, or that see another language (no exceptions,
say), are never in one unit.

    tidy_units.py COMPILE_COMMANDS FOLDER FILE…

Writes FOLDER/compile_commands.json and the units FOLDER/unit_N.cpp, which include the files.
"""
import json
import os
import re
import shlex
import sys

FILES_PER_UNIT = 10
# What a file defines at the start of a line. The names of functions are all that matters: an overload in another file
# could change what a call means. An alias may come again where it stands for the same.
DEFINITION = re.compile(
    r"^(?:template *<[^\n]*> *)?(?:"
    r"(?:struct|class|enum class|enum|union) +(?P<type>\w+)"
    r"|using +(?P<alias>\w+) *= *(?P<target>[^;\n]*)"
    r"|#define +(?P<macro>\w+)"
    r"|(?!namespace )[A-Za-z_][\w:<>,&* ]*?[ &*](?P<name>[A-Za-z_]\w*) *[\[({=;]"
    r")", re.M)
# Flags that say which code is seen; optimisation, warnings and the like change nothing here.
LANGUAGE_FLAGS = ("-std=", "-fno-exceptions", "-fno-rtti")


def definitions(text):
    """name -> what must be the same wherever the name comes again; None: it must not come again."""
    found = {}
    for match in DEFINITION.finditer(text):
        kind = "alias" if match["alias"] else match.lastgroup
        found[match[kind]] = match["target"]
    return found


def flags_of(entry):
    """(flags of the language, macros by name, folders of headers) of one compile command."""
    language, macros, folders = [], {}, []
    words = shlex.split(entry["command"])
    for word, following in zip(words, words[1:] + [""]):
        if word.startswith(LANGUAGE_FLAGS):
            language.append(word)
        elif word.startswith("-D"):
            macros[word.split("=")[0]] = word
        elif word == "-isystem":
            folders.append((word, following))
        elif word.startswith("-I"):
            folders.append((word,))
    return tuple(language), macros, folders


def agree(one, other):
    return all(one[name] is not None and one[name] == other[name] for name in one.keys() & other.keys())


def make_units(entries):
    """A file goes into the first unit that has room, and that neither its names nor its flags contradict."""
    units = []
    for entry in entries:
        with open(entry["file"], encoding="utf-8") as file:
            names = definitions(file.read())
        language, macros, folders = flags_of(entry)
        for unit in units:
            if (unit["language"] == language and len(unit["files"]) < FILES_PER_UNIT and agree(unit["names"], names)
                    and agree(unit["macros"], macros)):
                break
        else:
            unit = {"language": language, "files": [], "names": {}, "macros": {}, "folders": {}, "directory": entry["directory"]}
            units.append(unit)
        unit["files"].append(entry["file"])
        unit["names"].update(names)
        unit["macros"].update(macros)
        unit["folders"].update(dict.fromkeys(folders))
    return units


def main():
    commands_path, folder, *wanted = sys.argv[1:]
    with open(commands_path, encoding="utf-8") as file:
        commands = {entry["file"]: entry for entry in json.load(file)}
    unknown = [path for path in wanted if os.path.abspath(path) not in commands]
    if unknown:
        sys.exit(f"error: {commands_path} has no command for {unknown[0]}; is it built here?")
    os.makedirs(folder, exist_ok=True)
    database = []
    for number, unit in enumerate(make_units([commands[os.path.abspath(path)] for path in wanted])):
        path = os.path.join(os.path.abspath(folder), f"unit_{number}.cpp")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f'#include "{name}"\n' for name in unit["files"])
        command = ["c++", *unit["language"], *unit["macros"].values(), *(word for words in unit["folders"] for word in words)]
        database.append({"directory": unit["directory"], "file": path, "command": shlex.join([*command, "-c", path])})
    with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(database, file, indent=1)


if __name__ == "__main__":
    main()
