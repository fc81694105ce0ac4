"""A server on this machine that speaks the three APIs, as far as the clients use them.

It answers from a script: for each request the next step, then for ever the last one. A step says
what the model writes, or how the server misbehaves.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = [
    "Cut",
    "Drop",
    "LlmServer",
    "Request",
    "Slow",
    "Status",
    "Step",
    "Text",
    "answer_all",
    "serving",
    "vectors_of",
]


@dataclass(frozen=True)
class Request:
    """One request as it came in."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def task(self) -> str:
        """The instruction part of the prompt."""
        if "system" in self.body:
            return str(self.body["system"])
        return str(self.body["messages"][0]["content"])

    @property
    def data(self) -> str:
        """The data part of the prompt."""
        return str(self.body["messages"][-1]["content"])

    @property
    def items(self) -> list[dict[str, Any]]:
        """The items asked about."""
        items: list[dict[str, Any]] = json.loads(self.data)["items"]
        return items


@dataclass(frozen=True)
class Text:
    """The model writes this, whole."""

    text: str
    finish: str = ""
    """Why it stopped, in the API's words; empty is that it was done."""
    usage: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Status:
    """An HTTP status instead of an answer."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = '{"error": {"message": "told to fail"}}'
    kind: str = "application/json"


@dataclass(frozen=True)
class Cut:
    """The connection ends in the middle of the answer."""


@dataclass(frozen=True)
class Drop:
    """The connection ends before an answer."""


@dataclass(frozen=True)
class Slow:
    """Nothing comes until the test ends."""


Answer = Callable[[Request], str]
Step = Text | Status | Cut | Drop | Slow | Answer


def answer_all(**labels: Any) -> Answer:
    """Answer every item of a prompt with these properties."""
    return lambda request: json.dumps(
        {"answers": [{"id": item["id"], **labels} for item in request.items]}
    )


def vectors_of(texts: Sequence[str], size: int = 8) -> list[list[float]]:
    """Vectors that depend on the letters of a text alone."""
    return [
        [float(sum(ord(c) for c in text[index::size]) % 97 + 1) for index in range(size)]
        for text in texts
    ]


class LlmServer:
    """See the module. `requests` holds what came in."""

    def __init__(self, *steps: Step) -> None:
        self.requests: list[Request] = []
        self.vectors: Callable[[Sequence[str]], Any] = vectors_of
        self.embed_step: Callable[[Request], Step | None] = lambda request: None
        self._steps = list(steps)
        self._lock = threading.Lock()
        self.release = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = False  # server_close waits for them: none is left behind
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}
        )

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def start(self) -> None:
        self._thread.start()

    def stop_listening(self) -> None:
        """Go away: the next connection is refused."""
        self.release.set()
        if self._thread.is_alive():
            self._http.shutdown()
            self._http.server_close()
            self._thread.join()

    stop = stop_listening

    def answer_with(self, *steps: Step) -> None:
        """Go on with another script."""
        with self._lock:
            self._steps = list(steps)

    def next_step(self, request: Request) -> Step:
        with self._lock:
            self.requests.append(request)
            if request.path.endswith(("/embed", "/embeddings")):
                return self.embed_step(request) or Text("")
            return self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"  # one request a connection: no idle threads to wait for

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Say nothing."""

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(length).decode("utf-8"))
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(path=self.path, body=body, headers=headers)
                step = server.next_step(request)
                if isinstance(step, Slow):
                    server.release.wait(60)
                elif isinstance(step, Status):
                    self.reply(step.status, step.body.encode(), step.headers, step.kind)
                elif isinstance(step, Cut):
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", "1000")
                    self.end_headers()
                    self.wfile.write(b'{"model": "m", "mess')
                elif not isinstance(step, Drop):
                    said = step if isinstance(step, Text) else Text(step(request))
                    # As a server would: escapes carry what is no UTF-8 by itself.
                    self.reply(200, json.dumps(server.envelope(request, said)).encode())

            def reply(
                self,
                status: int,
                body: bytes,
                headers: Mapping[str, str] | None = None,
                kind: str = "application/json",
            ) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        return Handler

    def envelope(self, request: Request, said: Text) -> dict[str, Any]:
        """An answer in the form of the API that was asked."""
        path, body = request.path, request.body
        if path == "/api/chat":
            message = {"role": "assistant", "content": said.text}
            done = {"done": True, "done_reason": said.finish or "stop"}
            counts = {"prompt_eval_count": 100, "eval_count": 10}
            return {"model": body["model"], "message": message, **done, **counts}
        if path == "/api/embed":
            vectors = self.vectors(body["input"])
            return {"model": body["model"], "embeddings": vectors, "prompt_eval_count": 5}
        if path == "/v1/chat/completions":
            choice = {
                "index": 0,
                "message": {"role": "assistant", "content": said.text},
                "finish_reason": said.finish or "stop",
            }
            counts = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
            head = {"id": "c", "object": "chat.completion", "created": 0, "model": body["model"]}
            return {**head, "choices": [choice], "usage": counts | dict(said.usage)}
        if path == "/v1/embeddings":
            rows = [
                {"object": "embedding", "index": index, "embedding": row}
                for index, row in enumerate(self.vectors(body["input"]))
            ]
            rows.reverse()  # the numbers count, not the order
            counts = {"prompt_tokens": 5, "total_tokens": 5}
            return {"object": "list", "data": rows, "model": body["model"], "usage": counts}
        assert path == "/v1/messages", path
        try:
            value = json.loads(said.text)
        except ValueError:
            value = None
        # The API parses what the model writes into the tool; what it can't parse comes as text.
        block: dict[str, Any] = {"type": "text", "text": said.text}
        if isinstance(value, dict):
            block = {"type": "tool_use", "id": "t", "name": "answer", "input": value}
        return {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [block],
            "stop_reason": said.finish or ("tool_use" if value is not None else "end_turn"),
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 10},
        }


@contextmanager
def serving(*steps: Step) -> Iterator[LlmServer]:
    """A server that runs while the block does."""
    server = LlmServer(*steps)
    server.start()
    try:
        yield server
    finally:
        server.stop()
