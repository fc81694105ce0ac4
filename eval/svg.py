"""Small charts as SVG text, for a page that loads nothing. Knows no results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

__all__ = ["bars", "line_chart"]

COLOURS: Final = ("#2b6cb0", "#c05621", "#2f855a", "#805ad5", "#718096")
_WIDE, _HIGH = 420, 300
_LEFT, _TOP, _RIGHT, _BOTTOM = 48, 12, 12, 44


def line_chart(
    lines: Mapping[str, Sequence[Sequence[float]]],
    *,
    across: str,
    up: str,
    top: float = 1.0,
    diagonal: bool = False,
) -> str:
    """A chart of points (x, y, ...), x from 0 to 1, y from 0 to `top`."""
    parts = [_frame(across, up, top)]
    if diagonal:
        parts.append(_path([(0, 0), (1, top)], top, "#a0aec0", dashed=True))
    for place, (name, points) in enumerate(lines.items()):
        colour = COLOURS[place % len(COLOURS)]
        parts.append(_path([(p[0], p[1]) for p in points], top, colour))
        parts += [
            f'<circle cx="{_x(p[0]):.1f}" cy="{_y(p[1], top):.1f}" r="2" fill="{colour}"/>'
            for p in points
        ]
        parts.append(_legend(name, colour, place))
    return _svg(parts, f"{up} against {across}")


def bars(bins: Sequence[Mapping[str, float]], *, across: str, up: str) -> str:
    """A reliability diagram: bins with `from`, `to`, `items`, `confidence`, `right`."""
    parts = [_frame(across, up, 1.0), _path([(0, 0), (1, 1)], 1.0, "#a0aec0", dashed=True)]
    for entry in bins:
        if not entry["items"]:
            continue
        left, right = _x(entry["from"]), _x(entry["to"])
        y = _y(entry["right"], 1.0)
        parts.append(
            f'<rect x="{left + 1:.1f}" y="{y:.1f}" width="{right - left - 2:.1f}" '
            f'height="{_y(0, 1.0) - y:.1f}" fill="{COLOURS[0]}" opacity="0.65">'
            f"<title>{entry['items']:.0f} items, sure {entry['confidence']:.2f}, right "
            f"{entry['right']:.2f}</title></rect>"
        )
        parts.append(
            f'<text x="{(left + right) / 2:.1f}" y="{max(y - 3, _TOP + 8):.1f}" font-size="9" '
            f'text-anchor="middle">{entry["items"]:.0f}</text>'
        )
    return _svg(parts, f"{up} against {across}")


def _x(value: float) -> float:
    return _LEFT + value * (_WIDE - _LEFT - _RIGHT)


def _y(value: float, top: float) -> float:
    return _HIGH - _BOTTOM - value / top * (_HIGH - _TOP - _BOTTOM)


def _frame(across: str, up: str, top: float) -> str:
    marks = []
    for k in range(6):
        x, y = _x(k / 5), _y(top * k / 5, top)
        marks.append(
            f'<line x1="{_x(0)}" x2="{_x(1)}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e2e8f0"/>'
            f'<text x="{_LEFT - 5}" y="{y + 3:.1f}" font-size="10" text-anchor="end">'
            f"{top * k / 5:.2g}</text>"
            f'<text x="{x:.1f}" y="{_HIGH - _BOTTOM + 14}" font-size="10" text-anchor="middle">'
            f"{k / 5:.1f}</text>"
        )
    middle = (_HIGH - _BOTTOM + _TOP) / 2
    return "".join(marks) + (
        f'<text x="{_x(0.5)}" y="{_HIGH - 12}" font-size="11" text-anchor="middle">'
        f"{escape(across)}</text>"
        f'<text x="12" y="{middle}" font-size="11" text-anchor="middle" '
        f'transform="rotate(-90 12 {middle})">{escape(up)}</text>'
    )


def _path(
    points: Sequence[tuple[float, float]], top: float, colour: str, *, dashed: bool = False
) -> str:
    told = " ".join(f"{_x(x):.1f},{_y(y, top):.1f}" for x, y in points)
    dash = ' stroke-dasharray="4 3"' if dashed else ""
    return f'<polyline points="{told}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}/>'


def _legend(name: str, colour: str, place: int) -> str:
    y = _TOP + 10 + 14 * place
    return (
        f'<rect x="{_WIDE - 150}" y="{y - 7}" width="9" height="9" fill="{colour}"/>'
        f'<text x="{_WIDE - 136}" y="{y + 1}" font-size="10">{escape(name)}</text>'
    )


def _svg(parts: Sequence[str], label: str) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDE} {_HIGH}" width="{_WIDE}" height="{_HIGH}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )
