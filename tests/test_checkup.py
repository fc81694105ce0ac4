"""The doctor: each check sees what it is for, and each trouble comes with a remedy."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from models_under_test import TINY_ENCODER, WEIGHTS

from consolidate import backends
from consolidate.backends.fake import FakeEmbedder
from consolidate.checkup import Check, Verdict, check_up
from consolidate.settings import Settings
from consolidate.silence import leaves_the_machine, watched
from consolidate.store import Store

NOW = datetime.now(UTC)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONSOLIDATE_MODELS", str(tmp_path / "models"))


def fakes(tmp_path: Path, **more: Any) -> Settings:
    names = {"embedder": "fake", "extractor": "fake", "classifier": "fake", **more}
    return Settings(db=tmp_path / "memory.db", **names)


def checks(settings: Settings, *, now: datetime = NOW) -> dict[str, Check]:
    found = {check.name: check for check in check_up(settings, now=now)}
    for check in found.values():
        assert check.remedy or check.verdict is Verdict.OK, check
    return found


def calling(monkeypatch: pytest.MonkeyPatch, address: tuple[str, int]) -> None:
    """Make the fake embedder open a connection."""

    class Calling(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            with socket.socket() as made:
                made.settimeout(0.01)
                made.connect_ex(address)
            return super().embed(texts)

    module = ModuleType("calling")
    module.embedder = lambda model, options: Calling()  # type: ignore[attr-defined]
    original: Callable[..., Any] = backends._backend

    def resolve(role: Any, backend: str, spec: str) -> Any:
        return module if backend == "calling" else original(role, backend, spec)

    monkeypatch.setattr(backends, "_backend", resolve)


def test_models_that_keep_to_themselves_are_called_silent(tmp_path: Path) -> None:
    network = checks(fakes(tmp_path, embedder=f"onnx:{TINY_ENCODER}"))["network"]
    assert network.verdict is Verdict.OK
    assert network.detail.startswith("silent")


def test_a_model_that_calls_out_is_found_with_its_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calling(monkeypatch, ("192.0.2.7", 443))
    network = checks(fakes(tmp_path, embedder="calling"))["network"]
    assert network.verdict is Verdict.FAIL
    assert "192.0.2.7:443" in network.detail


def test_a_model_that_calls_this_machine_is_worth_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calling(monkeypatch, ("127.0.0.1", 9))
    assert checks(fakes(tmp_path, embedder="calling"))["network"].verdict is Verdict.WARN


def test_a_server_that_was_chosen_is_no_trouble(tmp_path: Path) -> None:
    pytest.importorskip("ollama")
    found = checks(fakes(tmp_path, classifier="ollama:nobody", llm_base_url="http://127.0.0.1:9"))
    assert found["network"].verdict is Verdict.OK
    assert "ollama:nobody" in found["network"].detail


def test_addresses_of_this_machine_are_told_from_others() -> None:
    for address in ("127.0.0.1:80", "localhost", "a.localhost:1", "[::1]:5", "/run/x", "None"):
        assert not leaves_the_machine(address), address
    for address in ("192.0.2.1:80", "example.org", "[2001:db8::1]:443", "10.0.0.1:1", "an open"):
        assert leaves_the_machine(address), address


def test_nobody_is_heard_after_the_watch() -> None:
    with watched() as first:
        socket.getaddrinfo("127.0.0.1", 80)
    with watched() as second:
        pass
    socket.getaddrinfo("127.0.0.1", 80)
    assert first == ["127.0.0.1"]
    assert second == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="open sockets are listed on Linux")
def test_a_socket_that_stays_open_is_noticed() -> None:
    with watched() as seen:
        made = socket.socket()
    made.close()
    assert seen == ["an open socket"]


def test_a_clock_that_went_back_is_seen_by_the_file(tmp_path: Path) -> None:
    settings = fakes(tmp_path)
    Store.open(settings.database).close()
    assert checks(settings)["clock"].verdict is Verdict.OK
    later = (NOW + timedelta(days=3)).timestamp()
    os.utime(settings.database, (later, later))
    clock = checks(settings)["clock"]
    assert clock.verdict is Verdict.WARN
    assert "went back" in clock.remedy


def test_a_clock_without_a_battery_fails(tmp_path: Path) -> None:
    assert checks(fakes(tmp_path), now=datetime(1970, 1, 1, tzinfo=UTC))["clock"].verdict is (
        Verdict.FAIL
    )


def test_a_bundled_model_that_is_not_in_use_is_looked_at_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "weights"
    root.mkdir()
    for name in ("minilm", "judge"):
        (root / name).symlink_to(WEIGHTS / name)
    monkeypatch.setattr("consolidate.backends.files._weights_root", lambda: root)
    assert checks(fakes(tmp_path))["model files"].detail.startswith("2 bundled, 0 fetched")
    (root / "judge").unlink()
    (root / "judge").mkdir()
    for path in (WEIGHTS / "judge").iterdir():
        (root / "judge" / path.name).write_bytes(path.read_bytes()[:-1])
    (root / "judge" / "manifest.json").write_bytes((WEIGHTS / "judge/manifest.json").read_bytes())
    files = checks(fakes(tmp_path))["model files"]
    assert files.verdict is Verdict.FAIL
    assert "judge: " in files.detail and "model.onnx: expected" in files.detail


def test_a_folder_that_can_not_be_written_has_a_remedy(tmp_path: Path) -> None:
    settings = fakes(tmp_path)
    blocked = Settings(**{**settings.values(), "db": tmp_path})
    assert checks(blocked)["folder"].verdict is Verdict.FAIL
