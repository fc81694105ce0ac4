"""Looks through a file before it comes in: repeats, conflicts, junk, secrets, times.

What says the same and what can't both hold is found as a run finds it: the facts go into a store in
memory, and a run is planned there that nobody applies. Nothing is changed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from consolidate.errors import ConsolidateError
from consolidate.exchange.findings import Audit, Finding, Pairing
from consolidate.exchange.records import Parsed
from consolidate.exchange.secrets import find_secrets
from consolidate.stages.collapse import plain_text
from consolidate.store import Store
from consolidate.types import Decision, DecisionKind, Fact, FactStatus, NewFact

if TYPE_CHECKING:
    from consolidate.backends import Backends
    from consolidate.settings import Settings
    from consolidate.stages.work import Progress

__all__ = ["audit"]

_Looked = Sequence[tuple[int, NewFact | Fact]]

MOST_FACTS: Final = 2000
"""Facts that the models compare; about a minute with the bundled ones on two cores."""
MOST_PAIRS: Final = 4000

_LONG: Final = 2000
"""Characters; a longer text is a document, not a fact."""
_EARLIEST: Final = datetime(1990, 1, 1, tzinfo=UTC)
_MANY: Final = 10
_SHOWN: Final = 80

_BOILERPLATE: Final = re.compile(
    r"^(?:as an ai\b|i'?m sorry,? but|i (?:can(?:no|')t|am unable to) (?:help|assist)|sure[,!]|"
    r"certainly[,!]|of course[,!]|here(?:'s| is| are) (?:the|a|your)|let me know if|"
    r"i hope this helps|is there anything else|no (?:relevant|new) (?:facts|information|memories)|"
    r"(?:hi|hello|hey|thanks|thank you|ok|okay|yes|no|test|testing|foo|bar|asdf+|lorem ipsum)\b"
    r"[\s.!]*(?:dolor.*)?$|(?:null|none|undefined|nan|n/?a|todo|tbd|\[object object\]|\{\}|\[\])$)",
    re.IGNORECASE | re.DOTALL,
)
_HTML: Final = re.compile(
    r"</?(?:div|span|p|br|a|li|ul|ol|table|tr|td|h[1-6]|script|style|img|b|i|strong|em|body|html)"
    r"(?:\s[^<>]*)?/?>|&(?:nbsp|amp|lt|gt|quot|#\d+);",
    re.IGNORECASE,
)
_TRACE: Final = re.compile(
    r"Traceback \(most recent call last\)|^\s+at \S+\(.*:\d+\)", re.MULTILINE
)
_GARBLED: Final = re.compile(r"Ã[\x80-\xbf¡-¿]|â€[™œ\x9d“”˜]|\ufffd")


def audit(
    parsed: Parsed,
    *,
    now: datetime,
    agent: str = "default",
    settings: Settings | None = None,
    backends: Backends | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Look through what a reader made of a file.

    Args:
        parsed: The file.
        now: The present moment.
        agent: Whose facts they are where the file does not say.
        settings: For the models; None looks for verbatim repeats only.
        backends: The models; None loads those of the settings.
        progress: Told how far the models are.
    """
    looked: list[tuple[int, NewFact | Fact]] = [*parsed.facts, *parsed.archive.facts]
    junk = [Finding(line=b.line, what="unreadable", shown=b.reason) for b in parsed.broken]
    junk += [found for line, fact in looked for found in _junk(line, fact)]
    texts = [(line, fact.text) for line, fact in looked]
    texts += [(line, block.content) for line, block in parsed.blocks]
    if parsed.said:
        texts += [(0, message.content) for message in parsed.said.messages]
    secrets = [
        Finding(line=line, what=what, shown=shown)
        for line, text in texts
        for what, shown in find_secrets(text)
    ]
    repeats, said_twice = _repeats(looked)
    found = Audit(
        looked_at=len(looked),
        repeats=repeats,
        duplicates=tuple(said_twice),
        junk=tuple(junk),
        secrets=tuple(secrets),
        times=tuple(_times(looked, now)),
    )
    if settings is None:
        return replace(found, notes=("without models: verbatim repeats only, no conflicts",))
    try:
        return _judged(found, looked, settings, backends, now, progress)
    except ConsolidateError as error:
        return replace(found, notes=(f"verbatim repeats only, no conflicts: {error}",))


def _junk(line: int, fact: NewFact | Fact) -> list[Finding]:
    text = fact.text.strip()
    found = []
    if _BOILERPLATE.search(text):
        found.append("boilerplate")
    elif len(re.findall(r"\w", text)) < 3:
        found.append("empty")
    if len(text) > _LONG and fact.kind not in ("memory", "document"):
        found.append("too long")
    if _HTML.search(text):
        found.append("HTML")
    if _TRACE.search(text):
        found.append("stack trace")
    if _GARBLED.search(text):
        found.append("garbled letters")
    return [Finding(line=line, what=what, shown=_short(text)) for what in found]


