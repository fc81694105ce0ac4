"""Typed values in a text: numbers with units, money, percentages, dates, versions, identifiers.

A classifier cannot compute: to it 1.5 kg and 1500 g differ and 8080 and 8081 are nearly the same.
This module finds such values and brings them to one form, so that the judge can say equal,
different or not comparable before a model is asked. It knows nothing of facts or verdicts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

__all__ = ["Value", "find_values"]


@dataclass(frozen=True, kw_only=True)
class Value:
    """One value: two values are equal when kind, unit and amount are."""

    kind: str
    """`number`, `quantity`, `money`, `percent`, `date`, `time`, `version`, `identifier`, `path`."""
    unit: str
    """Base unit (`kg`, `m`, `s`, `EUR`), the counted noun of a bare number, or empty."""
    amount: str
    """Canonical form of the amount or identifier."""
    start: int
    """Offset in the text, in code points."""
    end: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two values the same."""
        return (self.kind, self.unit, self.amount)


_UNITS: Final = {
    # mass in kg, length in m, volume in l, time in s, data in byte, temperature apart
    "kg": ("kg", 1.0), "kgs": ("kg", 1.0), "kilo": ("kg", 1.0), "kilos": ("kg", 1.0),
    "kilograms": ("kg", 1.0), "kilogram": ("kg", 1.0), "g": ("kg", 1e-3), "gram": ("kg", 1e-3),
    "grams": ("kg", 1e-3), "mg": ("kg", 1e-6), "t": ("kg", 1e3), "tons": ("kg", 1e3),
    "tonnes": ("kg", 1e3), "lb": ("kg", 0.45359237), "lbs": ("kg", 0.45359237),
    "pounds": ("kg", 0.45359237), "oz": ("kg", 0.028349523),
    "m": ("m", 1.0), "metre": ("m", 1.0), "metres": ("m", 1.0), "meter": ("m", 1.0),
    "meters": ("m", 1.0), "km": ("m", 1e3), "kilometres": ("m", 1e3), "kilometers": ("m", 1e3),
    "cm": ("m", 1e-2), "centimetres": ("m", 1e-2), "mm": ("m", 1e-3), "mi": ("m", 1609.344),
    "mile": ("m", 1609.344), "miles": ("m", 1609.344), "ft": ("m", 0.3048), "feet": ("m", 0.3048),
    "foot": ("m", 0.3048), "inch": ("m", 0.0254), "inches": ("m", 0.0254),
    "l": ("l", 1.0), "litre": ("l", 1.0), "litres": ("l", 1.0), "liter": ("l", 1.0),
    "liters": ("l", 1.0), "ml": ("l", 1e-3), "cl": ("l", 1e-2), "dl": ("l", 0.1),
    "ms": ("s", 1e-3), "millisecond": ("s", 1e-3), "milliseconds": ("s", 1e-3), "s": ("s", 1.0),
    "sec": ("s", 1.0), "secs": ("s", 1.0), "second": ("s", 1.0), "seconds": ("s", 1.0),
    "min": ("s", 60.0), "mins": ("s", 60.0), "minute": ("s", 60.0), "minutes": ("s", 60.0),
    "h": ("s", 3600.0), "hr": ("s", 3600.0), "hrs": ("s", 3600.0), "hour": ("s", 3600.0),
    "hours": ("s", 3600.0), "day": ("s", 86400.0), "days": ("s", 86400.0),
    "week": ("s", 604800.0), "weeks": ("s", 604800.0),
    "chilometri": ("m", 1e3), "kilometer": ("m", 1e3), "kilomètres": ("m", 1e3),
    "kilómetros": ("m", 1e3), "metri": ("m", 1.0), "metros": ("m", 1.0), "mètres": ("m", 1.0),
    "stunden": ("s", 3600.0), "stunde": ("s", 3600.0), "ore": ("s", 3600.0),
    "heures": ("s", 3600.0), "horas": ("s", 3600.0), "minuten": ("s", 60.0),
    "minuti": ("s", 60.0), "minutos": ("s", 60.0), "tage": ("s", 86400.0),
    # a month is no fixed number of seconds; months and years convert only to each other
    "month": ("month", 1.0), "months": ("month", 1.0), "year": ("month", 12.0),
    "years": ("month", 12.0),
    "kb": ("byte", 1e3), "mb": ("byte", 1e6), "gb": ("byte", 1e9), "tb": ("byte", 1e12),
    "kib": ("byte", 1024.0), "mib": ("byte", 1024.0**2), "gib": ("byte", 1024.0**3),
}  # fmt: skip

_MONEY: Final = {
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "$": "USD", "usd": "USD",
    "dollars": "USD", "dollar": "USD", "£": "GBP", "gbp": "GBP", "chf": "CHF", "¥": "JPY",
    "yen": "JPY",
}  # fmt: skip

