"""The server against clients that lie, shout and leave."""

from __future__ import annotations

import http.client
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from server_process import command, environment, served

from consolidate.errors import InputError
from consolidate.server.http import MOST_BYTES, check_exposure, is_loopback
from consolidate.store import Store
from consolidate.types import NewFact

pytest.importorskip("mcp", reason="the server needs the package mcp")

TOKEN = "a-token-of-some-length"


def _hello(number: int = 1) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "0"},
        },
    }


def _post(address: str, body: bytes, *, path: str = "/mcp", **headers: str) -> tuple[int, bytes]:
    where = urlsplit(address)
    assert where.hostname is not None
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    } | {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request("POST", path, body, sent)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _get(address: str, path: str) -> tuple[int, bytes]:
    where = urlsplit(address)
    assert where.hostname is not None
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_what_is_no_protocol_is_refused_and_hurts_nobody(tmp_path: Path) -> None:
    hello = json.dumps(_hello()).encode()
    with served(tmp_path / "m.db") as (address, process):
        assert _get(address, "/health") == (200, b'{"status":"ok"}')
        for body in (b"", b"{", b"\xff\xfe", b"[]", b'{"jsonrpc":"1.0"}', b"null"):
            assert 400 <= _post(address, body)[0] < 500
        assert _post(address, b"x" * (MOST_BYTES + 1))[0] == 413
        assert _post(address, hello, Host="evil.example")[0] in (403, 421)
        assert _post(address, hello, Origin="http://evil.example")[0] == 403
        assert _post(address, b"{}", path="/nowhere")[0] == 404
        assert process.poll() is None
        assert _post(address, hello)[0] == 200


def test_without_the_token_nobody_comes_in(tmp_path: Path) -> None:
    env = environment(tmp_path, CONSOLIDATE_TOKEN=TOKEN)
    hello = json.dumps(_hello()).encode()
    with served(tmp_path / "m.db", env=env) as (address, _):
        assert _get(address, "/health")[0] == 200
        assert _post(address, hello)[0] == 401
        assert _post(address, hello, Authorization="Bearer wrong")[0] == 401
        assert _post(address, hello, Authorization=TOKEN)[0] == 401
        assert _get(address, "/sse")[0] == 401
        assert _post(address, hello, Authorization=f"Bearer {TOKEN}")[0] == 200


def test_another_address_than_loopback_demands_a_token(tmp_path: Path) -> None:
    done = subprocess.run(
        command(tmp_path / "m.db", "--transport", "http", "--host", "0.0.0.0", "--port", "0"),
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "needs a token" in done.stderr
    with pytest.raises(InputError, match="characters"):
        check_exposure("127.0.0.1", "short")
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert is_loopback("localhost")
    assert not is_loopback("192.0.2.7")


def test_standard_output_carries_the_protocol_and_nothing_else(tmp_path: Path) -> None:
    """A client that sends rubbish over stdio gets answers, each a line of JSON."""
    calls = [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        _call(2, "no_such_tool", {}),
        _call(3, "recall_memories", {"query": "\x1b[31m' OR 1=1 -- NEAR("}),
        _call(4, "recall_memories", {"query": ["x"]}),
        _call(5, "store_memory", {"content": "a\u0000b"}),
        {"jsonrpc": "2.0", "id": 6, "method": "no/such/method"},
        _call(7, "recall_memories", {"query": "still there"}),
    ]
    lines = [json.dumps(_hello()), "not json", "[]", *(json.dumps(each) for each in calls)]
    process = subprocess.Popen(
        command(tmp_path / "m.db"),
        env=environment(tmp_path),
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    answers: list[dict[str, Any]] = []
    with process:
        process.stdin.write("\n".join(lines) + "\n")
        process.stdin.flush()
        waiting = {1, 2, 3, 4, 5, 6, 7}
        while waiting:
            answers.append(json.loads(process.stdout.readline()))
            waiting.discard(answers[-1].get("id"))
        process.stdin.close()  # whoever hangs up ends the server
        assert process.stdout.read() == ""
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    by_id = {answer["id"]: answer for answer in answers if answer.get("id") is not None}
    assert by_id[2]["result"]["isError"]
    assert not by_id[3]["result"].get("isError")
    assert by_id[4]["result"]["isError"]
    assert by_id[5]["result"]["isError"]
    assert "error" in by_id[6]
    assert not by_id[7]["result"].get("isError")


def _call(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }


def _filled(database: Path, count: int = 1500) -> None:
    """A store whose first run takes a while: many texts, many pairs."""
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    with Store.open(database) as store:
        texts = [
            f"Ada runs job {number} of plant {number % 40} at night." for number in range(count)
        ]
        store.add([NewFact(text=text, stated_at=now) for text in texts], now=now)
        # and one thing to decide
        store.add([NewFact(text=texts[0], stated_at=now - timedelta(days=1))], now=now)


@contextmanager
def _running(
    database: Path,
) -> Iterator[tuple[subprocess.Popen[str], Callable[[], dict[str, Any]]]]:
    """A server over stdio that is in the middle of call number 2, a run."""
    process = subprocess.Popen(
        command(database),
        env=environment(database.parent),
        cwd=database.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    call = _call(2, "run", {})
    call["params"]["_meta"] = {"progressToken": "p"}
    heard = process.stdout

    def answer() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(heard.readline())
        return found

    with process:
        for each in (_hello(), {"jsonrpc": "2.0", "method": "notifications/initialized"}, call):
            process.stdin.write(json.dumps(each) + "\n")
        process.stdin.flush()
        while answer().get("method") != "notifications/progress":
            pass
        yield process, answer
        process.kill()


def test_a_server_killed_during_a_run_leaves_the_store_whole(tmp_path: Path) -> None:
    database = tmp_path / "m.db"
    _filled(database)
    with _running(database) as (process, _):
        process.kill()
        process.wait(timeout=60)
    with Store.open(database) as store:
        assert store.check() == []
        assert store.runs() == []


def test_a_cancelled_run_ends_and_leaves_nothing(tmp_path: Path) -> None:
    database = tmp_path / "m.db"
    _filled(database)
    with _running(database) as (process, answer):
        assert process.stdin is not None
        cancel = {"requestId": 2, "reason": "no longer wanted"}
        for each in (
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel},
            # The lease is free again, or this would be refused as busy
            _call(3, "run", {}),
        ):
            process.stdin.write(json.dumps(each) + "\n")
        process.stdin.flush()
        while (told := answer()).get("id") != 3:
            assert told.get("id") != 2 or "error" in told or told["result"]["isError"]
        while told["result"].get("isError"):
            # The cancelled call leaves at its next step, and until then holds the lease
            assert told["result"]["structuredContent"]["error"]["code"] == "busy"
            process.stdin.write(json.dumps(_call(4, "run", {})) + "\n")
            process.stdin.flush()
            while (told := answer()).get("id") != 4:
                pass
    with Store.open(database) as store:
        assert store.check() == []
        assert len(store.runs()) == 1


def test_who_calls_too_often_is_told_to_wait(tmp_path: Path) -> None:
    hello = json.dumps(_hello()).encode()
    with served(tmp_path / "m.db", "--calls-a-minute", "5") as (address, _):
        codes = [_post(address, hello)[0] for _ in range(8)]
        assert codes[:5] == [200] * 5
        assert 429 in codes[5:]
        where = urlsplit(address)
        assert where.hostname is not None
        connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
        connection.request("GET", "/health")
        answer = connection.getresponse()
        assert answer.status == 429
        assert int(answer.headers["retry-after"]) == 12
        connection.close()


def test_variables_of_hippo_are_read_with_a_note(tmp_path: Path) -> None:
    env = environment(tmp_path, HIPPO_TRANSPORT="http", HIPPO_PORT="0")
    process = subprocess.Popen(
        command(tmp_path / "m.db"),
        env=env,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stderr is not None
    with process:
        assert "HIPPO_TRANSPORT" in process.stderr.readline()
        assert "listening at " in process.stderr.readline()
        process.terminate()
