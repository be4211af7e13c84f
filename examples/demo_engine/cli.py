"""The command line: serve a generated load and stop, or serve until told to stop."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import threading
from pathlib import Path

from examples.demo_engine import faults
from examples.demo_engine.engine import Engine, EngineConfig
from examples.demo_engine.load import Answer, LoadConfig, plan_load, run_http, run_offline
from examples.demo_engine.server import Server


def main(arguments: list[str] | None = None) -> int:
    """Runs the program; returns its exit status."""
    options = _parse(arguments)
    try:
        switch = faults.read_switch(os.environ)
    except faults.BadSwitchError as error:
        print(error, file=sys.stderr)
        return 2
    _set_up_logging()
    engine = Engine(
        EngineConfig(threads=options.threads),
        faults.make_policy(switch),
        faults.make_kernel_choice(switch),
    )
    engine.warm_up()
    status = _serve(engine, options.port) if options.serve else _run_load(engine, options)
    if switch.request_id and switch.request_id not in engine.seen_ids:
        print(f"DEMO_REQUEST={switch.request_id}: no such request came", file=sys.stderr)
    if options.ledger:
        options.ledger.write_text(json.dumps(engine.ledger.report(), indent=1) + "\n")
    return status


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m examples.demo_engine",
        description="A small LLM serving engine on CPU. Serves a generated load and stops.",
    )
    load = LoadConfig()
    number = parser.add_argument
    number("--requests", type=_positive, default=load.requests, help="how many (%(default)s)")
    number("--clients", type=_positive, default=load.clients, help="at a time (%(default)s)")
    number("--seed", type=int, default=load.seed, help="of prompts, lengths, pauses (%(default)s)")
    number("--port", type=int, default=0, help="to listen on, on loopback (a free one)")
    number("--threads", type=_positive, default=1, help="of PyTorch (%(default)s)")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="for the engine's own counts")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--offline", action="store_true", help="drive the engine without HTTP")
    mode.add_argument("--serve", action="store_true", help="send no load, serve until SIGTERM")
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _set_up_logging() -> None:
    logging.basicConfig(
        level=logging.INFO,
        format="%(levelname)s %(asctime)s [%(filename)s:%(lineno)d] %(message)s",
        datefmt="%m-%d %H:%M:%S",
        stream=sys.stderr,
    )


def _serve(engine: Engine, port: int) -> int:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    server = _make_server(engine, port)
    server.start()
    print(f"serving on http://127.0.0.1:{server.port}", flush=True)
    # A wait without limit would do, but then nobody would notice an engine that failed.
    while server.is_healthy and not stop.wait(0.5):
        pass
    failed = not server.is_healthy
    server.stop()
    return int(failed)


def _make_server(engine: Engine, port: int) -> Server:
    try:
        return Server(engine, port=port)
    except (OSError, OverflowError) as error:
        sys.exit(f"listening on port {port}: {error}")


def _run_load(engine: Engine, options: argparse.Namespace) -> int:
    config = LoadConfig(requests=options.requests, clients=options.clients, seed=options.seed)
    plan = plan_load(config)
    if options.offline:
        answers = run_offline(plan, config.clients, engine)
    else:
        server = _make_server(engine, options.port)
        server.start()
        try:
            answers = run_http(plan, config.clients, server.port)
        finally:
            server.stop()
    return _print_answers(answers, engine.ledger.steps)


def _print_answers(answers: list[Answer], steps: int) -> int:
    for answer in answers:
        result = answer.error or f"{len(answer.tokens)} tokens"
        print(f"{answer.id}: {result}, {answer.latency_s:.2f} s")
    failed = sum(answer.error is not None for answer in answers)
    print(f"{len(answers)} requests, {failed} failed, {steps} steps", flush=True)
    return int(failed > 0)