_WORDS: Final = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90, "hundred": 100,
}  # fmt: skip

_MONTHS: Final = {
    name: index
    for index, names in enumerate(
        (
            "january jan januar gennaio enero janvier",
            "february feb februar febbraio febrero février",
            "march mar märz marzo mars",
            "april apr aprile abril avril",
            "may mai maggio mayo",
            "june jun juni giugno junio juin",
            "july jul juli luglio julio juillet",
            "august aug agosto août",
            "september sep sept settembre septiembre septembre",
            "october oct oktober ottobre octubre octobre",
            "november nov novembre noviembre",
            "december dec dezember dicembre diciembre décembre",
        ),
        start=1,
    )
    for name in names.split()
}

_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_AMOUNT = r"\d{1,3}(?:[ ,'’]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?"

_PATTERN: Final = re.compile(
    rf"""
      (?P<url>https?://\S+)
    | (?P<isodate>\b\d{{4}}-\d{{2}}-\d{{2}}\b)
    | (?P<dmy>\b(?P<dmy_d>\d{{1,2}})(?:st|nd|rd|th|\.)?\ (?:of\ )?(?P<dmy_m>{_MONTH})\b\.?
          (?:,?\ (?P<dmy_y>\d{{4}})\b)?)
    | (?P<mdy>\b(?P<mdy_m>{_MONTH})\b\.?\ (?P<mdy_d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)
          (?:,?\ (?P<mdy_y>\d{{4}})\b)?)
    | (?P<my>\b(?P<my_m>{_MONTH})\b\.?\ (?P<my_y>\d{{4}})\b)
    | (?P<time>\b(?P<time_h>\d{{1,2}}):(?P<time_m>\d{{2}})(?:\ ?(?P<time_x>[ap]\.?m\.?))?
          |\b(?P<hour>\d{{1,2}})\ ?(?P<hour_x>[ap]\.?m\.?)(?!\w))
    | (?P<ip>\b\d{{1,3}}(?:\.\d{{1,3}}){{3}}\b)
    | (?P<version>\bv?\d+(?:\.\d+){{2,}}(?:[-+][\w.]+)?\b|\bv\d+(?:\.\d+)*\b)
    | (?P<path>(?<![\w/])(?:~|\.{{1,2}})?/[\w.@~+-]+(?:/[\w.@~+-]*)*|\b[\w-]+(?:/[\w.@-]+)+\b)
    | (?P<ordinal>\b\d+(?:st|nd|rd|th)\b)
    | (?P<identifier>\b(?=[A-Za-z0-9_-]*\d)(?=[A-Za-z0-9_-]*[A-Za-z])[A-Za-z][A-Za-z0-9]*
          (?:[-_][A-Za-z0-9]+)+\b
          |\b[A-Z]{{1,6}}\d{{2,}}[A-Z0-9]*\b
          |\#\d+\b)
    | (?P<money_pre>(?P<cur>[€$£¥])\ ?(?P<cur_amount>{_AMOUNT})\ ?(?P<cur_k>[kK]\b|[mM]\b)?)
    | (?P<number>(?<![\w.])(?P<amount>{_AMOUNT})(?P<k>[kK]\b)?
          (?:\ ?(?P<percent>%|percent\b|per\ cent\b)|\ ?(?P<money>€|£|\$)|
             [ -]?(?P<unit>[A-Za-zµ°]+)\b)?)
    """,
    re.VERBOSE | re.IGNORECASE,
)

_WORD_NUMBER: Final = re.compile(
    r"\b(" + "|".join(_WORDS) + r")\b(?:[- ]([A-Za-z]+)\b)?", re.IGNORECASE
)

_SINGULAR: Final = {"people": "person", "children": "child", "men": "man", "women": "woman"}

_NUMBERED: Final = re.compile(
    r"\b(?:tickets?|issues?|pr|mr|build|invoice|order|case|bug|job|incident|batch|lot|shop|store|"
    r"unit|apartment|apt|flat|room|flight|bus|tram|line|platform|gate|page|chapter|section|"
    r"task|story|run|no\.?|nr\.?|number)\s+#?$",
    re.IGNORECASE,
)
"""Words after which a number names a thing instead of measuring one."""

_PART_OF_NUMBER: Final = re.compile(
    r"\b(?:hundred|thousand|million|half|quarter|past|dozen|point|and)\b", re.IGNORECASE
)
"""Next to these a number word is part of something longer, which is not read."""

_STOP_UNITS: Final = frozenset(
    "a an and are as at but by for from has have in is it not of on or per since so than that the "
    "then to until up was were which who with when while if after before now today currently again "
    "only still already yet instead here there too also old new rather anymore not".split()
)


