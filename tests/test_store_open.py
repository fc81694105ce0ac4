"""Opening a store: odd paths, odd files, odd permissions. Success or a clear `StoreError`."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from consolidate.errors import ConsolidateError, NotFoundError, StoreError
from consolidate.store import Store
from consolidate.types import NewFact

OpenStore = Callable[..., Store]


@pytest.mark.parametrize(
    "name",
    [
        "memory.db",
        "no extension",
        "данные/ö/データ.db",
        "שלום.db",
        "🧠.db",
        "100%25?mode=ro#x.db",
        "a'b\"c;--.db",
        "new\nline.db",
        "-wal",
        ":memory:x",
    ],
)
def test_any_file_name_works(
    name: str, tmp_path: Path, open_store: OpenStore, now: datetime
) -> None:
    path = tmp_path / name
    with open_store(path) as store:
        added = store.add([NewFact(text="The user likes tea.")], now=now)
    assert path.is_file()
    assert open_store(path, create=False).get(added[0].id).text == "The user likes tea."
    assert open_store(str(path)).path == path


def test_a_name_of_bytes_that_are_no_text_works(tmp_path: Path, open_store: OpenStore) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.db")
    try:
        path.touch()
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    open_store(path)
    assert path.stat().st_size > 0
    with pytest.raises(StoreError) as caught:
        open_store(path.with_name(path.name + "x"), create=False)
    str(caught.value).encode()  # a message that can be printed


def test_a_relative_path_is_taken_from_the_current_folder(
    tmp_path: Path, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    open_store("sub/memory.db")
    assert (tmp_path / "sub" / "memory.db").is_file()


def test_a_store_in_memory_leaves_no_file(
    tmp_path: Path, open_store: OpenStore, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = open_store(":memory:")
    store.add([NewFact(text="x")], now=now)
    assert store.path is None
    assert store.stats()["facts"] == 1
    assert list(tmp_path.iterdir()) == []
    assert open_store(":memory:").stats()["facts"] == 0


def test_a_missing_file_is_not_made_unless_wanted(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "memory.db"
    with pytest.raises(NotFoundError, match=r"consolidate init") as caught:
        Store.open(path, create=False)
    assert str(path) in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_store_only_if_one_may_be_made(
    tmp_path: Path, open_store: OpenStore
) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    with pytest.raises(NotFoundError, match=r"is empty.*consolidate init"):
        Store.open(path, create=False)
    assert path.stat().st_size == 0
    assert open_store(path).check() == []


def test_a_folder_is_refused_with_a_proposal(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"is a folder; name a file in it"):
        Store.open(tmp_path)


def test_a_path_through_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(StoreError, match="can't be opened"):
        Store.open(tmp_path / "file" / "memory.db")


@pytest.mark.parametrize("path", ["a\0b.db", "x" * 5000])
def test_a_path_that_can_not_be_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        Store.open(tmp_path / path)


def test_a_circle_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(StoreError):
        Store.open(tmp_path / "a")


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="no regular file"):
        Store.open(tmp_path / "pipe")


@pytest.mark.parametrize("content", [b"hello", b"\0" * 5000, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert str(path) in str(caught.value)
    assert isinstance(caught.value.__cause__, sqlite3.Error)
    assert path.read_bytes() == content


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE facts (id)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not a consolidate store"):
        Store.open(path)
    assert path.read_bytes() == before


@pytest.fixture
def filled(tmp_path: Path, now: datetime) -> Path:
    path = tmp_path / "filled" / "memory.db"
    with Store.open(path) as store:
        store.add([NewFact(text=f"Fact {n} " + "word " * 50) for n in range(300)], now=now)
    return path


def test_a_cut_file_is_never_taken_for_a_sound_one(filled: Path) -> None:
    content = filled.read_bytes()
    for kept in range(0, len(content), len(content) // 40):
        filled.write_bytes(content[:kept])
        try:
            store = Store.open(filled, create=False)
        except StoreError as error:
            assert str(filled) in str(error)
            continue
        with store:
            assert store.check()


def test_damage_in_the_middle_is_reported_and_never_raises_anything_else(
    filled: Path, now: datetime
) -> None:
    content = bytearray(filled.read_bytes())
    for start in range(4096, len(content) - 4096, 4096 * 3):
        damaged = bytes(content[:start]) + b"\xa5" * 4096 + bytes(content[start + 4096 :])
        filled.write_bytes(damaged)
        try:
            with Store.open(filled) as store:
                store.check()
                store.search("word")
                store.snapshot("default")
                store.add([NewFact(text="one more")], now=now)
        except ConsolidateError as error:
            assert str(filled) in str(error)


def file_digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.mark.parametrize("read_only", [False, True])
def test_opening_and_reading_write_nothing(filled: Path, read_only: bool) -> None:
    before = file_digests(filled.parent)
    with Store.open(filled, create=False, read_only=read_only) as store:
        assert len(store.facts()) == 300
        store.search("word")
        store.snapshot("default")
        store.history(store.facts(limit=1)[0].id)
        list(store.dump(derived=True))
        store.stats()
        assert store.check() == []
        assert store.rows_written() == 0
        assert file_digests(filled.parent)[filled.name] == before[filled.name]
    after = file_digests(filled.parent)
    assert after[filled.name] == before[filled.name]
    if not read_only:
        assert after == before


def test_a_store_opened_for_reading_refuses_to_write(filled: Path, now: datetime) -> None:
    with Store.open(filled, read_only=True) as store:
        with pytest.raises(StoreError, match="can't be written"):
            store.add([NewFact(text="x")], now=now)
        assert len(store.facts()) == 300
    with pytest.raises(NotFoundError):
        Store.open(filled.with_name("missing.db"), read_only=True)


def test_reading_sees_what_another_store_wrote_but_did_not_yet_move_into_the_file(
    filled: Path, now: datetime
) -> None:
    with Store.open(filled) as writer:
        writer.add([NewFact(text="Only in the log.")], now=now)
        with Store.open(filled, read_only=True) as reader:
            assert len(reader.facts()) == 301


def test_the_file_is_in_wal_mode_with_foreign_keys(filled: Path) -> None:
    connection = sqlite3.connect(filled)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
    with Store.open(filled) as store:
        assert store._db.value("PRAGMA foreign_keys") == 1
        assert store._db.value("PRAGMA busy_timeout") == 5000


def test_a_closed_store_says_so(filled: Path, now: datetime) -> None:
    store = Store.open(filled)
    store.close()
    store.close()
    for use in (
        lambda: store.facts(),
        lambda: store.add([NewFact(text="x")], now=now),
        lambda: store.rows_written(),
        lambda: store.snapshot("default"),
        lambda: list(store.dump()),
    ):
        with pytest.raises(StoreError, match="the store is closed"):
            use()


# Permissions mean nothing to root, so these run in a child that gives its rights up.


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user may reach; pytest's own belong to one user."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    for path in folder.iterdir():
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)


def as_nobody(code: str, *arguments: object) -> str:
    program = """
        import os, sys
        from pathlib import Path
        from datetime import datetime, UTC
        from consolidate.errors import StoreError
        from consolidate.store import Store
        from consolidate.types import NewFact
        # After the imports: nobody may not be allowed to read the code.
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        path = Path(sys.argv[1])
        now = datetime(2026, 3, 1, tzinfo=UTC)
    """
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            textwrap.dedent(program) + textwrap.dedent(code),
            *map(str, arguments),
        ],
        capture_output=True,
        encoding="utf-8",
        cwd=Path(__file__).parent.parent,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


OPEN = """
    try:
        with Store.open(path) as store:
            store.add([NewFact(text="x")], now=now)
        print("fine")
    except StoreError as error:
        print(error)
