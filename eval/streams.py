"""Scores a whole run on the demo memory against its key, `eval/sets/streams/demo.json`.

How the key is read stands in `eval/sets/README.md`. Beside the judge, three controls go through
the same scorer: a store that nothing was done to, the layers without a classifier, and verbatim
repeats alone.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import consolidate
from consolidate import pipeline
from consolidate.backends import Backends
from consolidate.demo import load_demo
from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.types import Decision, DecisionKind, Fact, FactStatus, Plan, Review
from eval.controls import Blind
from eval.record import SETS, files_digest, heading

__all__ = ["Key", "Verdicts", "mark", "run_streams", "score_stream"]

AGENT: Final = "default"
NOW: Final = datetime(2026, 10, 1, 12, tzinfo=UTC)
"""The demo's last fact was said in September 2026, and one takes effect in 2031."""

_DEMO: Final = Path(consolidate.__file__).parent / "data" / "demo_facts.jsonl"


@dataclass(frozen=True)
class Key:
    """The right end state of each fact of a memory."""

    facts: Mapping[str, Mapping[str, Any]]
    groups: Mapping[str, Sequence[str]]
    traps: Sequence[str]

    @classmethod
    def load(cls, path: Path) -> Key:
        """Read a key file."""
        data = json.loads(path.read_text(encoding="utf-8"))
        return cls(data["facts"], data["groups"], data["traps"])

    def accepted(self, fact_id: str) -> frozenset[str]:
        """The end states that are right."""
        entry = self.facts[fact_id]
        return frozenset(entry.get("accept", (entry["state"],)))

    def group(self, fact_id: str) -> frozenset[str]:
        """Facts that say the same, without the fact itself."""
        return frozenset(self.groups.get(self.facts[fact_id].get("group", ""), ())) - {fact_id}

    def successors(self, fact_id: str) -> frozenset[str]:
        """What may retire a fact: those named, and what says the same as one of them."""
        named = self.facts[fact_id].get("by", ())
        return frozenset(named).union(*(self.group(each) for each in named))


@dataclass(frozen=True)
class Verdicts:
    """Each fact's mark: `right`, `false-retirement`, `missed-update`, `missed-merge`, `asked`."""

    marks: Mapping[str, str]

    def having(self, *marks: str) -> list[str]:
        """The facts with one of these marks, sorted."""
        return sorted(fact_id for fact_id, each in self.marks.items() if each in marks)

    def share(self, among: Collection[str]) -> float | None:
        """Share of right ones; None of nothing."""
        right = sum(self.marks[fact_id] == "right" for fact_id in among)
        return right / len(among) if among else None


def mark(facts: Mapping[str, Fact], key: Key, reviews: Sequence[Review] = ()) -> Verdicts:
    """Mark every fact of the key.

    Args:
        facts: All facts of the memory after the run, by id.
        key: What is right.
        reviews: Open reviews; what is rightly asked about is `asked` and not missed.
    """
    asked = {frozenset((r.decision.subject, r.decision.object)) for r in reviews}
    return Verdicts({fact_id: _mark(fact_id, facts, key, asked) for fact_id in key.facts})


def _mark(
    fact_id: str, facts: Mapping[str, Fact], key: Key, asked: Collection[frozenset[str]]
) -> str:
    fact, accepted = facts[fact_id], key.accepted(fact_id)
    if fact.status is FactStatus.SUPERSEDED:
        good = "superseded" in accepted and fact.superseded_by in key.successors(fact_id)
        return "right" if good else "false-retirement"
    if fact.status is FactStatus.MERGED:
        good = bool(accepted & {"merged", "superseded"}) and fact.merged_into in key.group(fact_id)
        return "right" if good else "false-retirement"
    if not fact.status.is_live:
        return "false-retirement"
    if "current" in accepted:
        return "right"
    partners = key.successors(fact_id) | key.group(fact_id)
    waits = any(fact_id in pair and pair & partners for pair in asked)
    if "merged" in accepted:
        # Any member may be the one that stays; which of several is not told apart, so the
        # smallest id counts as that one
        live = [m for m in key.group(fact_id) if facts[m].status.is_live]
        survivors = [m for m in live if "merged" in key.accepted(m)]
        if not live or (len(live) == len(survivors) and fact_id < min(survivors)):
            return "right"
        return "asked" if waits else "missed-merge"
    return "asked" if waits else "missed-update"


