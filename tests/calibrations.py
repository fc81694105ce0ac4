"""Judged labels and calibrations made up for tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from consolidate.calibration.curve import Act, Scored
from consolidate.calibration.measure import made_of
from consolidate.calibration.record import Calibration

FOUND = {"merge": "equivalent", "supersede": "contradicts"}


def item(
    act: Act | None, confidence: float = 0.9, *, right: bool = True, language: str = "en"
) -> Scored:
    """A pair that is acted on, rightly or not, or left alone, as it should be."""
    found = FOUND[act] if act else "compatible"
    return Scored(
        act=act,
        confidence=confidence,
        relation=found if right else "compatible",
        right=right and act is not None,
        language=language,
        found=found,
        sure=confidence,
    )


def plain(
    *, count: int = 2000, wrong: Sequence[float] = (), language: str = "en"
) -> Iterable[Scored]:
    """Right acts at all confidences, many pairs left alone, and wrong supersessions at some."""
    for act in ("merge", "supersede"):
        for step in range(50):
            yield item(act, 0.5 + step / 100, language=language)
    for confidence in wrong:
        yield item("supersede", confidence, right=False, language=language)
    for _ in range(count):
        yield item(None, language=language)


def calibration(model: str = "model@1", **sources: Iterable[Scored]) -> Calibration:
    """A calibration of a model."""
    given = {name: list(items) for name, items in sources.items()} or {"pairs": list(plain())}
    return made_of(given, model=model, extractor="rules", made="2026-01-01", data={"f": "0" * 64})
