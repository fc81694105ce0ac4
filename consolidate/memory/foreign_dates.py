"""Turns "gestern", "la semaine prochaine", "mañana" and "domani" into the day that was meant.

German, French, Spanish and Italian; English is in `relative`. What is plain becomes a date, a
week, a month or a year. What can be read in two ways keeps its words and gets a note of the day on
which it was said: "nächsten Freitag (gesagt am 2026-03-04)". So it is never wrong.

Pure: the day is passed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache, partial
from typing import Final, Literal

__all__ = ["LANGUAGES", "absolute_in"]

_Unit = Literal["day", "week", "month", "year"]


@dataclass(frozen=True, kw_only=True)
class _Tongue:
    """How a language speaks of days. In patterns, `{}` is the ISO date."""

    on: str
    week: str
    month: str
    """`{}` is month and year."""
    month_and_year: str
    year: str
    note: str
    months: tuple[str, ...]
    days: tuple[str, ...]
    numbers: Mapping[str, int]
    units: Mapping[str, _Unit]
    fixed: Mapping[str, str]
    """Phrases with what they mean: unit and offset ("day-1"), `note`, or an offset and a pattern
    of its own ("-1 am Abend des {}")."""
    weekday: tuple[tuple[str, str], ...]
    """Patterns with `DAY` and which day they mean: next, coming, last, or unsure."""
    ago: str
    """Pattern with `N` and `UNIT`."""
    ahead: str
    joined: tuple[tuple[str, str], ...] = ()
    """What has to run together with the date put in: "de le 2026" is "du 2026"."""
    lead: str = ""
    """Prepositions after which the date stands bare."""
    bare_week: str = ""


_GERMAN: Final = _Tongue(
    on="am {}",
    week="in der Woche ab {}",
    month="im {}",
    month_and_year="{} {}",
    year="{}",
    note="(gesagt am {})",
    months=tuple(
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
    ),
    days=tuple("montag dienstag mittwoch donnerstag freitag samstag sonntag".split()),
    numbers={
        "einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6,
        "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "elf": 11, "zwölf": 12,
    },
    units={
        "tag": "day", "tagen": "day", "woche": "week", "wochen": "week", "monat": "month",
        "monaten": "month", "jahr": "year", "jahren": "year",
    },
    fixed={
        "vorgestern": "day-2", "gestern": "day-1", "übermorgen": "day+2", "heute": "note",
        "gestern abend": "-1 am Abend des {}", "gestern morgen": "-1 am Morgen des {}",
        "gestern früh": "-1 am Morgen des {}", "gestern nachmittag": "-1 am Nachmittag des {}",
        "gestern nacht": "note", "heute nacht": "note",
        "heute abend": "+0 am Abend des {}", "heute morgen": "+0 am Morgen des {}",
        "heute früh": "+0 am Morgen des {}", "heute nachmittag": "+0 am Nachmittag des {}",
        "morgen abend": "+1 am Abend des {}", "morgen früh": "+1 am Morgen des {}",
        "morgen nachmittag": "+1 am Nachmittag des {}",
        **{
            f"{which}{ending} {unit}": f"{name}{step}"
            for step, stems in (
                ("-1", ("letzte", "vergangene", "vorige")),
                ("+1", ("nächste", "kommende")),
                ("+0", ("diese",)),
            )
            for which in stems
            for unit, name, endings in (
                ("woche", "week", ("", "r")),
                ("monat", "month", ("n", "m")),
                ("jahr", "year", ("s", "m")),
            )
            for ending in endings
        },
        "letzten woche": "note", "nächsten woche": "note",
        "in der letzten woche": "week-1", "in der nächsten woche": "week+1",
        "im letzten monat": "month-1", "im nächsten monat": "month+1",
        "im letzten jahr": "year-1", "im nächsten jahr": "year+1",
    },
    weekday=(
        (r"(?:am )?nächste[nmr] DAY", "next"), (r"(?:am )?kommenden DAY", "coming"),
        (r"(?:am )?(?:letzte|vergangene|vorige)[nmr] DAY", "last"),
        (r"(?:an )?diese[nm] DAY", "unsure"),
    ),
    ago=r"vor N UNIT",
    ahead=r"in N UNIT",
    lead=r"seit|ab|bis|vor|von|zum|nach",
    bare_week="der Woche ab {}",
)  # fmt: skip
_FRENCH: Final = _Tongue(
    on="le {}",
    week="la semaine du {}",
    month="en {}",
    month_and_year="{} {}",
    year="en {}",
    note="(dit le {})",
    months=tuple(
        "janvier février mars avril mai juin juillet août septembre octobre novembre "
        "décembre".split()
    ),
    days=tuple("lundi mardi mercredi jeudi vendredi samedi dimanche".split()),
    numbers={
        "un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "six": 6, "sept": 7,
        "huit": 8, "neuf": 9, "dix": 10, "onze": 11, "douze": 12,
    },
    units={
        "jour": "day", "jours": "day", "semaine": "week", "semaines": "week", "mois": "month",
        "an": "year", "ans": "year", "année": "year", "années": "year",
    },
    fixed={
        "avant-hier": "day-2", "hier": "day-1", "après-demain": "day+2", "demain": "day+1",
        "aujourd'hui": "note", "cette nuit": "note", "hier soir": "-1 le soir du {}",
        "hier matin": "-1 le matin du {}", "hier après-midi": "-1 l'après-midi du {}",
        "ce matin": "+0 le matin du {}", "ce soir": "+0 le soir du {}",
        "cet après-midi": "+0 l'après-midi du {}", "demain matin": "+1 le matin du {}",
        "demain soir": "+1 le soir du {}", "demain après-midi": "+1 l'après-midi du {}",
        "la semaine dernière": "week-1", "la semaine passée": "week-1",
        "la semaine prochaine": "week+1", "cette semaine": "week+0",
        "le mois dernier": "month-1", "le mois prochain": "month+1", "ce mois-ci": "month+0",
        "l'année dernière": "year-1", "l'an dernier": "year-1", "l'année prochaine": "year+1",
        "l'an prochain": "year+1", "cette année": "year+0",
        "mois dernier": "note", "mois prochain": "note", "année dernière": "note",
        "année prochaine": "note", "semaine dernière": "note", "semaine prochaine": "note",
    },
    weekday=(
        (r"(?:le )?DAY prochain", "next"), (r"(?:le )?DAY dernier", "last"),
        (r"ce DAY", "unsure"), (r"DAY en huit", "unsure"),
    ),
    ago=r"il y a N UNIT(?! de\b)(?! d')",
    ahead=r"dans N UNIT",
    joined=(
        (r"\bà le (?=\d{4}-)", "au "), (r"\bde le (?=\d{4}-)|\bd['’]le (?=\d{4}-)", "du "),
        (r"\b(depuis|avant|après|dès|pour|jusqu['’]) en (?=\S*\d{4})", r"\1 "),
    ),
)  # fmt: skip
_SPANISH: Final = _Tongue(
    on="el {}",
    week="la semana del {}",
    month="en {}",
    month_and_year="{} de {}",
    year="en {}",
    note="(dicho el {})",
    months=tuple(
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
        "diciembre".split()
    ),
    days=tuple("lunes martes miércoles jueves viernes sábado domingo".split()),
    numbers={
        "un": 1, "una": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7,
        "ocho": 8, "nueve": 9, "diez": 10, "once": 11, "doce": 12,
    },
    units={
        "día": "day", "días": "day", "semana": "week", "semanas": "week", "mes": "month",
        "meses": "month", "año": "year", "años": "year",
    },
    fixed={
        "anteayer": "day-2", "ayer": "day-1", "pasado mañana": "day+2", "hoy": "note",
        "anoche": "-1 en la noche del {}", "ayer por la mañana": "-1 en la mañana del {}",
        "ayer por la tarde": "-1 en la tarde del {}", "ayer por la noche": "-1 en la noche del {}",
        "esta mañana": "+0 en la mañana del {}", "esta tarde": "+0 en la tarde del {}",
        "esta noche": "+0 en la noche del {}",
        "mañana por la mañana": "+1 en la mañana del {}",
        "mañana por la tarde": "+1 en la tarde del {}",
        "mañana por la noche": "+1 en la noche del {}",
        "la semana pasada": "week-1", "la próxima semana": "week+1",
        "la semana próxima": "week+1", "la semana que viene": "week+1", "esta semana": "week+0",
        "el mes pasado": "month-1", "el próximo mes": "month+1", "el mes que viene": "month+1",
        "este mes": "month+0", "el año pasado": "year-1", "el próximo año": "year+1",
        "el año que viene": "year+1", "este año": "year+0",
        "semana pasada": "note", "próxima semana": "note", "mes pasado": "note",
        "próximo mes": "note", "año pasado": "note", "próximo año": "note",
    },
    weekday=(
        (r"(?:el )?próximo DAY|(?:el )?DAY que viene|(?:el )?DAY próximo", "next"),
        (r"(?:el )?pasado DAY|(?:el )?DAY pasado", "last"), (r"este DAY", "unsure"),
    ),
    ago=r"(?<!\bdesde )hace N UNIT(?! que\b)",
    ahead=r"dentro de N UNIT",
    joined=(
        (r"\bde el (?=\d{4}-)", "del "), (r"\ba el (?=\d{4}-)", "al "),
        (r"\b(desde|hasta|para|antes de|después de) en (?=\S*\d{4}|\w+ de \d{4})", r"\1 "),
    ),
)  # fmt: skip
_ITALIAN: Final = _Tongue(
    on="il {}",
    week="la settimana del {}",
    month="a {}",
    month_and_year="{} {}",
    year="nel {}",
    note="(detto il {})",
    months=tuple(
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre "
        "dicembre".split()
    ),
    days=tuple("lunedì martedì mercoledì giovedì venerdì sabato domenica".split()),
    numbers={
        "un": 1, "una": 1, "due": 2, "tre": 3, "quattro": 4, "cinque": 5, "sei": 6, "sette": 7,
        "otto": 8, "nove": 9, "dieci": 10, "undici": 11, "dodici": 12,
    },
    units={
        "giorno": "day", "giorni": "day", "settimana": "week", "settimane": "week",
        "mese": "month", "mesi": "month", "anno": "year", "anni": "year",
    },
    fixed={
        "l'altro ieri": "day-2", "ieri": "day-1", "dopodomani": "day+2", "domani": "day+1",
        "oggi": "note", "stanotte": "note", "ieri sera": "-1 la sera del {}",
        "ieri mattina": "-1 la mattina del {}", "ieri pomeriggio": "-1 il pomeriggio del {}",
        "stamattina": "+0 la mattina del {}", "stamani": "+0 la mattina del {}",
        "questa mattina": "+0 la mattina del {}", "stasera": "+0 la sera del {}",
        "questa sera": "+0 la sera del {}", "questo pomeriggio": "+0 il pomeriggio del {}",
        "domani mattina": "+1 la mattina del {}", "domani sera": "+1 la sera del {}",
        "domani pomeriggio": "+1 il pomeriggio del {}",
        "la settimana scorsa": "week-1", "la scorsa settimana": "week-1",
        "la settimana prossima": "week+1", "la prossima settimana": "week+1",
        "questa settimana": "week+0", "il mese scorso": "month-1", "lo scorso mese": "month-1",
        "il mese prossimo": "month+1", "il prossimo mese": "month+1", "questo mese": "month+0",
        "l'anno scorso": "year-1", "lo scorso anno": "year-1", "l'anno prossimo": "year+1",
        "il prossimo anno": "year+1", "quest'anno": "year+0",
        "settimana scorsa": "note", "settimana prossima": "note", "mese scorso": "note",
        "mese prossimo": "note", "anno scorso": "note", "anno prossimo": "note",
    },
    weekday=(
        (r"(?:il )?prossimo DAY|(?:la )?prossima DAY|DAY prossim[oa]", "next"),
        (r"(?:lo )?scorso DAY|(?:la )?scorsa DAY|DAY scors[oa]", "last"),
        (r"quest[oa] DAY", "unsure"),
    ),
    ago=r"N UNIT fa",
    ahead=r"(?:tra|fra) N UNIT",
    joined=(
        (r"\bda il (?=\d{4}-)", "dal "), (r"\ba il (?=\d{4}-)", "al "),
        (r"\bdi il (?=\d{4}-)", "del "), (r"\bda la (?=settimana)", "dalla "),
    ),
)  # fmt: skip

LANGUAGES: Final[Mapping[str, _Tongue]] = {
    "de": _GERMAN,
    "fr": _FRENCH,
    "es": _SPANISH,
    "it": _ITALIAN,
}

# "Morgen" and "mañana" are the morning too
_GERMAN_MORROW: Final = re.compile(
    r"(?<!\bam )(?<!\bjeden )(?<!\bguten )(?<!\beines )(?<![\w-])"
    r"(?:morgen(?![\w-])|(?:\A)Morgen(?= [a-zäöü]))"
)
_SPANISH_MORROW: Final = re.compile(
    r"(?<!\bla )(?<!\besta )(?<!\bcada )(?<!\buna )(?<!\btoda )(?<!\bmedia )(?<!\bprimera )"
    r"(?<![\w-])mañana(?![\w-])(?! a (?:tarde|noche)\b)",
    re.IGNORECASE,
)
_TOLD: Final = re.compile(
    r"\b(?:habe|hat|haben|hatte|hatten|bin|ist|sind|war|waren|wurde)\b.*"
    r"\b(?:ge\w+(?:t|en)|\w+ge\w+(?:t|en)|\w+iert|[vbe][er]\w+(?:t|en))\W*$"
)
"""A German sentence of what was done: "in drei Tagen gelernt" is how long it took."""


def absolute_in(
    language: str, text: str, said_on: date, free: Callable[[re.Match[str]], bool]
) -> str:
    """Replace relative dates in a text of one of `LANGUAGES`.

    Args:
        language: Its code.
        text: One sentence or clause.
        said_on: The day it was said.
        free: Whether a match may be replaced, i.e. stands in no quotation.

    Raises:
        OverflowError, ValueError: A day lies outside of all calendars.
    """
    tongue = LANGUAGES[language]

    def put(match: re.Match[str]) -> str:
        if not free(match):
            return match[0]
        written = _written(tongue, match, text, said_on)
        return written[:1].upper() + written[1:] if match[0][:1].isupper() else written

    changed = _pattern(language).sub(put, text)
    morrow = {"de": _GERMAN_MORROW, "es": _SPANISH_MORROW}.get(language)
    if morrow is not None:
        tomorrow = (said_on + timedelta(days=1)).isoformat()

        def put_morrow(match: re.Match[str]) -> str:
            if '"' in changed or "“" in changed or "«" in changed:
                return match[0]  # it may be somebody's word
            before = changed[: match.start()]
            after_lead = tongue.lead and re.search(rf"\b(?:{tongue.lead}) $", before, re.IGNORECASE)
            written = tomorrow if after_lead else tongue.on.format(tomorrow)
            return written[:1].upper() + written[1:] if match[0][:1].isupper() else written

        changed = morrow.sub(put_morrow, changed)
    for wrong, right in tongue.joined:
        changed = re.sub(wrong, partial(_cased, right), changed, flags=re.IGNORECASE)
    return changed


def _cased(right: str, match: re.Match[str]) -> str:
    written = match.expand(right)
    return written[:1].upper() + written[1:] if match[0][:1].isupper() else written


@lru_cache(maxsize=len(LANGUAGES))
def _pattern(language: str) -> re.Pattern[str]:
    """One pattern for all relative dates of a language, the longest phrases first."""
    tongue = LANGUAGES[language]
    phrases = sorted(tongue.fixed, key=len, reverse=True)
    fixed = "|".join(re.escape(phrase) for phrase in phrases)
    days = "|".join(tongue.days)
    numbers = "|".join(tongue.numbers)
    units = "|".join(sorted(tongue.units, key=len, reverse=True))

    def counted(pattern: str, way: str) -> str:
        count = rf"(?P<count_{way}>\d{{1,4}}|{numbers})"
        unit = rf"(?P<unit_{way}>{units})(?!\w)"
        return pattern.replace("UNIT", unit).replace("N", count)

    weekdays = "|".join(
        rf"(?P<{which}>{pattern.replace('DAY', f'(?:{days})')})"
        for pattern, which in tongue.weekday
        if which != "unsure"
    )
    unsure = "|".join(
        pattern.replace("DAY", f"(?:{days})")
        for pattern, which in tongue.weekday
        if which == "unsure"
    )
    lead = rf"(?:(?P<lead>\b(?:{tongue.lead})) )?" if tongue.lead else ""
    whole = (
        rf"{lead}(?<![\w-])(?:(?P<ago>{counted(tongue.ago, 'ago')})"
        rf"|(?P<ahead>{counted(tongue.ahead, 'ahead')})"
        rf"|{weekdays}|(?P<unsure>{unsure})|(?P<fixed>{fixed}))(?![\w-])"
        r"(?! en día\b)(?! come oggi\b)"
    )
    return re.compile(whole.replace("'", "['’]"), re.IGNORECASE)


def _written(tongue: _Tongue, match: re.Match[str], text: str, day: date) -> str:
    """What stands in the place of a relative date."""
    found = match.groupdict()
    lead = found.get("lead") or ""
    noted = f"{match[0]} {tongue.note.format(day.isoformat())}"
    if found["ago"] or found["ahead"]:
        way, sign = ("ago", -1) if found["ago"] else ("ahead", 1)
        if way == "ahead" and tongue is _GERMAN and _TOLD.search(text):
            return match[0]
        word = found[f"count_{way}"].casefold()
        number = sign * (tongue.numbers.get(word) or int(word))
        return _moved(tongue, tongue.units[found[f"unit_{way}"].casefold()], number, day, lead)
    for which in ("next", "coming", "last"):
        if phrase := found.get(which):
            when = _weekday(tongue, which, phrase.casefold(), day)
            return noted if when is None else _on(tongue, when, lead)
    if found["unsure"]:
        return noted
    meaning = tongue.fixed[found["fixed"].casefold().replace("’", "'")]
    if meaning == "note":
        return noted
    if unit := re.match(r"(day|week|month|year)([+-]\d)$", meaning):
        kind: _Unit = unit[1]  # type: ignore[assignment]  # the pattern allows no other
        if lead == "bis" and kind == "week":
            return noted
        return _moved(tongue, kind, int(unit[2]), day, lead)
    offset, _, pattern = meaning.partition(" ")
    written = pattern.format((day + timedelta(days=int(offset))).isoformat())
    return f"{lead} {written}" if lead else written


def _moved(tongue: _Tongue, unit: _Unit, number: int, day: date, lead: str) -> str:
    if unit == "day":
        return _on(tongue, day + timedelta(days=number), lead)
    if unit == "week":
        monday = (day - timedelta(days=day.weekday()) + timedelta(weeks=number)).isoformat()
        return f"{lead} {tongue.bare_week.format(monday)}" if lead else tongue.week.format(monday)
    months = number if unit == "month" else 12 * number
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    date(year, month + 1, 1)  # refuses what no calendar has
    if unit == "month":
        named = tongue.month_and_year.format(tongue.months[month], year)
        return f"{lead} {named}" if lead else tongue.month.format(named)
    return f"{lead} {year}" if lead else tongue.year.format(year)


def _on(tongue: _Tongue, day: date, lead: str) -> str:
    return f"{lead} {day.isoformat()}" if lead else tongue.on.format(day.isoformat())


def _weekday(tongue: _Tongue, which: str, phrase: str, day: date) -> date | None:
    """The day that is meant; None where people differ in how they say it.

    Some call the first Friday to come the next one, some that of the next week.
    """
    number = next(n for n, name in enumerate(tongue.days) if name in phrase)
    monday = day - timedelta(days=day.weekday())
    if which == "last":
        nearest = day - timedelta(days=(day.weekday() - number) % 7 or 7)
        other = monday + timedelta(days=number - 7)
    else:
        nearest = day + timedelta(days=(number - day.weekday()) % 7 or 7)
        other = nearest if which == "coming" else monday + timedelta(days=number + 7)
    return nearest if nearest == other else None
