"""Puts a name in the place of "ich", "je", "yo" and "io", where the sentence stays one. Pure.

"Ich wohne in Graz." becomes "User wohnt in Graz."; "Mi hermana vive en León." becomes "La hermana
de User vive en León." It is done for the whole sentence or not at all: if a word of the speaker is
left over (another clause, an unknown verb, a word order of its own), the sentence keeps its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from consolidate.memory.first_person_romance import (
    french,
    italian,
    leftover_french,
    leftover_italian,
    leftover_spanish,
    spanish,
)

__all__ = ["about"]

_QUOTED: Final = re.compile(r'["“”„«»`]')

_DE_IRREGULAR: Final = {
    "bin": "ist", "habe": "hat", "hab": "hat", "werde": "wird", "weiß": "weiß", "mag": "mag",
    "kann": "kann", "muss": "muss", "soll": "soll", "will": "will", "darf": "darf",
    "möchte": "möchte", "würde": "würde", "hätte": "hätte", "wäre": "wäre", "könnte": "könnte",
    "sollte": "sollte", "esse": "isst", "lese": "liest", "sehe": "sieht", "gebe": "gibt",
    "nehme": "nimmt", "spreche": "spricht", "treffe": "trifft", "helfe": "hilft",
    "vergesse": "vergisst", "fahre": "fährt", "laufe": "läuft", "schlafe": "schläft",
    "trage": "trägt", "halte": "hält", "lasse": "lässt", "wasche": "wäscht", "rate": "rät",
    "empfehle": "empfiehlt", "lade": "lädt", "verlasse": "verlässt", "werfe": "wirft",
    "bewerbe": "bewirbt", "betreue": "betreut", "fange": "fängt", "falle": "fällt",
    "trete": "tritt", "schlage": "schlägt", "sterbe": "stirbt", "vertrete": "vertritt",
    "unterhalte": "unterhält", "verspreche": "verspricht", "messe": "misst",
}  # fmt: skip
_DE_PAST: Final = frozenset(
    "war hatte wurde ging kam sah fand lief fuhr aß trank las schrieb sprach traf nahm gab blieb "
    "bekam verlor gewann begann zog flog schlief half ließ hieß stand saß lag trug verließ wollte "
    "konnte musste durfte mochte wusste dachte brachte wohnte kaufte lebte machte spielte lernte "
    "studierte arbeitete heiratete verkaufte besuchte suchte zahlte feierte reiste kochte holte "
    "wechselte kündigte hörte glaubte meinte brauchte erzählte legte stellte setzte".split()
)
_DE_ENDING_IN_TE: Final = frozenset(
    "arbeite warte miete leite starte antworte teste achte reite vermute leiste biete berichte "
    "verwalte gestalte beantworte bearbeite faste vermiete hoste fürchte erwarte hafte "
    "unterrichte bereite verbreite richte".split()
)
"""Present forms; whatever else ends so is more often past."""
_DE_NO_VERBS: Final = frozenset(
    "eine meine deine seine keine diese jede alle viele welche heute gerne ohne beide große kleine "
    "rote blaue grüne gelbe weiße neue alte gute erste letzte nächste".split()
)
_DE_REGULAR: Final = frozenset(
    "wohne arbeite lebe spiele lerne studiere koche backe trinke gehe mache kaufe suche liebe "
    "hasse nutze benutze verwende schreibe höre singe tanze male sammle züchte schwimme klettere "
    "wandere reise fliege trainiere programmiere unterrichte leite verkaufe baue "
    "repariere pflege".split()
)
_DE_TOKEN: Final = re.compile(r"\b(?:ich|mich|mir|mein(?:e[nmrs]?)?)\b", re.IGNORECASE)
_DE_SECOND: Final = re.compile(r"(?<= und )[a-zäöüß]+e\b(?! ich)")


def about(sentence: str, language: str, name: str) -> str:
    """Say of `name` what the sentence says of the speaker, if the whole of it can be said so.

    Args:
        sentence: One sentence.
        language: `de`, `fr`, `es` or `it`; in another one the sentence is given back.
        name: Who speaks, as it is to be written.
    """
    found = _WAYS.get(language)
    if found is None or _QUOTED.search(sentence):
        return sentence
    change, leftover = found
    changed = change(sentence, name)
    # "Mia" is a name here, and not "mía"
    if changed is None or changed == sentence or leftover.search(changed.replace(name, "")):
        return sentence
    return changed


def german(sentence: str, name: str) -> str | None:
    """A German sentence with one "ich" beside its verb, or with "mein" or "mich" alone."""
    subjects = [m for m in _DE_TOKEN.finditer(sentence) if m[0].casefold() == "ich"]
    if len(subjects) > 1 or (subjects and subjects[0][0] == "Ich" and subjects[0].start() > 0):
        return None
    changed = sentence
    if subjects:
        done = _german_subject(sentence, subjects[0], name)
        if done is None:
            return None
        changed = done
    genitive = f"{name}'" if name[-1:] in "sxzß" else f"{name}s"

    def put(match: re.Match[str]) -> str:
        word = match[0].casefold()
        if word == "meins":
            return match[0]
        if word in ("mich", "mir"):
            return "sich" if subjects else name
        return genitive

    if not subjects and re.match(r"\W*mi(?:r|ch)\b", sentence, re.IGNORECASE):
        return None  # "Mir gefällt Jazz": a name in front would be the subject
    if subjects and "," in changed and re.search(r",.*\bmi(?:r|ch)\b", changed):
        return None  # of another clause, where it may not be reflexive
    return _DE_TOKEN.sub(put, changed)


def _german_subject(sentence: str, subject: re.Match[str], name: str) -> str | None:
    before, after = sentence[: subject.start()], sentence[subject.end() :]
    following = re.match(r"\s+([^\W\d_]+)\b", after)
    if not before.strip() and following:
        verb = _german_verb(following[1])
        if verb is None:
            return None
        return before + name + after[: following.start(1)] + verb + _second(after, following.end(1))
    preceding = re.search(r"\b([^\W\d_]+)\s+$", before)
    if preceding is None or "," in before:
        return None  # "…, dass ich zu spät komme": the verb is somewhere else
    verb = _german_verb(preceding[1])
    if verb is None:
        return None
    if preceding.start(1) == 0:
        verb = verb[:1].upper() + verb[1:]
    return before[: preceding.start(1)] + f"{verb} {name}" + _second(after, 0)


def _second(after: str, start: int) -> str:
    """The rest, with the second verb of "ich wohne hier und arbeite dort" changed too."""

    def put(match: re.Match[str]) -> str:
        known = match[0] in _DE_REGULAR or match[0] in _DE_IRREGULAR
        return (_german_verb(match[0]) if known else None) or match[0]

    return _DE_SECOND.sub(put, after[start:])


def _german_verb(verb: str) -> str | None:
    """A first person in the third; None if it can't be told."""
    small = verb.casefold()
    if small in _DE_IRREGULAR:
        return _DE_IRREGULAR[small]
    if small in _DE_PAST:
        return small
    if not small.endswith("e") or small in _DE_NO_VERBS or len(small) < 4:
        return None
    if small.endswith("te") and small not in _DE_ENDING_IN_TE:
        return None
    stem = small[:-1]
    if re.search(r"[bdfgkmpt]l$|chl$|st?l$", stem) and not stem.endswith("ll"):
        return f"{stem[:-1]}elt"  # sammle, bastle
    if stem.endswith(("t", "d")) or re.search(r"(?:ch|[bdfgkpt]|ff)[mn]$", stem):
        return f"{stem}et"  # arbeite, rechne, öffne
    return f"{stem}t"


_DE_LEFTOVER: Final = re.compile(r"\b(?:ich|mich|mir|meins?|meine[nmrs]?)\b", re.IGNORECASE)

_Way = tuple[Callable[[str, str], str | None], re.Pattern[str]]
_WAYS: Final[Mapping[str, _Way]] = {
    "de": (german, _DE_LEFTOVER),
    "fr": (french, leftover_french),
    "es": (spanish, leftover_spanish),
    "it": (italian, leftover_italian),
}