def score_stream(
    facts: Mapping[str, Fact],
    key: Key,
    *,
    reviews: Sequence[Review] = (),
    decisions: Sequence[Decision] = (),
) -> dict[str, Any]:
    """Shares and lists for a memory after a run."""
    marks = mark(facts, key, reviews)
    count = Counter(marks.marks.values())
    must_go = [i for i in key.facts if key.accepted(i) == {"superseded"}]
    found = [i for i in must_go if not facts[i].status.is_live]
    sentences = {
        d.subject: d.sentence
        for d in decisions
        if d.kind in (DecisionKind.MERGE, DecisionKind.SUPERSEDE)
    }
    whole = [name for name, ids in key.groups.items() if marks.share(ids) == 1.0]
    sprung = [i for i in sorted(key.traps) if not facts[i].status.is_live]

    def listed(ids: Sequence[str]) -> list[dict[str, str]]:
        return [{"id": i, "text": facts[i].text, "why": sentences.get(i, "")} for i in ids]

    return {
        "facts": len(key.facts),
        "right": count["right"] / len(key.facts),
        "right_or_asked": (count["right"] + count["asked"]) / len(key.facts),
        "false_retirements": count["false-retirement"],
        "missed_updates": count["missed-update"],
        "missed_merges": count["missed-merge"],
        "asked": count["asked"],
        "superseded_found": len(found) / len(must_go) if must_go else None,
        "superseded_right": marks.share(must_go),
        "groups": len(key.groups),
        "groups_right": len(whole) / len(key.groups) if key.groups else None,
        "traps": len(key.traps),
        "traps_sprung": listed(sprung),
        "other_false_retirements": listed(
            [i for i in marks.having("false-retirement") if i not in sprung]
        ),
        "missed": {
            "updates": marks.having("missed-update"),
            "merges": marks.having("missed-merge"),
        },
        "reviews": _reviews(reviews, key),
    }


def _reviews(reviews: Sequence[Review], key: Key) -> dict[str, int]:
    """How many questions were asked, and how many of them about two facts that need none."""
    needed = 0
    for review in reviews:
        a, b = review.decision.subject, review.decision.object
        needed += b in key.successors(a) | key.group(a) or a in key.successors(b) | key.group(b)
    return {"opened": len(reviews), "needed": needed, "needless": len(reviews) - needed}


# -- the suite ---------------------------------------------------------------------------------


def run_streams(
    settings: Settings, *, key: Path = SETS / "streams" / "demo.json"
) -> dict[str, Any]:
    """Run the demo in a temporary store and score what it has become."""
    began = time.perf_counter()
    key = SETS / "streams" / "demo.json"
    right = Key.load(key)
    backends = Backends.load(settings)
    result = heading(
        "streams demo",
        settings=settings,
        models=backends.identities,
        data={key.name: files_digest([key]), _DEMO.name: files_digest([_DEMO])},
    )
    scored, plan, nothing_new = _consolidated(backends, settings, right)
    blind = replace(backends, classifier=Blind())
    careful = replace(settings, merge_threshold=1.0, supersede_threshold=1.0, review_threshold=1.0)
    result |= {
        "judge": scored,
        "again": {"nothing_new": nothing_new},
        "decisions": dict(sorted(Counter(str(d.kind) for d in plan.decisions).items())),
        "controls": {
            "do nothing": _brief(_untouched(right)),
            "exact match": _brief(_consolidated(blind, careful, right)[0]),
            "layers alone": _brief(_consolidated(blind, settings, right)[0]),
        },
        "stages": {stage.stage: stage.seconds for stage in plan.stages},
        "pairs": next(s.items_out for s in plan.stages if s.stage == "pairs"),
    }
    return result | {"seconds": {"all": time.perf_counter() - began}}


def _consolidated(
    backends: Backends, settings: Settings, key: Key
) -> tuple[dict[str, Any], Plan, bool]:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "demo.db") as store:
        load_demo(store, NOW, agent=AGENT)
        outcome = pipeline.run(store, backends, settings, agent=AGENT, now=NOW)
        assert outcome.plan is not None
        scored = score_stream(
            _all_facts(store),
            key,
            reviews=store.reviews(agent=AGENT),
            decisions=outcome.plan.decisions,
        )
        again = pipeline.run(store, backends, settings, agent=AGENT, now=NOW)
        return scored, outcome.plan, again.nothing_new


def _untouched(key: Key) -> dict[str, Any]:
    with Store.open(":memory:") as store:
        load_demo(store, NOW, agent=AGENT)
        return score_stream(_all_facts(store), key)


def _all_facts(store: Store) -> dict[str, Fact]:
    return {fact.id: fact for fact in store.facts(agent=AGENT, statuses=None)}


def _brief(scored: Mapping[str, Any]) -> dict[str, Any]:
    """A control's numbers, without its lists."""
    kept = ("right", "false_retirements", "missed_updates", "missed_merges", "superseded_right",
            "groups_right")  # fmt: skip
    return {name: scored[name] for name in kept} | {"traps_sprung": len(scored["traps_sprung"])}
