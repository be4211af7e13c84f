"""Runs one peer once: `peers.py NAME FILE VOCAB_SIZE` prints {"train_s", "encode_s", "tokens", "version"} as JSON.

FILE holds one sequence a line, one character per symbol. Each peer trains on one thread and encodes the lines that
stand in memory.
"""
from __future__ import annotations

import json
import os
import sys
import tempfile
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"


def hugging_face(path: str, vocab_size: int):
    import tokenizers
    from tokenizers import Tokenizer, models, trainers
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, min_frequency=2, special_tokens=["<unk>"], show_progress=False)
    begin = time.perf_counter()
    with open(path, encoding="utf-8") as lines:
        tokenizer.train_from_iterator((line.rstrip("\n") for line in lines), trainer)
    train = time.perf_counter() - begin
    return train, lambda lines: sum(len(e.ids) for e in tokenizer.encode_batch(lines)), tokenizers.__version__, tokenizer


def sentence_piece(path: str, vocab_size: int):
    import sentencepiece
    model = os.path.join(tempfile.mkdtemp(), "m")
    begin = time.perf_counter()
    sentencepiece.SentencePieceTrainer.train(
        input=path, model_prefix=model, vocab_size=vocab_size, model_type="bpe", character_coverage=1.0, num_threads=1,
        max_sentence_length=1 << 24, normalization_rule_name="identity", add_dummy_prefix=False, max_sentencepiece_length=512,
        split_by_unicode_script=False, split_by_number=False, split_by_whitespace=False, minloglevel=2, hard_vocab_limit=False)
    train = time.perf_counter() - begin
    processor = sentencepiece.SentencePieceProcessor(model_file=model + ".model")
    return train, lambda lines: sum(map(len, processor.encode(lines, num_threads=1))), sentencepiece.__version__, None


def you_token_to_me(path: str, vocab_size: int):
    import youtokentome
    model = os.path.join(tempfile.mkdtemp(), "m")
    begin = time.perf_counter()
    bpe = youtokentome.BPE.train(data=path, model=model, vocab_size=vocab_size, coverage=1.0, n_threads=1)
    train = time.perf_counter() - begin
    bpe = youtokentome.BPE(model=model, n_threads=1)
    return train, lambda lines: sum(map(len, bpe.encode(lines))), "1.0.6", None


def tik_token(path: str, vocab_size: int):
    """Encodes with the merges that Hugging Face learnt; does not train."""
    import tiktoken
    tokenizer = hugging_face(path, vocab_size)[3]
    ranks = {token.encode(): i for token, i in tokenizer.get_vocab().items() if token != "<unk>"}
    ranks.update({bytes([i]): len(ranks) + 1000 + i for i in range(256) if bytes([i]) not in ranks})
    encoding = tiktoken.Encoding("bench", pat_str=r"[^\n]+", mergeable_ranks=ranks, special_tokens={})
    return None, lambda lines: sum(len(encoding.encode_ordinary(line)) for line in lines), tiktoken.__version__, None


PEERS = {"huggingface": hugging_face, "sentencepiece": sentence_piece, "youtokentome": you_token_to_me, "tiktoken": tik_token}


def main() -> None:
    """Runs the peer that is named."""
    name, path, vocab_size = sys.argv[1], sys.argv[2], int(sys.argv[3])
    train, encode, version, _ = PEERS[name](path, vocab_size)
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file]
    begin = time.perf_counter()
    tokens = encode(lines)
    print(json.dumps({"train_s": train, "encode_s": time.perf_counter() - begin, "tokens": tokens, "version": version}))


if __name__ == "__main__":
    main()
