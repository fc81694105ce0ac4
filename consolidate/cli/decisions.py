"""Shows decisions: what is done with which fact, and why. Shared by several commands."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from consolidate.cli.render import day, draw, heading, say
from consolidate.cli.text import visible
from consolidate.types import Decision, DecisionKind, Fact, Review

if TYPE_CHECKING:
    from consolidate.store import Store

__all__ = ["draw_decisions", "draw_question", "facts_of"]

_ORDER = (DecisionKind.SUPERSEDE, DecisionKind.MERGE, DecisionKind.REVIEW, DecisionKind.LINK)
_TITLES = {
    DecisionKind.SUPERSEDE: "No longer holds",
    DecisionKind.MERGE: "Said more than once",
    DecisionKind.REVIEW: "For a person to decide",
    DecisionKind.LINK: "Belongs together",
}
_ARROWS = {
    DecisionKind.SUPERSEDE: "now",
    DecisionKind.MERGE: "kept",
    DecisionKind.REVIEW: "and",
    DecisionKind.LINK: "with",
}
_PROPOSALS = {
    DecisionKind.SUPERSEDE: "retire the first, since the second holds now",
    DecisionKind.MERGE: "keep the second for both",
    DecisionKind.LINK: "link the two",
}
_SHOWN = 5


def facts_of(store: Store, decisions: Iterable[Decision]) -> dict[str, Fact]:
    """Fetch the facts that decisions speak of, whatever became of them."""
    ids = {fact_id for decision in decisions for fact_id in (decision.subject, decision.object)}
    return {fact.id: fact for fact in store.facts(statuses=None, ids=ids)} if ids else {}


def draw_decisions(
    decisions: Collection[Decision], facts: Mapping[str, Fact], *, every: bool = False
) -> None:
    """Draw decisions by kind, the surest of each first.

    Args:
        decisions: What was decided.
        facts: Facts by id.
        every: Whether to draw all of them; else a few of each kind.
    """
    left_out = 0
    for kind in _ORDER:
        group = sorted((d for d in decisions if d.kind is kind), key=_telling)
        if not group:
            continue
        heading(f"{_TITLES[kind]}: {len(group)}")
        shown = group if every else group[:_SHOWN]
        for decision in shown:
            _draw(decision, facts)
        left_out += len(group) - len(shown)
    if left_out:
        say(f"... and {left_out} more; --all shows them.", style="dim")


def draw_question(review: Review, facts: Mapping[str, Fact]) -> None:
    """Draw one review: both facts, why it is asked, and what accepting does."""
    decision = review.decision
    heading(review.id if review.decided_at is None else f"{review.id} ({review.state})")
    _lines(_fact(decision.subject, facts), decision)
    draw(Padding(_labelled("and", _fact(decision.object, facts)), (0, 0, 0, 4)))
    _reason(decision)
    if decision.proposal:
        what = _PROPOSALS.get(decision.proposal, decision.proposal.value)
        draw(Padding(_labelled("accepting", Text(f"would {what}")), (0, 0, 0, 4)))
    elif review.decided_at is None:
        keep = visible(f"needs --keep {decision.subject} or --keep {decision.object}")
        draw(Padding(_labelled("accepting", Text(keep)), (0, 0, 0, 4)))


def _draw(decision: Decision, facts: Mapping[str, Fact]) -> None:
    _lines(_fact(decision.subject, facts), decision)
    label = decision.relation.replace("_", " ") or _ARROWS[decision.kind]
    draw(Padding(_labelled(label, _fact(decision.object, facts)), (0, 0, 0, 4)))
    _reason(decision)


def _lines(first: Text, decision: Decision) -> None:
    retired = decision.kind in (DecisionKind.SUPERSEDE, DecisionKind.MERGE)
    draw(Padding(Text.assemble("- " if retired else "* ", first), (0, 0, 0, 2)))


def _reason(decision: Decision) -> None:
    draw(Padding(_labelled("why", Text(visible(decision.sentence))), (0, 0, 0, 4)))


def _labelled(label: str, text: Text) -> Text:
    return Text.assemble((f"{label}: ", "dim"), text)


def _fact(fact_id: str, facts: Mapping[str, Fact]) -> Text:
    fact = facts.get(fact_id)
    if fact is None:
        return Text(visible(fact_id))
    said = day(fact.stated_at)
    return Text.assemble(visible(fact.text), (f"  ({said})" if said else "", "dim"))


def _telling(decision: Decision) -> tuple[float, str]:
    best = max((item.confidence for item in decision.evidence), default=0.0)
    return -best, decision.id
