"""A hub on the loopback interface: the part of its protocol that fetching a model uses.

Small files have a git SHA-1 as ETag and are served behind a redirect on the same host; large
ones have a SHA-256 and lie on another host, as on the real one. Tests turn the knobs.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
NEXT_COMMIT = "fedcba9876543210fedcba9876543210fedcba98"
LARGE = 4096
RESOLVE = re.compile(r"/(?P<repo>[^/]+/[^/]+)/resolve/(?P<rev>[^/]+)/(?P<path>.+)")
CACHE = re.compile(r"/api/resolve-cache/models/(?P<repo>[^/]+/[^/]+)/(?P<rev>[^/]+)/(?P<path>.+)")


@dataclass
class Seen:
    """One request."""

    method: str
    path: str
    host: str
    headers: Message


@dataclass
class Hub:
    """Repositories, knobs, and what was asked."""

    files: dict[tuple[str, str], bytes] = field(default_factory=dict)
    """(repository, path) to content, at `commit`."""
    commit: str = COMMIT
    commits: set[str] = field(default_factory=lambda: {COMMIT})
    token: str | None = None
    """Only who shows it is let in."""
    refuses: int | None = None
    """Status for everything."""
    says_commit: bool = True
    tags: bool = True
    """False: ETags that are no digests, as a simple mirror gives."""
    ranges: bool = True
    instead: dict[str, bytes] = field(default_factory=dict)
    """Path to what is sent in the stead of the content that is announced."""
    cuts: dict[str, list[int]] = field(default_factory=dict)
    """Path to after how many bytes each coming download of it is cut."""
    stall: dict[str, tuple[int, threading.Event]] = field(default_factory=dict)
    """Path to after how many bytes a download waits for the event."""
    stalled: threading.Event = field(default_factory=threading.Event)
    seen: list[Seen] = field(default_factory=list)
    url: str = ""
    cdn: str = ""

    def add(self, repository: str, **files: bytes) -> None:
        """Publish files; `__` in a name is a slash, `_dot_` a full stop."""
        for name, content in files.items():
            self.files[repository, name.replace("__", "/").replace("_dot_", ".")] = content

    def asked(self, method: str = "GET", part: str = "") -> list[Seen]:
        """The requests of a kind whose path has this part."""
        return [s for s in self.seen if s.method == method and part in s.path]


@contextmanager
def serving() -> Iterator[Hub]:
    """Run a hub and the host of its large files."""
    hub = Hub()
    with _server(hub) as url, _server(hub) as cdn:
        hub.url, hub.cdn = url, cdn
        yield hub


@contextmanager
def _server(hub: Hub) -> Iterator[str]:
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base names it so
        pass

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        hub = self.hub
        # As a proxy it is given whole addresses.
        path = unquote(urlsplit(self.path).path)
        seen = Seen(self.command, path, self.headers["Host"], self.headers)
        hub.seen.append(seen)
        if hub.refuses is not None:
            return self._status(hub.refuses)
        if path.startswith("/cdn/"):
            return self._content(path.removeprefix("/cdn/"), body=body)
        if found := CACHE.fullmatch(path):
            return self._small(found["repo"], found["path"], body=body)
        found = RESOLVE.fullmatch(path)
        if found is None:
            return self._status(404)
        shown = self.headers.get("Authorization")
        if hub.token is not None and shown != f"Bearer {hub.token}":
            return self._status(403 if shown else 401, {"X-Error-Code": "GatedRepo"})
        if found["rev"] not in {"main", *hub.commits}:
            return self._status(404, {"X-Error-Code": "RevisionNotFound"})
        content = hub.files.get((found["repo"], found["path"]))
        if content is None:
            return self._status(404, {"X-Error-Code": "EntryNotFound"})
        if len(content) < LARGE:
            return self._status(
                307,
                {
                    "Location": f"/api/resolve-cache/models/{found['repo']}/{hub.commit}"
                    f"/{found['path']}",
                    **self._commit(),
                },
            )
        etag = hashlib.sha256(content).hexdigest() if hub.tags else "large-1"
        return self._status(
            302,
            {
                "Location": f"{hub.cdn}/cdn/{found['repo']}/{found['path']}",
                "X-Linked-Etag": f'"{etag}"',
                "X-Linked-Size": str(len(content)),
                **self._commit(),
            },
        )

    def _commit(self) -> dict[str, str]:
        return {"X-Repo-Commit": self.hub.commit} if self.hub.says_commit else {}

    def _small(self, repository: str, path: str, *, body: bool) -> None:
        content = self.hub.files[repository, path]
        blob = b"blob %d\0" % len(content) + content
        tag = hashlib.sha1(blob, usedforsecurity=False).hexdigest() if self.hub.tags else "small-1"
        headers = {"ETag": f'"{tag}"', **self._commit()}
        self._content(f"{repository}/{path}", body=body, headers=headers)

    def _content(self, place: str, *, body: bool, headers: dict[str, str] | None = None) -> None:
        owner, name, path = place.split("/", 2)
        content = self.hub.files[f"{owner}/{name}", path]
        content = self.hub.instead.get(path, content) if body else content
        start = 0
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if wanted and self.hub.ranges:
            start = int(wanted[1])
            if start >= len(content):
                return self._status(416)
        self.send_response(206 if start else 200)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if body:
            self._send(path, content[start:])
        return None

    def _send(self, path: str, content: bytes) -> None:
        cuts = self.hub.cuts.get(path)
        if cuts:
            self.wfile.write(content[: cuts.pop(0)])
            self.wfile.flush()
            self.close_connection = True
            self.connection.close()
            return
        if path in self.hub.stall:
            length, event = self.hub.stall[path]
            self.wfile.write(content[:length])
            self.wfile.flush()
            self.hub.stalled.set()
            event.wait(30)
            content = content[length:]
        try:
            self.wfile.write(content)
        except OSError:
            pass  # whoever asked is gone; that is what some tests are about

    def _status(self, status: int, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", "0")
        self.end_headers()
