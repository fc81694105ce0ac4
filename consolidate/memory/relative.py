"""Turns "yesterday" into the day it was, seen from when it was said.

A date that depends on the day of reading is worth nothing in a memory. What can be told apart
safely is replaced by an ISO date, a month or a year; everything else keeps its words. "Next
Friday" is the Friday of the next week (weeks begin on Monday), "this Friday" that of the present
one. A bare "on Friday" is left alone: it may be every Friday.

Pure: the day is passed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

from consolidate.judge.language import language_of
from consolidate.judge.modality import modality_of
from consolidate.memory.foreign_dates import LANGUAGES, absolute_in

__all__ = ["absolute", "language"]

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "a couple of": 2,
}  # fmt: skip
_COUNT: Final = r"(?P<count>\d{1,4}|a couple of|" + "|".join(k for k in _NUMBERS if " " not in k)
_LEAD: Final = (
    r"(?P<lead>\b(?:since|until|till|by|from|for|before|after|on|in|as of|of|than|around|"
    r"starting|effective|through)\s+)?"
)
_NOT_AFTER: Final = r"(?<!\bthe )(?<!\bevery )(?<!\beach )(?<!\bof )(?<!-)"
_NOT_BEFORE: Final = r"(?!['’]s\b)(?!-)"

_ENGLISH: Final = re.compile(
    rf"{_LEAD}{_NOT_AFTER}\b(?:"
    r"(?P<before_last>the day before yesterday)|(?P<after_next>the day after tomorrow)|"
    r"(?P<day>yesterday|tomorrow)(?:\s+(?P<day_part>morning|afternoon|evening|night))?|"
    r"(?P<today>today)|(?P<tonight>tonight)|(?P<last_night>last night)|"
    r"this (?P<part>morning|afternoon|evening)|"
    rf"(?P<which>last|next|this|this coming|this past) (?P<weekday>{'|'.join(_DAYS)})|"
    r"(?P<whole>last|next|this) (?P<unit>week|weekend|month|year)|"
    rf"{_COUNT})\s+(?P<ago_unit>day|week|month|year)s?\s+(?P<way>ago|from now|from today)"
    rf")\b{_NOT_BEFORE}",
    re.IGNORECASE,
)
_IN_FUTURE: Final = re.compile(
    rf"\bin {_COUNT})\s+(?P<ago_unit>day|week|month|year)s?\b(?!\s+(?:of|from|time)\b)"
    rf"{_NOT_BEFORE}",
    re.IGNORECASE,
)
_LASTING: Final = re.compile(
    r"\W*(?!today\b)(?:[\w'’]+[ ,]+){1,3}?(?:lives?|am|is|are|works?|uses?|prefers?|likes?|"
    r"loves?|hates?|feels?|wants?|needs?|thinks?)\b|\W*I['’]m\b",
    re.IGNORECASE,
)
_POINTS_AT_DAY: Final = re.compile(r"\b(?:is|are|was|due|until|by|for|on|before|after)\s+$", re.I)

_Shift = Callable[[date], date]


def _days(count: int) -> _Shift:
    return lambda day: day + timedelta(days=count)


def _week(day: date, weeks: int) -> date:
    """The Monday of a week."""
    return day - timedelta(days=day.weekday()) + timedelta(weeks=weeks)


def _month(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, 1)


_MARKS: Final = {
    "en": "the is was are were i i'm my and to of in at on with for has have had you we they it "
    "me am he she his her an do does did no not come made this that from by",
    "de": "ich der die das ist und nicht ein eine mein meine wir bin habe hat mit für auf am im "
    "den dem einen seit bei mich mir wird sind war keinen keine kein "
    "montag dienstag mittwoch donnerstag freitag samstag sonntag kommenden kommende "
    "heute gestern vorgestern übermorgen nächste nächsten nächstes letzte letzten letztes immer",
    "fr": "je le la les est et un une des mon ma mes nous suis ai j'ai dans avec pour au du c'est "
    "il elle que qui en sur à chez j'habite j'étais sont "
    "lundi mardi mercredi jeudi vendredi samedi dimanche "
    "aujourd'hui hier demain prochain prochaine dernier dernière",
    "es": "el la los las es y un una mi mis soy estoy en con para por que he yo nos está vivo "
    "me del al se no como tengo tiene gusta gustan llamo muy más "
    "quiero puedo prefiero hago voy compré "
    "lunes martes miércoles jueves viernes sábado domingo "
    "ayer anteayer hoy mañana año semana próxima próximo pasado",
    "it": "il lo la gli è e un una mio mia sono ho in con per che non io ci nel alla al di "
    "mi si del della nella piace chiamo miei abito qui lavoro dall'anno dell'anno "
    "preferisco capisco faccio vado voglio posso devo "
    "quest'anno l'anno lunedì martedì mercoledì giovedì venerdì domenica sabato "
    "ieri oggi domani dopodomani settimana prossima prossimo scorsa scorso fa tra",
}
_MARK_WORDS: Final = {name: frozenset(words.split()) for name, words in _MARKS.items()}
_WEIGHTS: Final = {
    word: 1 / sum(word in marks for marks in _MARK_WORDS.values())
    for word in frozenset().union(*_MARK_WORDS.values())
}
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_QUOTED: Final = re.compile(r'"[^"\n]{0,300}"|“[^”\n]{0,300}”|«[^»\n]{0,300}»|`[^`\n]{0,300}`')


def language(text: str) -> str:
    """Guess the language from its small words: `en`, `de`, `fr`, `es`, `it`; empty if unsure.

    A text in Latin letters without any of those words counts as English.
    """
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(text[:2000])]
    # "in" and "me" are words of several languages: each gets its part of them
    hits = {
        name: sum(_WEIGHTS[w] for w in words if w in marks) for name, marks in _MARK_WORDS.items()
    }
    best = max(hits.values())
    winners = [name for name, count in hits.items() if count == best]
    if not best:
        return "en" if text[:2000].isascii() else ""
    if "en" in winners:
        return "en"
    if len(winners) > 1:
        winners = [name for name in winners if name == language_of(text[:2000])]
    return winners[0] if winners else ""


def absolute(text: str, said_on: date) -> str:
    """Replace relative dates by absolute ones; what stands in quotation marks is left alone.

    Args:
        text: One sentence or clause.
        said_on: The day it was said, where it was said.
    """
    kept = [match.span() for match in _QUOTED.finditer(text)]

    def free(match: re.Match[str]) -> bool:
        return not any(start < match.end() and match.start() < end for start, end in kept)

    name = language(text)
    try:
        if name in LANGUAGES:
            return absolute_in(name, text, said_on, free)
        if name == "en":
            return _english(text, said_on, free)
    except (OverflowError, ValueError):
        pass  # "9999 years ago" lies before all calendars: its words say it best
    return text


def _english(text: str, day: date, free: Callable[[re.Match[str]], bool]) -> str:
    mood = modality_of(text)
    lasting = bool(_LASTING.match(text)) and not (mood.future or mood.plan)

    def put(match: re.Match[str]) -> str:
        if not free(match):
            return match[0]
        lead = match["lead"] or ""
        if (
            match["today"]
            and lasting
            and not (lead or _POINTS_AT_DAY.search(text, 0, match.start()))
        ):
            return match[0]  # "I feel tired today" is about now
        found = _meaning(match, day)
        if found is None:
            return match[0]
        return _written(lead, *found, capital=match[0][:1].isupper())

    changed = _ENGLISH.sub(put, text)
    if mood.future or mood.plan or mood.event:
        changed = _IN_FUTURE.sub(
            lambda match: (
                _in_future(match, day, mood.past or mood.event) if free(match) else match[0]
            ),
            changed,
        )
    return changed


def _in_future(match: re.Match[str], day: date, told: bool) -> str:
    if told:
        return match[0]  # "learned it in three months" is a duration
    prefix, when = _counted(match["count"], match["ago_unit"], day, 1)
    return _written("", prefix, when, capital=match[0][:1].isupper())


def _meaning(match: re.Match[str], day: date) -> tuple[str, str] | None:
    """Preposition and absolute words for what was matched."""
    if match["before_last"]:
        return "on", _iso(day - timedelta(days=2))
    if match["after_next"]:
        return "on", _iso(day + timedelta(days=2))
    if match["day"]:
        that = day + timedelta(days=-1 if match["day"].casefold() == "yesterday" else 1)
        return ("on", _iso(that)) if not match["day_part"] else _part(match["day_part"], that)
    if match["today"]:
        return "on", _iso(day)
    if match["tonight"]:
        return _part("evening", day)
    if match["last_night"]:
        return _part("night", day - timedelta(days=1))
    if match["part"]:
        return _part(match["part"], day)
    if match["weekday"]:
        return "on", _iso(_weekday(match["which"].casefold(), match["weekday"].casefold(), day))
    if match["whole"]:
        return _whole(match["whole"].casefold(), match["unit"].casefold(), day)
    sign = -1 if match["way"].casefold() == "ago" else 1
    return _counted(match["count"], match["ago_unit"], day, sign)


def _part(part: str, day: date) -> tuple[str, str]:
    return "on", f"the {part.casefold()} of {_iso(day)}"


def _weekday(which: str, name: str, day: date) -> date:
    number = _DAYS.index(name)
    if which in ("last", "this past"):
        back = (day.weekday() - number) % 7 or 7
        return day - timedelta(days=back)
    if which == "this coming":
        return day + timedelta(days=(number - day.weekday()) % 7 or 7)
    return _week(day, 1 if which == "next" else 0) + timedelta(days=number)


def _whole(which: str, unit: str, day: date) -> tuple[str, str]:
    step = {"last": -1, "this": 0, "next": 1}[which]
    if unit == "week":
        return "in", f"the week of {_iso(_week(day, step))}"
    if unit == "weekend":
        return "on", f"the weekend of {_iso(_week(day, step) + timedelta(days=5))}"
    if unit == "month":
        return "in", _named_month(_month(day, step))
    return "in", str(_month(day, 12 * step).year)


def _counted(count: str, unit: str, day: date, sign: int) -> tuple[str, str]:
    number = sign * (_NUMBERS.get(count.casefold()) or int(count))
    unit = unit.casefold()
    if unit == "day":
        return "on", _iso(day + timedelta(days=number))
    if unit == "week":
        return "in", f"the week of {_iso(_week(day, number))}"
    if unit == "month":
        return "in", _named_month(_month(day, number))
    return "in", str(_month(day, 12 * number).year)


def _written(lead: str, prefix: str, when: str, *, capital: bool) -> str:
    word = lead.strip().casefold()
    if word in ("", "on", "in"):
        written = f"{prefix} {when}"
    else:
        written = f"{lead}{when}"  # "since 2026-02-28"
    return written[:1].upper() + written[1:] if capital else written


def _iso(day: date) -> str:
    return day.isoformat()


def _named_month(day: date) -> str:
    return f"{_MONTHS[day.month - 1]} {day.year}"
