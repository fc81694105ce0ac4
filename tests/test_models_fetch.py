"""Fetching from a hub on this machine: what comes is checked, what was cut goes on."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli
from hub_server import COMMIT, NEXT_COMMIT, Hub, serving

from consolidate.errors import BackendError, InputError, ModelFilesError
from consolidate.fetching import Fetched, fetch
from consolidate.shelf import Shelf

DATA = Path(__file__).parent / "data"
REPO = "someone/tiny"
BIG = random.Random(5).randbytes(3_000_000)
ENTRY = """
[[model]]
name = "tiny-v1.5"
task = "feature-extraction"
source = "someone/tiny"
files = [
    {{ path = "config.json" }},
    {{ path = "tokenizer.json" }},
    {{ path = "onnx/model.onnx", as = "model.onnx"{model} }},
    {{ path = "1_Pooling/config.json", optional = true }},
]
{more}
"""


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serving() as made:
        made.add(
            REPO,
            config_dot_json=b'{"hidden_size": 8}',
            tokenizer_dot_json=b"{}",
            onnx__model_dot_onnx=BIG,
        )
        yield made


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    made = Shelf(tmp_path / "models")
    made.folder.mkdir()
    listed(made)
    return made


@pytest.fixture
def env(hub: Hub, tmp_path: Path) -> dict[str, str]:
    return {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf")}


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library waits a second before it asks again."""
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda seconds: None)


def listed(shelf: Shelf, *, model: str = "", more: str = "") -> None:
    text = ENTRY.format(model=model, more=more)
    (shelf.folder / "manifest.toml").write_text(text, encoding="utf-8")


def got(shelf: Shelf) -> dict[str, bytes]:
    folder = shelf.place("tiny-v1.5")
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in folder.rglob("*")
        if p.is_file() and p.name != "manifest.json"
    }


WHOLE = {"config.json": b'{"hidden_size": 8}', "tokenizer.json": b"{}", "model.onnx": BIG}


def get(shelf: Shelf, env: dict[str, str], **options: Any) -> Fetched:
    return fetch("tiny-v1.5", shelf=shelf, environ=env, **options)


def test_a_model_is_fetched_whole_and_placed(hub: Hub, shelf: Shelf, env: dict[str, str]) -> None:
    told: list[tuple[str, int, int]] = []
    done = get(shelf, env, progress=lambda *what: told.append(what))
    assert got(shelf) == WHOLE
    assert (done.revision, done.bytes) == (COMMIT, sum(map(len, WHOLE.values())))
    assert set(done.fetched) == set(WHOLE)
    assert ("model.onnx", len(BIG), len(BIG)) in told
    assert len([name for name, _, _ in told if name == "model.onnx"]) > 5
    assert shelf.names() == ("tiny-v1.5",)
    assert shelf.unfinished() == ()
    assert {p.name for p in shelf.folder.iterdir()} == {
        "manifest.toml", "tiny-v1.5", "tiny-v1.5.lock.json", ".tiny-v1.5.busy",
    }  # fmt: skip


