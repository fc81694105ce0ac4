"""Watches whether anything in this process opens a connection.

Python tells its audit hooks of every address that is looked up or connected to, whichever library
asks. What native code does by itself is not told; for that, open sockets are counted where the
system lists them (Linux). Blocks nothing.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

__all__ = ["leaves_the_machine", "watched"]

_EVENTS: Final = ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo")
_DESCRIPTORS: Final = Path("/proc/self/fd")
_lock = threading.Lock()
# Hooks can't be taken out again, so there is one, and it does nothing while nobody watches.
_watchers: list[list[str]] = []
_hooked = False


@contextmanager
def watched() -> Iterator[list[str]]:
    """Give a list that is filled with each address asked for, such as `192.0.2.1:443`.

    Sockets that were opened without Python's knowledge and are still open at the end are in it as
    `an open socket`.
    """
    global _hooked
    seen: list[str] = []
    before = _open_sockets()
    with _lock:
        if not _hooked:
            sys.addaudithook(_hear)
            _hooked = True
        _watchers.append(seen)
    try:
        yield seen
    finally:
        with _lock:
            _watchers[:] = [each for each in _watchers if each is not seen]
        if not seen:
            seen.extend(["an open socket"] * len(_open_sockets() - before))


def leaves_the_machine(address: str) -> bool:
    """Whether an address is another machine's."""
    host, colon, port = address.rpartition(":")
    host = host.strip("[]") if colon and port.isdigit() and not host.endswith(":") else address
    if host in ("", "None", "localhost", "::1") or host.endswith(".localhost"):
        return False
    # A socket of Unix is a path, or, without a file, a name after a zero byte.
    return not host.startswith(("127.", "/", "\0"))


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watchers or event not in _EVENTS:
        return
    address = arguments[0] if event == "socket.getaddrinfo" else arguments[1]
    shown = str(address)
    if isinstance(address, tuple):
        host, port = str(address[0]), address[1]
        shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    for seen in list(_watchers):
        seen.append(shown)


def _open_sockets() -> set[str]:
    found = set()
    try:
        for entry in _DESCRIPTORS.iterdir():
            try:
                target = os.readlink(entry)  # noqa: PTH115 - the target is no path
            except OSError:  # closed in the meantime
                continue
            if target.startswith("socket:"):
                found.add(target)
    except OSError:  # not listed on this system
        return set()
    return found
