"""HTTP in front of the engine: POST /v1/completions, GET /health."""

from __future__ import annotations

import itertools
import json
import logging
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from examples.demo_engine import tokenizer
from examples.demo_engine.engine import Engine, EngineClosedError, InvalidRequestError

logger = logging.getLogger(__name__)

_GOOD_ID = re.compile(r"[\w.:-]{1,128}", re.ASCII)
_MAX_BODY_BYTES = 1 << 20


class Server(ThreadingHTTPServer):
    """An HTTP server, and the thread in which its engine runs."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, engine: Engine, host: str = "127.0.0.1", port: int = 0) -> None:
        super().__init__((host, port), Handler)
        self.engine = engine
        self.fresh_ids = itertools.count()
        self._stop = threading.Event()
        self._engine_thread = threading.Thread(target=self._run_engine, name="engine")
        self._http_thread = threading.Thread(target=self.serve_forever, args=(0.05,), name="http")

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self.server_address[1]

    @property
    def is_healthy(self) -> bool:
        """Whether the engine can still answer."""
        return self._engine_thread.is_alive()

    def start(self) -> None:
        """Begins to serve; returns at once."""
        logger.info("Listening on http://127.0.0.1:%d", self.port)
        self._engine_thread.start()
        self._http_thread.start()

    def stop(self) -> None:
        """Ends both threads; requests in flight are told so."""
        self._stop.set()
        self.engine.wake()
        self.shutdown()
        self._engine_thread.join()
        self._http_thread.join()
        self.server_close()

    def _run_engine(self) -> None:
        self.engine.run_until(self._stop)


class Handler(BaseHTTPRequestHandler):
    """One HTTP connection."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answers /health."""
        if self.path != "/health":
            self._reply(404, {"error": f"no such path: {self.path}"})
        elif self.server.is_healthy:
            self._reply(200, {"status": "ok"})
        else:
            self._reply(503, {"error": "the engine is not running"})

    def do_POST(self) -> None:
        """Answers /v1/completions."""
        try:
            body = self._read_json()
            if self.path != "/v1/completions":
                self._reply(404, {"error": f"no such path: {self.path}"})
                return
            self._reply(*self.complete(self._request_id(), body))
        except InvalidRequestError as error:
            self._reply(400, {"error": str(error)})
        except EngineClosedError as error:
            self._reply(503, {"error": str(error)})

    def complete(self, request_id: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Runs one completion; returns status and answer."""
        prompt = self.read_prompt(body)
        max_tokens = body.get("max_tokens", 16)
        if type(max_tokens) is not int:
            raise InvalidRequestError("max_tokens must be an integer")
        request = self.server.engine.add_request(request_id, prompt, max_tokens)
        request.done.wait()
        if request.error:
            return 503, {"error": request.error}
        return 200, self.write_answer(request_id, prompt, request.output)

    def read_prompt(self, body: dict[str, Any]) -> list[int]:
        """Returns the prompt's tokens; a prompt is text or a list of tokens."""
        prompt = body.get("prompt")
        if isinstance(prompt, str):
            return tokenizer.encode(prompt)
        if isinstance(prompt, list) and all(type(token) is int for token in prompt):
            return prompt
        raise InvalidRequestError("prompt must be text or a list of token ids")

    def write_answer(self, request_id: str, prompt: list[int], output: list[int]) -> dict[str, Any]:
        """Returns the answer in the usual form, token ids beside the text."""
        choice = {
            "index": 0,
            "text": tokenizer.decode(output),
            "token_ids": output,
            "finish_reason": "length",
        }
        usage = {
            "prompt_tokens": len(prompt),
            "completion_tokens": len(output),
            "total_tokens": len(prompt) + len(output),
        }
        return {"id": request_id, "object": "text_completion", "choices": [choice], "usage": usage}

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps the access log out of the way of the engine's lines."""
        logger.debug(format, *args)

    def _request_id(self) -> str:
        request_id = self.headers.get("X-Request-Id")
        if request_id is None:
            return f"cmpl-{next(self.server.fresh_ids)}"
        if not _GOOD_ID.fullmatch(request_id):
            raise InvalidRequestError(
                "X-Request-Id must be 1 to 128 letters, digits or one of _ . : -"
            )
        return request_id

    def _read_json(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _MAX_BODY_BYTES:
            # The body stays unread, so nothing after it on this connection could be understood.
            self.close_connection = True
            raise InvalidRequestError(f"Content-Length must be a number up to {_MAX_BODY_BYTES}")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except ValueError as error:
            raise InvalidRequestError(f"the body is not JSON: {error}") from None
        if not isinstance(body, dict):
            raise InvalidRequestError("the body must be a JSON object")
        return body

    def _reply(self, status: int, answer: dict[str, Any]) -> None:
        payload = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)