def _amount(text: str) -> float:
    plain = re.sub(r"[ '’]", "", text)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain):
        plain = plain.replace(",", "")
    return float(plain.replace(",", "."))


def _canonical(amount: float) -> str:
    # Three significant digits: a customarily rounded conversion (70 kg, 154 lb) is the same.
    return f"{amount:.6g}"


def _rounded(amount: float) -> str:
    return f"{amount:.3g}"


def _date(day: str | None, month: str, year: str | None) -> str:
    number = _MONTHS[month.casefold()]
    return f"{year or '????'}-{number:02d}-{int(day):02d}" if day else f"{year}-{number:02d}"


def _clock(hour: str, minute: str, half: str | None) -> str:
    h = int(hour) % 24
    if half:
        h = h % 12 + (12 if half[0] in "pP" else 0)
    return f"{h:02d}:{minute}"


def _from_number(match: re.Match[str]) -> tuple[str, str, str]:
    amount = _amount(match["amount"]) * (1000 if match["k"] else 1)
    if match["percent"]:
        return ("percent", "%", _canonical(amount))
    if match["money"]:
        return ("money", _MONEY[match["money"]], _canonical(amount))
    unit = (match["unit"] or "").casefold()
    if unit in _MONEY:
        return ("money", _MONEY[unit], _canonical(amount))
    if unit in _UNITS:
        base, factor = _UNITS[unit]
        return ("quantity", base, _rounded(amount * factor))
    if not unit and re.fullmatch(r"(19|20)\d\d", match["amount"]):
        return ("date", "", match["amount"])
    if _NUMBERED.search(match.string[max(0, match.start() - 16) : match.start()]):
        return ("identifier", "", match["amount"])
    if len(unit) <= 3 and match["unit"]:
        unit = match["unit"]  # in short units the case counts: mW is not MW
    noun = "" if unit.casefold() in _STOP_UNITS else _SINGULAR.get(unit, unit.removesuffix("s"))
    return ("number", noun, _canonical(amount))


def _date_of(match: re.Match[str]) -> str:
    """Canonical form of a matched date; empty if the match is none."""
    if match["isodate"]:
        return match[0]
    if match["dmy"]:
        return _date(match["dmy_d"], match["dmy_m"], match["dmy_y"])
    if match["mdy"]:
        return _date(match["mdy_d"], match["mdy_m"], match["mdy_y"])
    if match["my"]:
        return _date(None, match["my_m"], match["my_y"])
    return ""


def _typed(match: re.Match[str]) -> tuple[str, str, str]:
    """Kind, unit and canonical amount of one match."""
    text = match[0]
    date = _date_of(match)
    if date:
        return ("date", "", date)
    if match["time"]:
        if match["time_h"]:
            return ("time", "", _clock(match["time_h"], match["time_m"], match["time_x"]))
        return ("time", "", _clock(match["hour"], "00", match["hour_x"]))
    if match["money_pre"]:
        factor = {"k": 1e3, "m": 1e6}.get((match["cur_k"] or "").casefold(), 1.0)
        return ("money", _MONEY[match["cur"]], _canonical(_amount(match["cur_amount"]) * factor))
    if match["version"]:
        return ("version", "", text.casefold().removeprefix("v"))
    if match["number"]:
        return _from_number(match)
    if match["url"] or match["path"]:
        return ("path", "", text.rstrip(".,;:"))
    if match["ordinal"]:
        return ("number", "", text[:-2])
    if match["ip"]:
        return ("identifier", "", text)
    return ("identifier", "", text.casefold())


@lru_cache(maxsize=65536)
def find_values(text: str) -> tuple[Value, ...]:
    """Find the typed values of a text, in order of position."""
    found = []
    taken = bytearray(len(text))
    for match in _PATTERN.finditer(text):
        kind, unit, amount = _typed(match)
        start, end = match.span()
        found.append(Value(kind=kind, unit=unit, amount=amount, start=start, end=end))
        taken[start:end] = b"\1" * (end - start)
    for match in _WORD_NUMBER.finditer(text):
        around = text[max(0, match.start() - 9) : match.start()] + "|" + text[match.end(1) :][:9]
        if any(taken[match.start() : match.end()]) or _PART_OF_NUMBER.search(around):
            continue
        number = float(_WORDS[match[1].casefold()])
        noun = (match[2] or "").casefold()
        start, end = match.span()
        if noun in _UNITS:
            base, factor = _UNITS[noun]
            value = ("quantity", base, _rounded(number * factor))
        else:
            value = ("number", "" if noun in _STOP_UNITS else noun.removesuffix("s"),
                     _canonical(number))  # fmt: skip
        kind, unit, amount = value
        found.append(Value(kind=kind, unit=unit, amount=amount, start=start, end=end))
    return tuple(sorted(found, key=lambda v: v.start))