def test_nothing_is_asked_of_the_hub_but_the_files(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    get(shelf, env)
    paths = {seen.path for seen in hub.seen}
    assert all("/resolve" in path or path.startswith("/cdn/") for path in paths), paths
    assert not hub.asked("GET", "/main/")
    agents = {seen.headers["User-Agent"] for seen in hub.seen}
    assert all(agent.startswith("consolidate/") and "agent/" not in agent for agent in agents)


def test_what_is_there_opens_no_connection(hub: Hub, shelf: Shelf, env: dict[str, str]) -> None:
    get(shelf, env)
    hub.seen.clear()
    assert get(shelf, env).fetched == ()
    assert hub.seen == []


def test_what_nobody_had_noted_is_noted_and_must_come_again(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    assert set(get(shelf, env).noted) == set(WHOLE)
    lock = json.loads(shelf.lock_file("tiny-v1.5").read_bytes())
    assert (lock["revision"], lock["absent"]) == (COMMIT, ["1_Pooling/config.json"])
    shelf.remove("tiny-v1.5")
    assert get(shelf, env).noted == ()
    # The repository moves on; the noted commit is what counts.
    hub.commit, hub.commits = NEXT_COMMIT, {COMMIT, NEXT_COMMIT}
    hub.files[REPO, "onnx/model.onnx"] = BIG[::-1]
    shelf.remove("tiny-v1.5")
    with pytest.raises(ModelFilesError, match=r"model.onnx of 'tiny-v1.5' changed: expected sha"):
        get(shelf, env)
    assert shelf.names() == ()
    shelf.remove("tiny-v1.5", forget=True)
    assert get(shelf, env).revision == NEXT_COMMIT


def test_a_pinned_digest_is_compared_before_and_after(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    listed(shelf, model=f', sha256 = "{"0" * 64}"')
    with pytest.raises(ModelFilesError, match=r"the hub has [0-9a-f]{64} at .*; nothing was"):
        get(shelf, env)
    assert hub.asked("GET") == []
    hub.tags = False
    with pytest.raises(ModelFilesError, match=r"gave something else than model\.onnx"):
        get(shelf, env)
    assert shelf.names() == ()


@pytest.mark.parametrize("path", ["onnx/model.onnx", "config.json"])
def test_wrong_bytes_of_the_right_size_are_thrown_away(
    hub: Hub, shelf: Shelf, env: dict[str, str], path: str
) -> None:
    hub.instead[path] = bytes(len(hub.files[REPO, path]))
    with pytest.raises(ModelFilesError, match="gave something else than"):
        get(shelf, env)
    assert shelf.names() == ()
    hub.instead.clear()
    get(shelf, env)
    assert got(shelf) == WHOLE


def test_a_cut_connection_goes_on_where_it_was_cut(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    hub.cuts["onnx/model.onnx"] = [1_000_000, 600_000]
    get(shelf, env)
    assert got(shelf) == WHOLE
    starts = [seen.headers.get("Range") for seen in hub.asked("GET", "/cdn/")]
    assert starts[0] is None
    assert all(start is not None for start in starts[1:])
    assert len(starts) == 3


def test_what_a_dead_connection_brought_is_kept_for_the_next_fetch(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    hub.cuts["onnx/model.onnx"] = [1_000_000, *[0] * 8]
    with pytest.raises(BackendError, match=r"786432 bytes are kept; the next fetch goes on there"):
        get(shelf, env)
    assert shelf.unfinished() == ("tiny-v1.5",)
    assert shelf.names() == ()
    hub.cuts.clear()
    hub.seen.clear()
    assert get(shelf, env).fetched == ("model.onnx",)
    assert [s.headers["Range"] for s in hub.asked("GET", "/cdn/")] == ["bytes=786432-"]
    assert got(shelf) == WHOLE


def test_a_server_without_ranges_sends_it_all_again(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    hub.cuts["onnx/model.onnx"] = [1_000_000]
    hub.ranges = False
    get(shelf, env)
    assert got(shelf) == WHOLE


def test_a_bad_beginning_is_noticed_and_fetched_again(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    hub.cuts["onnx/model.onnx"] = [1_000_000, *[0] * 8]
    with pytest.raises(BackendError):
        get(shelf, env)
    part = shelf.partial("tiny-v1.5") / "model.onnx.part"
    part.write_bytes(b"\0" * part.stat().st_size)
    hub.cuts.clear()
    get(shelf, env)
    assert got(shelf) == WHOLE


def test_a_cut_fetch_of_another_commit_is_begun_anew(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    hub.cuts["onnx/model.onnx"] = [1_000_000, *[0] * 8]
    with pytest.raises(BackendError):
        get(shelf, env)
    hub.cuts.clear()
    hub.commit, hub.commits = NEXT_COMMIT, {NEXT_COMMIT}
    listed(shelf, more="")
    text = ENTRY.replace("files = [", f'revision = "{NEXT_COMMIT}"\nfiles = [')
    (shelf.folder / "manifest.toml").write_text(text.format(model="", more=""), encoding="utf-8")
    hub.seen.clear()
    assert get(shelf, env).revision == NEXT_COMMIT
    assert [s.headers.get("Range") for s in hub.asked("GET", "/cdn/")] == [None]


def test_a_damaged_file_alone_is_fetched_again(hub: Hub, shelf: Shelf, env: dict[str, str]) -> None:
    get(shelf, env)
    (shelf.place("tiny-v1.5") / "config.json").write_bytes(b"{}")
    assert get(shelf, env).fetched == ("config.json",)
    assert got(shelf) == WHOLE


def test_an_optional_file_that_exists_comes_along(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    hub.add(REPO, **{"1_Pooling__config_dot_json": b'{"pooling_mode_cls_token": true}'})
    assert "1_Pooling/config.json" in get(shelf, env).fetched


def test_terms_that_were_not_accepted_are_explained(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    hub.token = "hf_right"
    with pytest.raises(BackendError) as raised:
        get(shelf, env)
    assert f"401, it wants to know who asks. Log in and accept the terms at {hub.url}/{REPO}" in (
        str(raised.value)
    )
    assert "set HF_TOKEN" in str(raised.value)
    with pytest.raises(BackendError, match="403, the token in HF_TOKEN is not allowed"):
        get(shelf, {**env, "HF_TOKEN": "hf_wrong"})
    get(shelf, {**env, "HF_TOKEN": "hf_right"})
    assert got(shelf) == WHOLE


def test_the_token_is_shown_to_the_hub_only(hub: Hub, shelf: Shelf, env: dict[str, str]) -> None:
    get(shelf, {**env, "HF_TOKEN": "hf_right"})
    for seen in hub.seen:
        assert ("Authorization" in seen.headers) == (not seen.path.startswith("/cdn/")), seen


def test_a_token_that_was_kept_by_a_login_is_used(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    hub.token = "hf_right"
    Path(env["HF_HOME"]).mkdir()
    Path(env["HF_HOME"], "token").write_text("hf_right\n", encoding="utf-8")
    with pytest.raises(BackendError, match="401"):
        get(shelf, {**env, "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"})
    get(shelf, env)
    assert got(shelf) == WHOLE


@pytest.mark.parametrize("name", ["HF_HUB_OFFLINE", "CONSOLIDATE_NO_NETWORK"])
def test_offline_means_no_connection(
    hub: Hub, shelf: Shelf, env: dict[str, str], name: str
) -> None:
    with pytest.raises(BackendError, match=f"{name}(.|\n)*is set") as raised:
        get(shelf, {**env, name: "1"})
    assert hub.seen == []
    place = shelf.place("tiny-v1.5") / "model.onnx"
    assert f"{hub.url}/{REPO}/resolve/main/onnx/model.onnx" in str(raised.value)
    assert str(place) in str(raised.value)


def test_without_a_network_it_is_said_what_to_do_by_hand(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    with pytest.raises(BackendError) as raised:
        get(shelf, {**env, "HF_ENDPOINT": "http://127.0.0.1:9"})
    message = str(raised.value)
    assert "config.json of 'tiny-v1.5' can't be had from http://127.0.0.1:9/" in message
    assert str(shelf.place("tiny-v1.5") / "config.json") in message
    assert message.endswith("consolidate models verify tiny-v1.5")


def test_files_put_there_by_hand_are_accepted_and_noted(shelf: Shelf) -> None:
    for name, content in WHOLE.items():
        path = shelf.place("tiny-v1.5") / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    assert shelf.names() == ()
    assert shelf.unchecked() == ("tiny-v1.5",)
    assert set(shelf.verify("tiny-v1.5").noted) == set(WHOLE)
    assert shelf.names() == ("tiny-v1.5",)
    assert shelf.verify("tiny-v1.5").noted == ()


def test_a_file_put_there_by_hand_is_not_fetched(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    shelf.place("tiny-v1.5").mkdir()
    (shelf.place("tiny-v1.5") / "model.onnx").write_bytes(BIG)
    assert "model.onnx" not in get(shelf, env).fetched
    assert hub.asked("GET", "/cdn/") == []
    assert got(shelf) == WHOLE


@pytest.mark.parametrize(
    ("status", "words"), [(429, "too many requests"), (500, "the hub has trouble"), (404, "404")]
)
def test_what_the_hub_answers_is_said(
    hub: Hub, shelf: Shelf, env: dict[str, str], status: int, words: str
) -> None:
    hub.refuses = status
    with pytest.raises(BackendError, match=words):
        get(shelf, env)
    assert len(hub.seen) == 1


def test_a_missing_file_and_a_missing_commit_are_told_apart_from_optional_ones(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    del hub.files[REPO, "tokenizer.json"]
    with pytest.raises(BackendError, match=r"tokenizer.json: 404, there is no such file"):
        get(shelf, env)
    assert shelf.names() == ()


def test_a_mirror_that_hides_the_commit_needs_a_listed_one(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    hub.says_commit = False
    with pytest.raises(BackendError, match="does not say which commit"):
        get(shelf, env)
    text = ENTRY.replace("files = [", f'revision = "{COMMIT}"\nfiles = [')
    (shelf.folder / "manifest.toml").write_text(text.format(model="", more=""), encoding="utf-8")
    get(shelf, env)
    assert got(shelf) == WHOLE


def test_a_proxy_is_used(
    hub: Hub, shelf: Shelf, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", hub.url)
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("no_proxy", "")
    hub.cdn = "http://cdn.invalid"
    get(shelf, {**env, "HF_ENDPOINT": "http://hub.invalid"})
    assert got(shelf) == WHOLE
    assert {seen.host for seen in hub.seen} == {"hub.invalid", "cdn.invalid"}


def test_an_address_that_is_none_is_refused(shelf: Shelf, env: dict[str, str]) -> None:
    with pytest.raises(InputError, match=r"HF_ENDPOINT is 'hub\.example'"):
        get(shelf, {**env, "HF_ENDPOINT": "hub.example"})


def test_a_disk_that_is_too_small_is_noticed_before(
    hub: Hub, shelf: Shelf, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full:
        free = 1000

    monkeypatch.setattr("consolidate.fetching.shutil.disk_usage", lambda path: Full)
    with pytest.raises(BackendError, match="needs 20 MB"):
        get(shelf, env)
    assert hub.asked("GET") == []


def test_bundled_and_unknown_models_are_not_fetched(shelf: Shelf, env: dict[str, str]) -> None:
    with pytest.raises(InputError, match="comes with the package"):
        fetch("minilm", shelf=shelf, environ=env)
    with pytest.raises(InputError, match=r"did you mean bge-small-en-v1\.5"):
        fetch("bge-small-en", shelf=shelf, environ=env)


def test_two_fetches_of_one_model_do_not_meet(hub: Hub, shelf: Shelf, env: dict[str, str]) -> None:
    go_on = threading.Event()
    hub.stall["onnx/model.onnx"] = (500_000, go_on)
    first = threading.Thread(target=get, args=(shelf, env))
    first.start()
    try:
        assert hub.stalled.wait(20)
        with pytest.raises(BackendError, match="another process is fetching"):
            get(shelf, env)
    finally:
        go_on.set()
        first.join()
    assert got(shelf) == WHOLE


def test_the_switches_of_the_library_are_as_before(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    from huggingface_hub import constants

    before = (constants.HF_HUB_DISABLE_TELEMETRY, constants.DOWNLOAD_CHUNK_SIZE)
    get(shelf, env)
    assert (constants.HF_HUB_DISABLE_TELEMETRY, constants.DOWNLOAD_CHUNK_SIZE) == before


# ---- as processes


@pytest.fixture
def cli(tmp_path: Path, hub: Hub, shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)
    made = Cli(home=tmp_path, db=tmp_path / "memory.db")
    made.env |= {"HF_ENDPOINT": hub.url, "CONSOLIDATE_MODELS": str(shelf.folder)}
    return made


def test_a_killed_fetch_leaves_nothing_usable_and_the_next_one_goes_on(
    hub: Hub, shelf: Shelf, cli: Cli
) -> None:
    go_on = threading.Event()
    hub.stall["onnx/model.onnx"] = (2_000_000, go_on)
    child = subprocess.Popen(
        [sys.executable, "-m", "consolidate", "models", "fetch", "tiny-v1.5"],
        cwd=cli.home,
        env=cli.process_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    part = shelf.partial("tiny-v1.5") / "model.onnx.part"
    try:
        assert hub.stalled.wait(30)
        while not part.exists() or part.stat().st_size < 1_500_000:
            assert child.poll() is None
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()
        go_on.set()
    kept = part.stat().st_size
    assert shelf.names() == ()
    assert "cut" in cli("models", "list").out
    hub.stall.clear()
    hub.seen.clear()
    done = cli.process("models", "fetch", "tiny-v1.5")
    assert done.returncode == 0, done.stderr
    assert [s.headers["Range"] for s in hub.asked("GET", "/cdn/")] == [f"bytes={kept}-"]
    assert got(shelf) == WHOLE
    assert "Traceback" not in done.stderr


def test_commands_fetch_verify_show_and_remove(hub: Hub, shelf: Shelf, cli: Cli) -> None:
    folder = shelf.place("tiny-v1.5")
    assert cli("models", "path", "tiny-v1.5").out.strip() == str(folder)
    assert not cli("models", "path", "tiny-v1.5", "--json").json["there"]
    out = cli("models", "fetch", "tiny-v1.5").out
    assert f"Fetched: tiny-v1.5, 3.0 MB in {folder}" in out
    assert "Nobody had noted what these are: config.json, model.onnx, tokenizer.json" in out
    again = cli("models", "fetch", "tiny-v1.5", "--json").json
    assert (again["fetched"], again["folder"]) == ([], str(folder))
    assert "tiny-v1.5: right" in cli("models", "verify", "tiny-v1.5").out
    (entry,) = [e for e in cli("models", "list", "--json").json["listed"] if "tiny" in e["name"]]
    assert entry["state"] == "here"
    (folder / "model.onnx").write_bytes(BIG[:-1])
    broken = cli("models", "verify", "tiny-v1.5", code=1).out
    assert f"model.onnx: expected {len(BIG)} bytes, found {len(BIG) - 1}" in broken
    assert cli("models", "verify", "--json", code=1).json["sound"] is False
    assert "Another fetch must give the same" in cli("models", "remove", "tiny-v1.5").out
    assert not folder.exists()
    assert "nothing of 'tiny-v1.5'" in cli("models", "remove", "tiny-v1.5", code=1).err
    cli("models", "remove", "tiny-v1.5", "--forget")
    assert not shelf.lock_file("tiny-v1.5").exists()


def test_a_failed_fetch_says_so_in_lines_that_can_be_copied(shelf: Shelf, cli: Cli) -> None:
    cli.env["HF_HUB_OFFLINE"] = "1"
    err = cli("models", "fetch", "tiny-v1.5", code=1).err.splitlines()
    assert f"Error:     as {shelf.place('tiny-v1.5') / 'model.onnx'}" in err
    assert cli("models", "fetch", "tiny-v1.5", "--json", code=1).json["error"]


@pytest.mark.parametrize("name", ["../outside", ".busy", "a/b"])
def test_remove_deletes_nothing_outside(cli: Cli, shelf: Shelf, name: str) -> None:
    (shelf.folder.parent / "outside").mkdir()
    (shelf.folder / "a" / "b").mkdir(parents=True)
    cli("models", "remove", name, code=1)
    assert (shelf.folder.parent / "outside").is_dir()
    assert (shelf.folder / "a" / "b").is_dir()


def test_a_fetched_model_is_used_by_its_name(hub: Hub, shelf: Shelf, cli: Cli) -> None:
    from consolidate.backends.files import ModelFiles

    for path in (DATA / "tiny_encoder").iterdir():
        remote = "onnx/model.onnx" if path.name == "model.onnx" else path.name
        hub.files[REPO, remote] = path.read_bytes()
    cli.env["CONSOLIDATE_EMBEDDER"] = "onnx:tiny-v1.5"
    (used,) = [m for m in cli("models", "list", "--json").json["models"] if m["role"] == "embedder"]
    assert "get it with `consolidate models fetch tiny-v1.5`" in used["problem"]
    cli("models", "fetch", "tiny-v1.5")
    (used,) = [m for m in cli("models", "list", "--json").json["models"] if m["role"] == "embedder"]
    expected = ModelFiles.open(DATA / "tiny_encoder", task="feature-extraction")
    assert expected.digest[:12] in used["identity"]
    (shelf.place("tiny-v1.5") / "model.onnx").write_bytes(b"something else")
    (used,) = [m for m in cli("models", "list", "--json").json["models"] if m["role"] == "embedder"]
    assert "are not those of its manifest.json" in used["problem"]


def test_a_fetched_model_without_a_name_of_its_own_has_the_listed_one(
    hub: Hub, shelf: Shelf, env: dict[str, str]
) -> None:
    from consolidate.backends.files import ModelFiles

    hub.files[REPO, "config.json"] = b'{"_name_or_path": "/home/someone/out", "hidden_size": 8}'
    get(shelf, env)
    found = ModelFiles.open(shelf.place("tiny-v1.5"), task="feature-extraction")
    assert found.name == "tiny-v1.5"


def test_files_that_nobody_checked_are_not_used(shelf: Shelf, cli: Cli) -> None:
    shelf.place("tiny-v1.5").mkdir()
    for path in (DATA / "tiny_encoder").iterdir():
        (shelf.place("tiny-v1.5") / path.name).write_bytes(path.read_bytes())
    (shelf.place("tiny-v1.5") / "manifest.json").unlink()
    cli.env["CONSOLIDATE_EMBEDDER"] = "onnx:tiny-v1.5"
    cli("init")
    assert "consolidate models verify tiny-v1.5" in cli("run", code=1).err
    cli("models", "verify", "tiny-v1.5")
    cli("run")


def test_the_doctor_looks_at_fetched_files(hub: Hub, shelf: Shelf, cli: Cli) -> None:
    def lines() -> list[tuple[str, str]]:
        document = cli("doctor", "--json", code=1 if broken else 0).json
        return [(c["verdict"], c["detail"]) for c in document["checks"] if "files" in c["name"]]

    broken = False
    assert "0 fetched into" in lines()[0][1]
    cli("models", "fetch", "tiny-v1.5")
    assert "1 fetched into" in lines()[0][1]
    assert lines()[0][1].endswith("all digests right")
    (shelf.place("tiny-v1.5") / "config.json").unlink()
    broken = True
    assert lines() == [("fail", "tiny-v1.5: config.json: it is missing")]
