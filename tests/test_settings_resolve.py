"""Settings come from the right place, and every problem is told at once."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from consolidate.errors import SettingsError
from consolidate.settings import FILE_NAME, PROFILES, Settings, resolve


def problems(**values: Any) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        Settings(**values)
    return caught.value.problems


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE_NAME
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Any]:
    """An environment and a working folder with nothing in them."""
    work = tmp_path / "work"
    work.mkdir()
    return {"environ": {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "conf")},
            "folder": work}  # fmt: skip


def test_without_anything_all_values_are_defaults(places: dict[str, Any]) -> None:
    found = resolve(**places)
    assert found.settings == Settings()
    assert set(found.origins.values()) == {"default"}
    assert set(found.origins) == {field.name for field in dataclasses.fields(Settings)}


def test_each_place_wins_over_the_weaker_ones(places: dict[str, Any], tmp_path: Path) -> None:
    user = write(tmp_path / "conf" / "consolidate", "hub_size = 10\nneighbours = 10\nthreads = 1")
    own = write(places["folder"], 'hub_size = 11\nneighbours = 11\nagent = "file"')
    places["environ"] |= {"CONSOLIDATE_HUB_SIZE": "12", "CONSOLIDATE_PAIR_BUDGET": "12"}
    found = resolve({"hub_size": 14}, cli={"hub_size": "13", "pair_budget": 13}, **places)
    assert found.settings.hub_size == 14
    assert found.settings.pair_budget == 13
    assert found.settings.neighbours == 11
    assert found.settings.threads == 1
    assert found.origins["hub_size"] == "call"
    assert found.origins["pair_budget"] == "--pair-budget"
    assert found.origins["neighbours"] == str(own)
    assert found.origins["threads"] == str(user)
    assert found.origins["profile"] == "default"


def test_the_environment_gives_text_that_is_read_as_the_type(places: dict[str, Any]) -> None:
    places["environ"] |= {
        "CONSOLIDATE_MERGE": "off",
        "CONSOLIDATE_MERGE_THRESHOLD": "0.5",
        "CONSOLIDATE_THREADS": "2",
        "CONSOLIDATE_SLOTS": "port=one, languages=many",
        "CONSOLIDATE_DB": "~/memory.db",
    }
    found = resolve(**places).settings
    assert found.merge is False
    assert found.merge_threshold == 0.5
    assert found.workers == 2
    assert found.slots == {"languages": "many", "port": "one"}
    assert found.database == Path("~/memory.db").expanduser()


def test_an_empty_variable_counts_as_not_set(places: dict[str, Any]) -> None:
    places["environ"]["CONSOLIDATE_AGENT"] = ""
    assert resolve(**places).settings.agent == "default"


def test_every_problem_of_every_place_is_told_at_once(places: dict[str, Any]) -> None:
    path = write(places["folder"], "hub_size = 1\nhubs = 3\nmerge = 'yes'")
    places["environ"] |= {"CONSOLIDATE_THREAD": "2", "CONSOLIDATE_TIMEZONE": "Mars/Olympus"}
    with pytest.raises(SettingsError) as caught:
        resolve({"profile": "bold"}, cli={"lease_seconds": "0"}, **places)
    told = caught.value.problems
    assert len(told) == 7
    for part in (
        f"{path}: hub_size must be a whole number of at least 2, not 1",
        f"{path}: there is no setting 'hubs' (did you mean 'hub_size'?)",
        f"{path}: merge must be true or false, not 'yes'",
        "CONSOLIDATE_THREAD: there is no setting 'thread' (did you mean 'threads'?)",
        "CONSOLIDATE_TIMEZONE: must be the name of a time zone",
        "--lease-seconds: must be a number from 1 to 86400, not 0",
        "call: profile must be one of careful, balanced, eager, not 'bold'",
    ):
        assert any(line.startswith(part) for line in told), part


def test_a_broken_file_is_a_problem_with_its_path(places: dict[str, Any]) -> None:
    path = write(places["folder"], "hub_size = = 3")
    with pytest.raises(SettingsError, match=str(path)):
        resolve(**places)


def test_a_named_file_takes_the_place_of_the_usual_ones(
    places: dict[str, Any], tmp_path: Path
) -> None:
    write(places["folder"], "hub_size = 11")
    other = write(tmp_path / "other", "threads = 3")
    places["environ"]["CONSOLIDATE_CONFIG"] = str(other)
    found = resolve(**places)
    assert (found.settings.hub_size, found.settings.threads) == (24, 3)
    places["environ"]["CONSOLIDATE_CONFIG"] = str(tmp_path / "missing.toml")
    with pytest.raises(SettingsError, match="which is no file"):
        resolve(**places)


def test_a_relative_database_in_a_file_lies_beside_the_file(
    places: dict[str, Any], tmp_path: Path
) -> None:
    write(tmp_path / "conf" / "consolidate", 'db = "mine.db"')
    assert resolve(**places).settings.database == tmp_path / "conf" / "consolidate" / "mine.db"


def test_the_database_is_in_the_data_folder_unless_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert Settings().database == tmp_path / "consolidate" / "memory.db"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Settings().database == tmp_path / ".local/share/consolidate/memory.db"


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ({"agent": " "}, "agent: must be some printable text"),
        ({"agent": "a\x1b[2J"}, "agent: must be some printable text"),
        ({"merge_threshold": 1.5}, "merge_threshold: must be a number from 0 to 1"),
        ({"merge_threshold": float("nan")}, "merge_threshold: must be a number from 0 to 1"),
        ({"threads": True}, "threads: must be a whole number"),
        ({"threads": "2"}, "threads: must be a whole number"),
        ({"slots": {"port": "two"}}, "slots: must say 'one' or 'many'"),
        ({"db": ""}, "db: must be a path"),
        ({"timezone": "../../etc/passwd"}, "timezone: must be the name of a time zone"),
    ],
)
def test_a_bad_value_is_named(values: dict[str, Any], part: str) -> None:
    (told,) = problems(**values)
    assert told.startswith(part)


def test_settings_made_in_code_tell_all_problems_too() -> None:
    assert len(problems(hub_size=0, neighbours=-1, profile="loud")) == 3


def test_the_profile_sets_the_accepted_rates_and_each_can_be_overridden() -> None:
    careful = Settings(profile="careful", max_false_merge=0.2)
    assert careful.false_merge_rate == 0.2
    assert careful.false_supersede_rate == PROFILES["careful"]
    assert PROFILES["careful"] < PROFILES["balanced"] < PROFILES["eager"]


def test_the_digest_covers_what_decides_and_nothing_else() -> None:
    plain = Settings().digest()
    assert Settings(db=Path("x.db"), agent="other", threads=3, lease_seconds=5).digest() == plain
    assert Settings(profile="careful").digest() != plain
    assert Settings(slots={"port": "one"}).digest() != plain
    assert Settings(merge_threshold=0.9).digest() != plain
    rate = PROFILES["balanced"]
    spelled_out = Settings(profile="careful", max_false_merge=rate, max_false_supersede=rate)
    assert spelled_out.digest() == plain


def test_settings_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().agent = "x"  # type: ignore[misc]  # that is the point


def test_what_was_set_for_hippo_says_where_the_memory_is_unless_ours_does(tmp_path: Path) -> None:
    found = resolve(environ={"HIPPO_DB": "old.db"}, folder=tmp_path)
    assert (str(found.settings.db), found.origins["db"]) == ("old.db", "HIPPO_DB")
    both = {"HIPPO_DB": "old.db", "CONSOLIDATE_DB": "new.db"}
    assert str(resolve(environ=both, folder=tmp_path).settings.db) == "new.db"
