"""Sends concurrent requests to an OpenAI server and prints what came back: serve_client.py PORT MODEL COUNT."""
from __future__ import annotations

import json
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor


def ask(port: int, model: str, number: int) -> dict:
    """One completion of a request that names itself."""
    body = {"model": model, "prompt": [3 + (11 * number + i) % 250 for i in range(12 + 3 * number)], "max_tokens": 6 + number,
            "temperature": 0, "ignore_eos": True}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/completions", json.dumps(body).encode(),
                                     {"Content-Type": "application/json", "X-Request-Id": f"mine-{number}"})
    with urllib.request.urlopen(request, timeout=120) as response:
        answer = json.load(response)
    return {"id": answer["id"], "text": answer["choices"][0]["text"], "usage": answer["usage"]}


def ask_all(port: int, model: str, count: int) -> list:
    """All of them at once."""
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda number: ask(port, model, number), range(count)))


if __name__ == "__main__":
    print(json.dumps(ask_all(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
