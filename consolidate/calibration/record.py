"""The calibration of one model file: what was counted, of what, and with what. As JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from consolidate.calibration.curve import Act, Curve
from consolidate.errors import InputError
from consolidate.stages.policy import Steps

__all__ = ["ACTS", "Calibration"]

ACTS: Final[tuple[Act, ...]] = get_args(Act)
_FORMAT: Final = 1

Curves = Mapping[Act, Curve]


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What labelled pairs say about one judge: its model file and the layers around it."""

    model: str
    """Identity of the classifier, digest included: it holds for no other."""
    extractor: str
    """Identity of the extractor whose names the layers looked at."""
    made: str
    """Date, e.g. `2026-11-30`."""
    sources: Mapping[str, Curves]
    """Curves over each source of labels. A bound must hold on each of them."""
    languages: Mapping[str, Curves]
    """Curves over the pairs of each class of `consolidate.judge.language`, sources together."""
    reliability: Mapping[str, Steps] = field(default_factory=dict)
    """See `consolidate.stages.policy.Policy.reliability`."""
    data: Mapping[str, str] = field(default_factory=dict)
    """Name of each file of labels to its SHA-256."""

    @property
    def labels(self) -> int:
        """Labelled pairs it rests on."""
        return sum(c["merge"].forbidden + c["merge"].wanted for c in self.sources.values())

    def to_json(self) -> str:
        """As a JSON document that ends with a line feed."""
        return _document(
            {
                "format": _FORMAT,
                "model": self.model,
                "extractor": self.extractor,
                "made": self.made,
                "data": dict(sorted(self.data.items())),
                "reliability": {
                    name: [list(step) for step in steps]
                    for name, steps in sorted(self.reliability.items())
                },
                "sources": _to_data(self.sources),
                "languages": _to_data(self.languages),
            }
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Calibration:
        """Read what `to_json` gave.

        Raises:
            InputError: It is something else; the message says what is wrong.
        """
        try:
            data = json.loads(text)
            if not isinstance(data, dict) or data.get("format") != _FORMAT:
                raise ValueError(f"expected a calibration of format {_FORMAT}")
            sources = _from_data(data["sources"])
            if not sources:
                raise ValueError("it rests on no labels")
            return cls(
                model=_text(data["model"]),
                extractor=_text(data["extractor"]),
                made=_text(data["made"]),
                sources=sources,
                languages=_from_data(data["languages"]),
                reliability={
                    _text(name): _steps(steps) for name, steps in data["reliability"].items()
                },
                data={_text(k): _text(v) for k, v in data["data"].items()},
            )
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as e:
            what = f"{e.args[0]!r} is missing" if isinstance(e, KeyError) else str(e)
            raise InputError(f"this is no calibration: {what}") from e


def _to_data(parts: Mapping[str, Curves]) -> dict[str, Any]:
    return {
        name: {act: curves[act].to_data() for act in ACTS} for name, curves in sorted(parts.items())
    }


def _from_data(data: Mapping[str, Any]) -> dict[str, dict[Act, Curve]]:
    return {
        _text(name): {act: Curve.from_data(curves[act]) for act in ACTS}
        for name, curves in data.items()
    }


def _steps(values: Any) -> Steps:
    """Read steps; both numbers must be shares that grow, the first of them at each step."""
    steps = tuple((float(x), float(y)) for x, y in values)
    confidences, shares = [x for x, _ in steps], [y for _, y in steps]
    if sorted(set(confidences)) != confidences or sorted(shares) != shares:
        raise ValueError("shares must grow with the confidence")
    if not steps or not all(0 <= value <= 1 for step in steps for value in step):
        raise ValueError("confidences and shares must be from 0 to 1")
    return steps


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a text, found {value!r}")
    return value


def _document(data: Mapping[str, Any]) -> str:
    """Indented, but each list of numbers in one line."""
    lists: list[list[Any]] = []

    def marked(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: marked(item) for key, item in value.items()}
        if isinstance(value, list):
            lists.append(value)
            return f"\0{len(lists) - 1}\0"
        return value

    text = json.dumps(marked(data), indent=1, ensure_ascii=False)
    for number, values in enumerate(lists):
        text = text.replace(f'"\\u0000{number}\\u0000"', json.dumps(values), 1)
    return text + "\n"
