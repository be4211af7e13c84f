"""A load: seeded requests from a fixed number of clients, each sending one after another.

Closed clients keep the same number of requests in flight on fast and slow machines alike.
"""

from __future__ import annotations

import http.client
import json
import queue
import random
import threading
import time
from dataclasses import dataclass

from examples.demo_engine import tokenizer
from examples.demo_engine.engine import Engine
from examples.demo_engine.request import Request

_WORDS = "the engine reads a prompt and writes one token after another till it stops".split()


@dataclass(frozen=True)
class LoadConfig:
    """What to send. All requests live long enough to be compared with others over many steps."""

    requests: int = 16
    clients: int = 8
    seed: int = 0
    prompt_tokens: tuple[int, int] = (160, 288)
    output_tokens: tuple[int, int] = (84, 108)
    max_pause_s: float = 0.25
    """A client thinks up to this long before each request."""


@dataclass(frozen=True)
class PlannedRequest:
    """One request of the load, and how long its client waits before sending it."""

    id: str
    prompt: str
    max_tokens: int
    pause_s: float


@dataclass(frozen=True)
class Answer:
    """What came of a request."""

    id: str
    tokens: list[int]
    latency_s: float
    error: str | None = None


def plan_load(config: LoadConfig) -> list[PlannedRequest]:
    """Returns the requests `req-0`, `req-1`, …: the same for the same configuration."""
    rng = random.Random(config.seed)
    return [
        PlannedRequest(
            id=f"req-{index}",
            prompt=_make_prompt(rng, rng.randint(*config.prompt_tokens)),
            max_tokens=rng.randint(*config.output_tokens),
            pause_s=rng.uniform(0, config.max_pause_s),
        )
        for index in range(config.requests)
    ]


def run_http(plan: list[PlannedRequest], clients: int, port: int) -> list[Answer]:
    """Sends the plan from `clients` threads; returns the answers in the plan's order."""
    waiting: queue.SimpleQueue[PlannedRequest] = queue.SimpleQueue()
    for planned in plan:
        waiting.put(planned)
    answers: dict[str, Answer] = {}

    def send_until_empty() -> None:
        while True:
            try:
                planned = waiting.get_nowait()
            except queue.Empty:
                return
            time.sleep(planned.pause_s)
            answers[planned.id] = _send(planned, port)

    threads = [threading.Thread(target=send_until_empty, name="client") for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[planned.id] for planned in plan]


def run_offline(plan: list[PlannedRequest], clients: int, engine: Engine) -> list[Answer]:
    """Drives the engine in this thread, without HTTP or pauses: the same steps every time."""
    pending = list(reversed(plan))
    in_flight: dict[str, Request] = {}
    answers: dict[str, Answer] = {}
    while pending or in_flight:
        # One arrival a step, as real arrivals hardly ever share one.
        if pending and len(in_flight) < clients:
            planned = pending.pop()
            prompt = tokenizer.encode(planned.prompt)
            in_flight[planned.id] = engine.add_request(planned.id, prompt, planned.max_tokens)
        for request in engine.step():
            latency_s = time.monotonic() - request.arrived_at
            answers[request.id] = Answer(request.id, request.output, latency_s)
            del in_flight[request.id]
    return [answers[planned.id] for planned in plan]


def _make_prompt(rng: random.Random, length: int) -> str:
    text = ""
    while len(text) < length:
        text += rng.choice(_WORDS) + " "
    return text[:length]


def _send(planned: PlannedRequest, port: int) -> Answer:
    begin = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    try:
        body = json.dumps({"prompt": planned.prompt, "max_tokens": planned.max_tokens})
        connection.request("POST", "/v1/completions", body, {"X-Request-Id": planned.id})
        response = connection.getresponse()
        answer = json.loads(response.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        return Answer(planned.id, [], time.monotonic() - begin, f"no answer: {error}")
    finally:
        connection.close()
    latency_s = time.monotonic() - begin
    if response.status != 200:
        return Answer(planned.id, [], latency_s, f"HTTP {response.status}: {answer.get('error')}")
    return Answer(planned.id, answer["choices"][0]["token_ids"], latency_s)
