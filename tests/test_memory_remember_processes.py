"""Many processes remembering into one store: everything is there, nothing is there twice."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

from consolidate import open_memory
from consolidate.store import Store
from consolidate.types import FactStatus

ROOT = Path(__file__).parent.parent

CODE = """
    import json, sys
    from consolidate import open_memory
    FAKES = {"embedder": "fake:512", "extractor": "rules", "classifier": "fake"}
    texts = json.loads(sys.stdin.readline())
    with open_memory(sys.argv[1], settings=FAKES) as memory:
        memory.backends.embedder.embed(["warm"])
        print("ready", flush=True)
        sys.stdin.readline()
        actions = []
        for text in texts:
            actions += [fact.action for fact in memory.remember_facts(text).facts]
    print(json.dumps(actions), flush=True)
"""


def in_processes(path: Path, texts: list[list[str]]) -> list[list[str]]:
    """Let as many processes remember their texts, all beginning at once; what each was told."""
    children = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(CODE), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=ROOT,
        )
        for _ in texts
    ]
    try:
        for child, mine in zip(children, texts, strict=True):
            assert child.stdin is not None and child.stdout is not None
            child.stdin.write(json.dumps(mine) + "\n")
            child.stdin.flush()
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline().strip() == "ready"
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        told = []
        for child in children:
            out, err = child.communicate(timeout=900)
            assert child.returncode == 0, err
            told.append(json.loads(out))
        return told
    finally:
        for child in children:
            child.kill()
            child.communicate()


def sentence(chance: random.Random) -> str:
    """A sentence of words that hardly any other has."""
    words = ["".join(chance.choices("bcdfgklmnprstvz", k=3)) + "a" + str(chance.randrange(99))
             for _ in range(6)]  # fmt: skip
    return f"{' '.join(words).capitalize()}."


def in_texts(facts: list[str], each: int) -> list[str]:
    return [" ".join(facts[i : i + each]) for i in range(0, len(facts), each)]


def test_eight_processes_of_five_hundred_facts_lose_nothing_and_double_nothing(
    tmp_path: Path,
) -> None:
    chance = random.Random(8)
    shared = [sentence(chance) for _ in range(60)]
    own = [[sentence(chance) for _ in range(440)] for _ in range(8)]
    texts = []
    for mine in own:
        facts = [*mine, *shared]
        chance.shuffle(facts)
        texts.append(in_texts(facts, 25))
    told = in_processes(tmp_path / "memory.db", texts)
    assert [len(actions) for actions in told] == [500] * 8
    counts = Counter(action for actions in told for action in actions)
    assert set(counts) <= {"added", "strengthened"}
    with Store.open(tmp_path / "memory.db") as store:
        live = Counter(fact.text for fact in store.facts())
        assert set(live) == {*shared, *(text for mine in own for text in mine)}
        assert set(live.values()) == {1}
        encounters = {fact.text: fact.encounters for fact in store.facts()}
        assert [encounters[text] for text in shared] == [8] * len(shared)
        everything = store.facts(statuses=None)
        assert len(everything) == 8 * 500
        assert {f.status for f in everything} == {FactStatus.ACTIVE, FactStatus.MERGED}
        assert store.check() == []


def test_processes_that_say_the_same_at_once_make_one_fact_of_it(tmp_path: Path) -> None:
    chance = random.Random(4)
    facts = [sentence(chance) for _ in range(12)]
    told = in_processes(tmp_path / "memory.db", [facts] * 4)
    added = Counter(action for actions in told for action in actions)
    assert added["added"] <= len(facts)
    with open_memory(tmp_path / "memory.db", settings={"embedder": "fake:512"}) as memory:
        assert Counter(f.text for f in memory.store.facts()) == Counter(facts)


def test_processes_that_store_the_same_memory_make_one(tmp_path: Path) -> None:
    with open_memory(tmp_path / "memory.db"):
        pass
    code = textwrap.dedent(
        """
        import sys
        from consolidate import open_memory
        with open_memory(sys.argv[1], settings={"embedder": "fake"}) as memory:
            for n in range(10):
                memory.store_memory(f"The minutes of meeting {n}. " * 100)
        """
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", code, str(tmp_path / "memory.db")], cwd=ROOT
        )
        for _ in range(4)
    ]
    assert [child.wait(timeout=120) for child in children] == [0] * 4
    with Store.open(tmp_path / "memory.db") as store:
        assert [fact.encounters for fact in store.facts()] == [4] * 10
        assert store.check() == []
