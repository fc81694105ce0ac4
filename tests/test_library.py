"""The package as a library: its public names, and a use of each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import NOW, said

import consolidate
from consolidate.backends.fake import fake_backends
from consolidate.settings import Settings

PUBLIC = [
    "ConsolidateError",
    "Fact",
    "FactStatus",
    "Memory",
    "NewFact",
    "Outcome",
    "Plan",
    "Receipt",
    "Settings",
    "Store",
    "__version__",
    "accept",
    "apply",
    "open_memory",
    "open_store",
    "plan",
    "reject",
    "run",
    "synthesise",
    "undo",
]
FAKES = {"embedder": "fake", "extractor": "fake", "classifier": "fake"}


def test_the_public_names_are_these() -> None:
    assert sorted(consolidate.__all__) == sorted(PUBLIC)
    assert dir(consolidate) == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_there_and_explained(name: str) -> None:
    found = getattr(consolidate, name)
    assert found is not None
    assert name == "__version__" or found.__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="frobnicate"):
        consolidate.frobnicate  # noqa: B018
    assert not hasattr(consolidate, "_Decider")


def test_importing_the_package_loads_no_model_library() -> None:
    code = (
        "import sys, consolidate; dir(consolidate); "
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'sqlite3', 'typer', 'rich'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(Path(consolidate.__file__).parents[1])},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


def test_a_memory_is_planned_run_and_taken_back(tmp_path: Path) -> None:
    with consolidate.open_store(tmp_path / "memory.db") as store:
        store.add([said("Mia works at Acme.", 1), said("Mia works at Globex.", 5)], now=NOW)
        plan = consolidate.plan(store, settings=FAKES, now=NOW)
        (decision,) = plan.decisions
        assert decision.kind == "supersede"
        outcome = consolidate.run(store, settings=FAKES, now=NOW)
        assert isinstance(outcome, consolidate.Outcome)
        assert isinstance(outcome.receipt, consolidate.Receipt)
        assert [f.text for f in store.facts()] == ["Mia works at Globex."]
        assert consolidate.run(store, settings=FAKES, now=NOW).nothing_new
        assert consolidate.apply(store, plan, now=NOW).already_applied
        consolidate.undo(store, outcome.receipt.run)
        assert len(store.facts()) == 2


def test_backends_and_settings_can_be_given_as_objects() -> None:
    with consolidate.open_store(":memory:") as store:
        store.add([said("Mia works at Acme.", 1, agent="mia")], now=NOW)
        settings = Settings(agent="mia", **FAKES)  # type: ignore[arg-type]
        plan = consolidate.plan(store, settings=settings, backends=fake_backends(), now=NOW)
        assert plan.agent == "mia"
        told: list[str] = []
        outcome = consolidate.run(
            store, agent="mia", settings=settings, backends=fake_backends(),
            progress=lambda stage, done, total: told.append(stage),
        )  # fmt: skip
        assert outcome.report.agent == "mia"


def test_progress_tells_the_stages_with_models() -> None:
    with consolidate.open_store(":memory:") as store:
        store.add([said("Mia works at Acme.", 1), said("Mia works at Globex.", 5)], now=NOW)
        told: list[str] = []
        consolidate.run(
            store, settings=FAKES, now=NOW,
            progress=lambda stage, done, total: told.append(stage),
        )  # fmt: skip
    assert list(dict.fromkeys(told)) == ["embed", "entities", "classify"]


def test_reviews_are_accepted_and_rejected() -> None:
    for keep in (True, False):
        with consolidate.open_store(":memory:") as store:
            store.add(
                [said("Ada drives a red car.", 1), said("Ada drives a blue car.", 1)], now=NOW
            )
            consolidate.run(store, settings=FAKES, now=NOW)
            (review,) = store.reviews()
            if keep:
                consolidate.accept(store, review.id, keep=review.decision.subject)
            else:
                consolidate.reject(store, review.id)
            assert len(store.facts()) == (1 if keep else 2)


def test_the_file_of_the_settings_is_opened_unless_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONSOLIDATE_DB", str(tmp_path / "named.db"))
    with consolidate.open_store() as store:
        assert store.path == tmp_path / "named.db"
    with pytest.raises(consolidate.ConsolidateError, match=r"missing\.db"):
        consolidate.open_store(tmp_path / "missing.db", create=False)


def test_unknown_settings_are_refused() -> None:
    with (
        consolidate.open_store(":memory:") as store,
        pytest.raises(consolidate.ConsolidateError, match="hub_sizes"),
    ):
        consolidate.run(store, settings={"hub_sizes": 3})
