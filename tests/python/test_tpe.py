"""tpe-train and encode on plain sequences: against a trainer written as the definition reads, and on hostile files."""
from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from conftest import expect_one_line, run_teller, teller_binary


def count_pairs(sequences: list[list[int]]) -> Counter[tuple[int, int]]:
    """Occurrences of each adjacent pair, without overlaps, from the left."""
    counts: Counter[tuple[int, int]] = Counter()
    for sequence in sequences:
        free_from: dict[tuple[int, int], int] = {}
        for i, pair in enumerate(zip(sequence, sequence[1:])):
            if i >= free_from.get(pair, 0):
                counts[pair] += 1
                free_from[pair] = i + 2
    return counts


def merge(sequence: list[int], pair: tuple[int, int], token: int) -> list[int]:
    """The sequence with `pair` replaced from the left."""
    out: list[int] = []
    i = 0
    while i < len(sequence):
        if tuple(sequence[i:i + 2]) == pair:
            out.append(token)
            i += 2
        else:
            out.append(sequence[i])
            i += 1
    return out


def naive(sequences: list[list[int]], first: int, vocab_size: int) -> tuple[list[list[int]], list[list[int]]]:
    """Merges and merged sequences."""
    merges: list[list[int]] = []
    while first + len(merges) < vocab_size:
        counts = count_pairs(sequences)
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        sequences = [merge(s, best, first + len(merges)) for s in sequences]
        merges.append(list(best))
    return merges, sequences


def corpus(seed: int) -> list[list[str]]:
    """Sequences with repeated stretches and runs of one symbol; one symbol is not ASCII."""
    rng = random.Random(seed)
    words = ["op", "gemm", "Z", "é", "x1", "x10"][:rng.randrange(1, 7)]
    stretches = [[rng.choice(words) for _ in range(rng.randrange(1, 6))] for _ in range(4)]
    lines = [[w for _ in range(rng.randrange(12)) for w in rng.choice([*stretches, [rng.choice(words)] * 7])]
             for _ in range(rng.randrange(1, 8))]
    return lines if any(lines) else [["op"]]


@pytest.mark.parametrize("seed", range(12))
def test_equals_the_definition(seed: int, tmp_path: Path) -> None:
    lines = corpus(seed)
    (tmp_path / "seq").write_text("".join(" ".join(line) + "\n" for line in lines))
    done = run_teller("tpe-train", "--symbols", tmp_path / "seq", "-o", tmp_path / "tpe.json", "--vocab-size", 40)
    assert done.returncode == 0, done.stderr
    vocab = json.loads((tmp_path / "tpe.json").read_text())
    symbols = sorted({w for line in lines for w in line}, key=str.encode)
    first = len(vocab["specials"])
    assert vocab["symbols"] == symbols and vocab["vocab_size"] == 40
    ids = [[first + symbols.index(w) for w in line] for line in lines]
    merges, merged = naive(ids, first + len(symbols), 40)
    assert vocab["merges"] == merges

    done = run_teller("encode", "--symbols", tmp_path / "seq", "--vocab", tmp_path / "tpe.json", "--json")
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["input_ids"] for line in done.stdout.splitlines()] == merged
    (tmp_path / "ids").write_text(done.stdout)
    done = run_teller("encode", "--decode", tmp_path / "ids", "--vocab", tmp_path / "tpe.json")
    assert done.stdout == (tmp_path / "seq").read_text()


def test_the_same_bytes_twice(tmp_path: Path) -> None:
    (tmp_path / "seq").write_text("\n".join(" ".join(line) for line in corpus(3)))
    for name in ("a.json", "b.json"):
        assert run_teller("tpe-train", "--symbols", tmp_path / "seq", "-o", tmp_path / name).returncode == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


GOOD = {"format": "teller.tpe", "version": 1, "vocab_size": 20, "options": {"of": "symbols"},
        "specials": ["<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "<ghost>"], "symbols": ["a", "b"],
        "merges": [[6, 7], [8, 8]]}


@pytest.mark.parametrize("change", [
    {"format": "x"}, {"version": 2}, {"version": "1"}, {"vocab_size": 10**18}, {"vocab_size": -5}, {"vocab_size": 9},
    {"vocab_size": 1e3}, {"specials": []}, {"specials": 7}, {"symbols": ["a", "a"]}, {"symbols": [""]}, {"symbols": {}},
    {"symbols": ["s%d" % i for i in range(15)]}, {"merges": [[6, 8], [8, 8]]}, {"merges": [[9, 6], [8, 8]]},
    {"merges": [[6, 7], [6, 7]]}, {"merges": [[6, 7, 8]]}, {"merges": [["6", 7]]}, {"merges": [[-1, 7]]}, {"merges": [[0, 7]]},
    {"merges": [[6.5, 7]]}, {"merges": [[2**40, 7]]}, {"merges": "x"}, {"options": []}, {"options": {"of": None}},
    {"vocab_size": 200, "merges": [[6, 6], *([[8 + i, 8 + i] for i in range(60)])]},
])
def test_hostile_vocabularies(change: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "seq").write_text("a b a b\n")
    (tmp_path / "tpe.json").write_text(json.dumps({**GOOD, **change}))
    done = run_teller("encode", "--symbols", tmp_path / "seq", "--vocab", tmp_path / "tpe.json", timeout=20)
    expect_one_line(done, 4, 5, says="tpe.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\0\0", "[" * 100000, '{"format":"teller.tpe"}'])
