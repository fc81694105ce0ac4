from __future__ import annotations

from builders import NOW

from consolidate.stages.report import Report, report_of
from consolidate.types import Decision, DecisionKind, Plan, Receipt, StageStats


def decision(kind: DecisionKind, subject: str) -> Decision:
    return Decision(
        id=f"{kind}-{subject}", kind=kind, subject=subject, object="z", reason="r", sentence="S."
    )


def plan(*kinds: DecisionKind, stages: tuple[StageStats, ...] = (), cut: int = 0) -> Plan:
    return Plan(
        id="p1",
        agent="mia",
        now=NOW,
        snapshot_digest="",
        settings_digest="",
        facts={},
        decisions=tuple(decision(kind, f"f{n}") for n, kind in enumerate(kinds)),
        stages=stages,
        models={"embedder": "e@1"},
        cut=cut,
    )


STAGES = (
    StageStats(stage="snapshot", items_in=12, items_out=12, detail={"live": 10, "retired": 2}),
    StageStats(stage="collapse", items_in=12, items_out=9),
    StageStats(stage="embed", seconds=0.5, model_calls=9),
    StageStats(stage="entities", seconds=0.25, model_calls=9),
    StageStats(stage="group", items_out=4, detail={"hubs": 1, "ambiguous": 0}),
    StageStats(stage="pairs", items_out=20, detail={"neighbour": 20}),
    StageStats(
        stage="classify", items_out=18, model_calls=15, cached=3, failures=2, detail={"cut": 2},
        seconds=1.0,
    ),
    StageStats(stage="decide", items_out=4),
)  # fmt: skip

ONE_OF_EACH = (DecisionKind.MERGE, DecisionKind.SUPERSEDE, DecisionKind.LINK, DecisionKind.REVIEW)


def rows(report: Report) -> dict[str, tuple[int, str]]:
    return {row.label: (row.count, row.note) for row in report.funnel}


def test_the_funnel_finds_every_fact_again() -> None:
    found = rows(report_of(plan(*ONE_OF_EACH, DecisionKind.MERGE, stages=STAGES)))
    assert found["facts"] == (10, "2 retired before")
    assert found["distinct texts"][0] == 9
    assert found["merged"][0] == 2
    assert found["superseded"][0] == found["linked"][0] == found["to review"][0] == 1
    assert found["facts that stand"] == (7, "= 10 - 2 merged - 1 superseded")


def test_the_funnel_tells_what_was_judged_and_what_not() -> None:
    count, note = rows(report_of(plan(stages=STAGES)))["judged"]
    assert count == 18
    assert note == "15 by the model, 3 known, 2 failed, 2 left for the next run"


def test_seconds_and_model_calls_are_those_of_all_stages() -> None:
    report = report_of(plan(stages=STAGES))
    assert report.seconds == 1.75
    assert report.model_calls == 33
    assert report.models == {"embedder": "e@1"}


def test_a_plan_without_receipt_is_told_as_not_applied() -> None:
    report = report_of(plan(*ONE_OF_EACH, stages=STAGES))
    assert not report.applied
    assert report.lines()[-1] == "33 model calls in 1.8 s; nothing applied"


def test_a_receipt_names_the_run() -> None:
    receipt = Receipt(run="run-1", plan="p1", agent="mia", applied_at=NOW)
    report = report_of(plan(*ONE_OF_EACH, stages=STAGES), receipt)
    assert (report.applied, report.run) == (True, "run-1")
    assert report.lines()[-1].endswith("applied as run-1")


def test_a_receipt_of_nothing_is_told_as_not_applied() -> None:
    receipt = Receipt(run="", plan="p1", agent="mia", applied_at=NOW)
    assert not report_of(plan(stages=STAGES), receipt).applied


def test_pairs_that_are_left_are_told() -> None:
    assert "7 pairs are left for the next run" in report_of(plan(stages=STAGES, cut=7)).lines()
    assert "left" not in str(report_of(plan(stages=STAGES[:1] + STAGES[1:6] + (
        StageStats(stage="classify"),
    ))))  # fmt: skip


def test_a_plan_without_stages_is_told_by_its_decisions() -> None:
    found = rows(report_of(plan(DecisionKind.SUPERSEDE)))
    assert list(found) == ["merged", "superseded", "linked", "to review"]
    assert found["superseded"][0] == 1


def test_nothing_new_is_one_line() -> None:
    assert str(Report(agent="mia", nothing_new=True)) == (
        "mia: nothing new since the last run; 0 model calls, 0 rows written"
    )


def test_the_lines_are_the_text() -> None:
    report = report_of(plan(*ONE_OF_EACH, stages=STAGES))
    assert str(report).splitlines() == report.lines()