def _repeats(looked: _Looked) -> tuple[int, list[Pairing]]:
    """How many facts say a thing again word for word, and one pair for each such thing."""
    groups: dict[tuple[str, str, str], list[tuple[int, str]]] = defaultdict(list)
    for line, fact in looked:
        if not isinstance(fact, Fact) or fact.status.is_live:
            groups[fact.agent, fact.kind, plain_text(fact.text)].append((line, fact.text))
    again = [members for members in groups.values() if len(members) > 1]
    pairs = [
        Pairing(
            lines=(members[0][0], members[1][0]),
            texts=(_short(members[0][1]), _short(members[1][1])),
            reason="word for word" if len(members) == 2 else f"word for word, {len(members)} times",
        )
        for members in again
    ]
    return sum(len(members) - 1 for members in again), pairs


def _times(looked: _Looked, now: datetime) -> list[Finding]:
    found = []
    stamps: Counter[datetime] = Counter()
    without = [(line, fact) for line, fact in looked if fact.stated_at is None]
    for line, fact in looked:
        said = fact.stated_at
        if said is not None:
            stamps[said.replace(microsecond=0)] += 1
            if said > now + timedelta(days=1):
                found.append(Finding(line=line, what="said in the future", shown=said.isoformat()))
            elif said < _EARLIEST:
                found.append(Finding(line=line, what="said long ago", shown=said.isoformat()))
        if fact.valid_from and fact.valid_to and fact.valid_to < fact.valid_from:
            shown = f"{fact.valid_from.isoformat()} to {fact.valid_to.isoformat()}"
            found.append(Finding(line=line, what="ends before it begins", shown=shown))
    if without:
        share = f"{len(without)} of {len(looked)} facts"
        found.append(Finding(line=without[0][0], what="no time", shown=share))
    if stamps and len(looked) >= _MANY:
        moment, count = stamps.most_common(1)[0]
        if count > 0.8 * len(looked):
            shown = f"{count} facts at {moment.isoformat()}: the day of an import, not of saying?"
            found.append(Finding(line=0, what="one time for all", shown=shown))
    return found


def _judged(
    found: Audit,
    looked: _Looked,
    settings: Settings,
    backends: Backends | None,
    now: datetime,
    progress: Progress | None,
) -> Audit:
    from consolidate import pipeline
    from consolidate.backends import Backends
    from consolidate.stages.work import silent

    live = [
        (line, fact)
        for line, fact in looked
        if not isinstance(fact, Fact) or fact.status is FactStatus.ACTIVE
    ]
    chosen, lines = _distinct(live)
    notes = []
    if len(chosen) > MOST_FACTS:
        notes.append(f"the models compared {MOST_FACTS} of {len(chosen)} facts, the latest said")
        latest = sorted(chosen, key=lambda f: (f.stated_at or _EARLIEST, f.id or ""))
        chosen = latest[-MOST_FACTS:]
    bounded = replace(settings, pair_budget=MOST_PAIRS)
    models = backends or Backends.load(settings)
    texts = {fact.id or "": fact.text for fact in chosen}
    duplicates, conflicts = list(found.duplicates), []
    cut = 0
    with Store.open(":memory:") as store:
        store.add(chosen, now=now)
        for agent in store.agents():
            plan = pipeline.plan(
                store, models, bounded, agent=agent, now=now, progress=progress or silent
            )
            cut += plan.cut
            for decision in plan.decisions:
                kind = decision.proposal or decision.kind
                pairing = _pairing(decision, lines, texts)
                if kind is DecisionKind.MERGE and decision.reason != "repeat":
                    duplicates.append(pairing)
                elif kind is DecisionKind.SUPERSEDE or decision.kind is DecisionKind.REVIEW:
                    conflicts.append(pairing)
    if cut:
        notes.append(f"{cut} pairs were left uncompared: the limit is {MOST_PAIRS}")
    return replace(
        found,
        judged=len(chosen),
        duplicates=tuple(duplicates),
        conflicts=tuple(conflicts),
        notes=tuple(notes),
    )


def _distinct(live: _Looked) -> tuple[list[NewFact], dict[str, int]]:
    """One new fact for each distinct statement, with the line of each by id."""
    chosen: dict[tuple[str, str, str], NewFact] = {}
    lines: dict[str, int] = {}
    for number, (line, fact) in enumerate(live):
        key = (fact.agent, fact.kind, plain_text(fact.text))
        if key in chosen or not fact.text.strip() or len(fact.text) > _LONG or "\0" in fact.text:
            continue
        name = f"a{number:07}"
        starts, ends = fact.valid_from, fact.valid_to
        chosen[key] = NewFact(
            id=name,
            text=fact.text,
            agent=fact.agent,
            kind=fact.kind,
            stated_at=fact.stated_at,
            valid_from=starts,
            valid_to=ends if not (starts and ends and ends < starts) else None,
            source=fact.source,
        )
        lines[name] = line
    return list(chosen.values()), lines


def _pairing(decision: Decision, lines: Mapping[str, int], texts: Mapping[str, str]) -> Pairing:
    pair = (decision.subject, decision.object)
    return Pairing(
        lines=(lines[pair[0]], lines[pair[1]]),
        texts=(_short(texts[pair[0]]), _short(texts[pair[1]])),
        reason=decision.reason,
        sure=decision.kind is not DecisionKind.REVIEW,
    )


def _short(text: str) -> str:
    """The beginning of a text, with the secrets in it masked."""
    flat = " ".join(text.split())
    if find_secrets(flat):
        return f"{flat[:12].split(' ')[0]} … (holds a secret)"
    return flat if len(flat) <= _SHOWN else f"{flat[:_SHOWN]}…"