def test_what_is_no_vocabulary(text: str, tmp_path: Path) -> None:
    (tmp_path / "seq").write_text("a b\n")
    (tmp_path / "tpe.json").write_text(text)
    expect_one_line(run_teller("encode", "--symbols", tmp_path / "seq", "--vocab", tmp_path / "tpe.json"), 4, 5, says="tpe.json")


def test_the_good_one_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "seq").write_text("a b a b zz\n\n")
    (tmp_path / "tpe.json").write_text(json.dumps(GOOD))
    done = run_teller("encode", "--symbols", tmp_path / "seq", "--vocab", tmp_path / "tpe.json", "--json")
    assert done.stdout == '{"input_ids": [9, 1]}\n{"input_ids": []}\n'


def test_decoded_names_cannot_steer_the_terminal(tmp_path: Path) -> None:
    names = ["\x1b[2J", "a\nteller: error: no", "\u202eb"]
    vocabulary = {**GOOD, "symbols": sorted(names, key=str.encode), "merges": []}
    (tmp_path / "tpe.json").write_text(json.dumps(vocabulary))
    (tmp_path / "ids").write_text('{"input_ids": [6, 7, 8]}\n')
    done = run_teller("encode", "--decode", tmp_path / "ids", "--vocab", tmp_path / "tpe.json")
    assert done.stdout == "\\x1b[2J a\\x0ateller: error: no \\u202eb\n", done.stderr


@pytest.mark.parametrize("content", [b"", b"\n\n", b"  \t \n", b"a \xff\xfe\n"])
def test_corpora_without_symbols(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "seq").write_bytes(content)
    expect_one_line(run_teller("tpe-train", "--symbols", tmp_path / "seq", "-o", tmp_path / "tpe.json"), 4, says="seq")
    assert not (tmp_path / "tpe.json").exists()


@pytest.mark.parametrize("args", [
    ["tpe-train", "-o", "x.json"], ["tpe-train", "run"], ["tpe-train", "--symbols", "f", "run", "-o", "x.json"],
    ["tpe-train", "--symbols", "f", "-o", "x.json", "--vocab-size", "0"],
    ["tpe-train", "--symbols", "f", "-o", "x.json", "--vocab-size", "70000"],
    ["tpe-train", "--symbols", "f", "-o", "x.json", "--vocab-size", "99999999999"],
    ["tpe-train", "run", "-o", "x.json", "--vocab-size", "15"], ["tpe-train", "run", "-o", "x.json", "--view", "both ways"],
    ["encode", "run"], ["encode", "--vocab", "v"], ["encode", "run", "--vocab", "v", "--symbols", "f"],
    ["encode", "run", "--vocab", "v", "--plain", "--protected"],
])
def test_what_makes_no_sense(args: list[str], tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a b\n")
    expect_one_line(run_teller(*args, cwd=tmp_path), 2)
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_a_place_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "seq").write_text("a b\n")
    expect_one_line(run_teller("tpe-train", "--symbols", tmp_path / "seq", "-o", tmp_path / "none/tpe.json"), 3, says="none")
    expect_one_line(run_teller("tpe-train", "--symbols", tmp_path / "none", "-o", tmp_path / "tpe.json"), 3, says="none")


def test_interrupted_it_leaves_the_old_file(tmp_path: Path) -> None:
    """Whenever the signal comes, the vocabulary is the old one or the new one."""
    (tmp_path / "seq").write_text("a b c d e f " * 400000 + "\n")
    (tmp_path / "tpe.json").write_text("old")
    process = subprocess.Popen([teller_binary(), "tpe-train", "--symbols", tmp_path / "seq", "-o", tmp_path / "tpe.json"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.wait(60)
    text = (tmp_path / "tpe.json").read_text()
    assert text == "old" or json.loads(text)["format"] == "teller.tpe"