"""


def test_a_folder_that_can_not_be_written_is_said_to_be_one(open_folder: Path) -> None:
    path = open_folder / "memory.db"
    open_folder.chmod(0o555)
    assert f"{path}: the file can't be opened; check that its folder" in as_nobody(OPEN, path)
    assert "can't be opened" in as_nobody(OPEN, open_folder / "sub" / "memory.db")


def test_a_file_that_can_not_be_read_is_said_to_be_one(open_folder: Path) -> None:
    path = open_folder / "memory.db"
    with Store.open(path):
        pass
    path.chmod(0o000)
    assert str(path) in as_nobody(OPEN, path)


def test_a_folder_that_can_not_be_entered_is_said_to_be_one(open_folder: Path) -> None:
    (open_folder / "closed").mkdir(mode=0o700)
    path = open_folder / "closed" / "memory.db"
    with Store.open(path):
        pass
    (open_folder / "closed").chmod(0o600)
    answer = as_nobody(OPEN, path)
    assert str(path) in answer
    assert "ermission" in answer


def test_a_store_that_can_not_be_written_can_still_be_read(
    open_folder: Path, now: datetime
) -> None:
    path = open_folder / "memory.db"
    with Store.open(path) as store:
        store.add([NewFact(text="Still here.")], now=now)
    path.chmod(0o444)
    open_folder.chmod(0o555)
    read = """
        with Store.open(path, read_only=True) as store:
            print(store.facts()[0].text, store.check())
    """
    assert as_nobody(read, path) == "Still here. []\n"
    answer = as_nobody(OPEN, path)
    assert str(path) in answer
    assert "can't be" in answer
