"""The account of a run: a funnel in which every fact is found again, and what each stage cost.

Pure: plan and receipt in, records and plain text out. Tables and colours are the CLI's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from consolidate.stages.work import GIVEN_UP, TO_RETRY
from consolidate.store import MOST_ATTEMPTS
from consolidate.types import Decision, DecisionKind, Plan, Receipt, StageStats

__all__ = ["FunnelRow", "Report", "report_of"]


_NO_COST: Final = frozenset({"cut", GIVEN_UP, TO_RETRY})


@dataclass(frozen=True, kw_only=True)
class FunnelRow:
    """One step of the funnel."""

    label: str
    count: int
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a run found and did."""

    agent: str
    nothing_new: bool = False
    applied: bool = False
    run: str = ""
    plan: str = ""
    funnel: tuple[FunnelRow, ...] = ()
    stages: tuple[StageStats, ...] = ()
    decisions: tuple[Decision, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    cut: int = 0

    @property
    def seconds(self) -> float:
        """Seconds over all stages."""
        return sum(stage.seconds for stage in self.stages)

    @property
    def model_calls(self) -> int:
        """Texts and pairs that models judged in this run."""
        return sum(stage.model_calls for stage in self.stages)

    @property
    def spent(self) -> dict[str, int]:
        """What language models cost over all stages: calls, tokens and the like; often nothing."""
        total: Counter[str] = Counter()
        for stage in self.stages:
            if "calls" in stage.detail:
                total.update({k: n for k, n in stage.detail.items() if k not in _NO_COST})
        return dict(total)

    @property
    def given_up(self) -> str:
        """What models failed on so often that it is not asked about again; empty if nothing."""
        if not (count := sum(stage.detail.get(GIVEN_UP, 0) for stage in self.stages)):
            return ""
        return (
            f"{count} texts or pairs failed in {MOST_ATTEMPTS} runs and are not asked about again; "
            "`consolidate run --retry-failed` asks"
        )

    @property
    def cost(self) -> str:
        """`spent` in one line; empty if no language model was asked."""
        if not (spent := self.spent):
            return ""
        words = f"language models: {spent['calls']} calls, {spent.get('tokens_in', 0)} tokens in"
        return f"{words}, {spent.get('tokens_out', 0)} out"

    def lines(self) -> list[str]:
        """The report as plain text."""
        if self.nothing_new:
            return [f"{self.agent}: nothing new since the last run; 0 model calls, 0 rows written"]
        width = max((len(row.label) for row in self.funnel), default=0)
        text = [
            f"{row.label:<{width}}  {row.count:>7}" + (f"  {row.note}" if row.note else "")
            for row in self.funnel
        ]
        if self.cut:
            text.append(f"{self.cut} pairs are left for the next run")
        if self.given_up:
            text.append(self.given_up)
        if self.cost:
            text.append(self.cost)
        what = f"applied as {self.run}" if self.applied else "nothing applied"
        text.append(f"{self.model_calls} model calls in {self.seconds:.1f} s; {what}")
        return text

    def __str__(self) -> str:
        return "\n".join(self.lines())


def report_of(plan: Plan, receipt: Receipt | None = None) -> Report:
    """Make the report of a plan, applied or not."""
    return Report(
        agent=plan.agent,
        applied=bool(receipt and receipt.run),
        run=receipt.run if receipt else "",
        plan=plan.id,
        funnel=_funnel(plan),
        stages=plan.stages,
        decisions=plan.decisions,
        models=plan.models,
        settings=plan.settings,
        cut=plan.cut,
    )


def _funnel(plan: Plan) -> tuple[FunnelRow, ...]:
    stages = {stage.stage: stage for stage in plan.stages}
    kinds = Counter(d.kind for d in plan.decisions)
    row = FunnelRow
    rows = []
    if "snapshot" in stages:
        detail = stages["snapshot"].detail
        live = detail.get("live", 0)
        rows += [
            row(label="facts", count=live, note=f"{detail.get('retired', 0)} retired before"),
            row(
                label="distinct texts",
                count=stages["collapse"].items_out,
                note="of live and retired facts",
            ),
            row(
                label="entities",
                count=stages["group"].items_out,
                note=_notes(stages["group"].detail),
            ),
            row(
                label="pairs", count=stages["pairs"].items_out, note=_notes(stages["pairs"].detail)
            ),
            row(
                label="judged", count=stages["classify"].items_out, note=_judged(stages["classify"])
            ),
        ]
    rows += [
        row(label="merged", count=kinds[DecisionKind.MERGE]),
        row(label="superseded", count=kinds[DecisionKind.SUPERSEDE]),
        row(label="linked", count=kinds[DecisionKind.LINK]),
        row(label="to review", count=kinds[DecisionKind.REVIEW]),
    ]
    if "snapshot" in stages:
        gone = kinds[DecisionKind.MERGE] + kinds[DecisionKind.SUPERSEDE]
        rows.append(
            row(
                label="facts that stand",
                count=live - gone,
                note=f"= {live} - {kinds[DecisionKind.MERGE]} merged - "
                f"{kinds[DecisionKind.SUPERSEDE]} superseded",
            )
        )
    return tuple(rows)


def _notes(detail: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in detail.items())


def _judged(stage: StageStats) -> str:
    parts = [f"{stage.model_calls} by the model", f"{stage.cached} known"]
    if stage.failures:
        parts.append(f"{stage.failures} failed")
    if stage.detail.get(GIVEN_UP):
        parts.append(f"{stage.detail[GIVEN_UP]} given up")
    if stage.detail.get("cut"):
        parts.append(f"{stage.detail['cut']} left for the next run")
    return ", ".join(parts)
