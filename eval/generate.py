"""Makes a memory of any size for the bench: people, projects, services and one user.

Seeded: the same size and seed give the same facts. The number of entities grows with the number
of facts, as it does in a memory that is really used, so the work per fact should not. About one
fact in eight says an earlier one in other words, one in twenty repeats one, one in eight gives a
new value. Nothing here is labelled; it is for speed, not for scores.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final

from consolidate.types import NewFact

__all__ = ["generate"]

FACTS_PER_ENTITY: Final = 9
_USER_SHARE: Final = 0.12
_REPEAT, _REWORD, _UPDATE = 0.05, 0.12, 0.12
_START: Final = datetime(2023, 1, 1, 8, tzinfo=UTC)
_SPAN: Final = timedelta(days=1200)

Value = Callable[[random.Random], str]

_FIRST: Final = (
    "Ada Bela Chidi Dagny Emil Farah Goran Hana Ivo Jonna Kofi Leila Marek Nadia Odin Paola "
    "Quentin Rosa Samir Tove Ugo Vesna Wanda Xenia Yusuf Zora Amara Bruno Celia Dario Esra "
    "Felix Greta Hugo Ines Jarek Katya Luca Mina Nils Olga Petra Rafa Signe Tariq Ulla Viggo "
    "Yara"
).split()
_LAST: Final = (
    "Abernathy Brandt Castellan Drozd Eklund Fonseca Grimaldi Halloran Ibsen Jansky Kaplan "
    "Lindqvist Moreau Novak Okafor Petrov Quill Rasmussen Sorensen Tanaka Ueda Varga Whitlock "
    "Xavier Yilmaz Zeman Achterberg Bellini Corvin Delacroix Engström Farkas Goldmann Huber "
    "Ivanova Jelinek Kowal Laurent Mbeki Nyström Ortega Pavlov Roth Silva Thorne Urbano Vidal "
    "Wolff"
).split()
_ADJECTIVE: Final = (
    "Amber Brass Cobalt Dusty Ember Fallow Granite Hollow Indigo Juniper Kelp Lunar Marble "
    "Nimbus Ochre Pebble Quiet Russet Silver Tidal Umber Velvet Willow Zephyr Copper Drift "
    "Flint Harbour Ivory Maple"
).split()
_NOUN: Final = (
    "Anchor Badger Compass Falcon Garden Heron Island Kettle Ladder Lantern Meadow Needle "
    "Orchard Parcel Quarry Raven Sparrow Tunnel Valley Wagon Bridge Cedar Delta Engine Forge "
    "Glacier Hammer Kiln Loom Mirror"
).split()
_PART: Final = (
    "auth billing cart dispatch events export feed gateway ingest invoice ledger mail media "
    "notify orders parser payments proxy queue reports router scheduler search session sync "
    "tenant upload webhook worker"
).split()
_FORM: Final = "api agent broker cache core daemon db edge hub job service store stream".split()
_CITY: Final = (
    "Lisbon Turin Gdansk Bergen Leeds Ghent Porto Zagreb Tartu Graz Utrecht Malmö Seville Brno "
    "Cork Lyon Kiel Oulu Bari Split"
).split()
_COMPANY: Final = (
    "Northwind Analytics|Halden Shipping|Ferro & Vale|Mistral Foods|Orbis Labs|Kestrel Rail|"
    "Blue Fjord Energy|Tessera Design|Atlas Clinics|Pinewood Press|Solano Robotics|"
    "Quantum Dairy"
).split("|")
_ROLE: Final = (
    "data engineer|nurse|product manager|translator|structural engineer|teacher|lawyer|"
    "sound designer|chemist|office manager|gardener|site reliability engineer|accountant|"
    "illustrator"
).split("|")
_FOOD: Final = (
    "lentil soup|black coffee|green tea|sourdough|mushroom risotto|oat milk|dark chocolate|"
    "ramen|pickled herring|mango lassi|rye bread|pumpkin curry|sparkling water|goat cheese"
).split("|")
_ALLERGY: Final = "peanuts|shellfish|birch pollen|lactose|penicillin|cat hair|sesame|latex".split(
    "|"
)
_HOBBY: Final = (
    "bouldering|choir singing|bird watching|pottery|open-water swimming|chess|bookbinding|"
    "trail running|beekeeping|astronomy|woodcarving|fencing|crosswords|sailing"
).split("|")
_LANGUAGE: Final = "Portuguese Finnish Arabic Welsh Polish Korean Dutch Greek Turkish Czech".split()
_TECH: Final = "Python|Go|Rust|Kotlin|TypeScript|Elixir|C#|Scala|Ruby".split("|")
_STORE: Final = "PostgreSQL|MySQL|SQLite|Redis|MongoDB|Cassandra|ClickHouse".split("|")
_REGION: Final = "eu-west-1 us-east-2 ap-south-1 eu-north-1 sa-east-1 ca-central-1".split()
_STATE: Final = "in discovery|in beta|on hold|in production|being wound down|in review".split("|")
_WEEKDAY: Final = "Monday Tuesday Wednesday Thursday Friday".split()
_PLACE: Final = (
    "the harbour market|the botanical garden|a lake cabin|the science museum|an old mill|"
    "the sea|the film festival|a vineyard|the climbing hall|the opera"
).split("|")
_REMARK: Final = (
    "|||||||noted after the stand-up|came up over lunch|from the planning call|"
    "as told on the phone|written down in a hurry|according to the wiki|confirmed by mail|"
    "see the minutes of last week"
).split("|")


def _of(values: tuple[str, ...] | list[str]) -> Value:
    return lambda chance: chance.choice(values)


def _number(low: int, high: int, unit: str = "") -> Value:
    return lambda chance: f"{chance.randint(low, high)}{unit}"


def _version(chance: random.Random) -> str:
    return f"{chance.randint(1, 9)}.{chance.randint(0, 20)}.{chance.randint(0, 9)}"


def _date(chance: random.Random) -> str:
    return f"{chance.randint(1, 28)} {chance.choice(('March', 'May', 'June', 'October'))} 2026"


def _person(chance: random.Random) -> str:
    return f"{chance.choice(_FIRST)} {chance.choice(_LAST)}"


@dataclass(frozen=True)
class _Attribute:
    """Something to say of an entity, in several wordings with `{e}` and `{v}`."""

    value: Value
    wordings: tuple[str, ...]


def _say(value: Value, *wordings: str) -> _Attribute:
    return _Attribute(value, wordings)


_PEOPLE: Final = (
    _say(
        _of(_CITY), "{e} lives in {v}", "Home of {e}: {v}", "{e} has a flat in {v} and lives there"
    ),
    _say(_of(_COMPANY), "{e} works for {v}", "{e} is employed at {v}", "Employer of {e} is {v}"),
    _say(_of(_ROLE), "{e} is a {v}", "{e}'s job title is {v}", "By trade {e} is a {v}"),
    _say(_of(_FOOD), "{e}'s favourite thing on the table is {v}", "Above all {e} likes {v}"),
    _say(_of(_ALLERGY), "{e} is allergic to {v}", "Careful, {e} can't have anything with {v}"),
    _say(_of(_HOBBY), "{e} has taken up {v}", "On weekends {e} does {v}", "{v} is {e}'s hobby"),
    _say(_of(_LANGUAGE), "{e} speaks {v}", "{e} can hold a meeting in {v}"),
    _say(_number(1, 9, " people"), "{e} leads a team of {v}", "The team that {e} leads has {v}"),
    _say(_person, "{e} reports to {v}", "{v} is {e}'s manager", "Manager of {e}: {v}"),
    _say(_of(_WEEKDAY), "{e} works from home on {v}s", "Don't look for {e} in the office on a {v}"),
)
_PROJECTS: Final = (
    _say(_date, "The deadline of {e} is {v}", "{e} has to be delivered by {v}", "{e}: due {v}"),
    _say(_person, "{v} owns {e}", "Owner of {e} is {v}", "{e} is run by {v}"),
    _say(_of(_TECH), "{e} is written in {v}", "The code base of {e} is mostly {v}"),
    _say(_number(20, 900, ",000 euros"), "{e} has a budget of {v}", "Budget for {e}: {v}"),
    _say(_of(_STATE), "{e} is {v}", "Status of {e}: {v}", "As of this week {e} is {v}"),
    _say(_of(_COMPANY), "{e} is done for {v}", "The client behind {e} is {v}"),
    _say(_of(_WEEKDAY), "The {e} sync is on {v}", "Every {v} the people of {e} meet"),
    _say(_number(2, 30, " open bugs"), "{e} has {v}", "The tracker counts {v} for {e}"),
)
_SERVICES: Final = (
    _say(_number(2000, 9999), "{e} listens on port {v}", "Port of {e}: {v}", "{e} is bound to {v}"),
    _say(_version, "{e} runs version {v}", "{e} was upgraded to {v}", "Deployed: {e} {v}"),
    _say(_of(_REGION), "{e} is hosted in {v}", "Region of {e} is {v}"),
    _say(_number(2, 120, " seconds"), "{e} times out after {v}", "The timeout of {e} is {v}"),
    _say(_of(_STORE), "{e} keeps its data in {v}", "{v} is the database behind {e}"),
    _say(_person, "On call for {e} is {v}", "{v} gets paged when {e} is down"),
    _say(_number(1, 24, " replicas"), "{e} has {v}", "{e} is scaled to {v}"),
    _say(_number(1, 64, " GB"), "{e} is given {v} of memory", "Memory limit of {e}: {v}"),
)
_USER: Final = (
    _say(_of(_FOOD), "User likes {v}", "The user is fond of {v}", "Can't start a day without {v}"),
    _say(_of(_PLACE), "User went to {v} with {p}", "A day at {v} together with {p}"),
    _say(_of(_HOBBY), "User is trying out {v} with {p}", "{p} talked the user into {v}"),
    _say(_of(_LANGUAGE), "User is learning {v}", "I take lessons in {v} now"),
    _say(_number(15, 400, " euros"), "User owes {p} {v}", "Still have to give {p} {v} back"),
    _say(_date, "User has an appointment with {p} on {v}", "Meeting {p} on {v}"),
    _say(_of(_TECH), "User wants examples in {v} for {j}", "For {j}, show me code in {v}"),
    _say(_of(_CITY), "User is thinking of a trip to {v} with {p}", "Maybe {v} next year, with {p}"),
)


@dataclass
class _World:
    """Entities and what was said of them so far."""

    people: list[str]
    projects: list[str]
    services: list[str]
    said: list[tuple[str, _Attribute, str, Mapping[str, str]]] = field(default_factory=list)


def generate(
    count: int, *, seed: int = 7, agent: str = "default", more: int = 0
) -> tuple[list[NewFact], list[NewFact]]:
    """Facts of a memory, and `more` that come later and speak of the same entities."""
    chance = random.Random(seed)  # noqa: S311 - for variety
    stream = _stream(chance, _world(count, chance), count + more, agent)
    return list(islice(stream, count)), list(islice(stream, more))


def _world(count: int, chance: random.Random) -> _World:
    size = max(1, count // FACTS_PER_ENTITY // 3)
    return _World(
        people=_names(size, chance, _FIRST, _LAST, " "),
        projects=_names(size, chance, _ADJECTIVE, _NOUN, " "),
        services=_names(size, chance, _PART, _FORM, "-"),
    )


def _names(
    size: int, chance: random.Random, first: list[str], second: list[str], joint: str
) -> list[str]:
    found = [f"{a}{joint}{b}" for a in first for b in second]
    chance.shuffle(found)
    # Beyond the plain names: numbered ones, which are other entities
    numbered = (f"{name}{joint}{k}" for k in range(2, size + 2) for name in found)
    return [*found, *islice(numbered, max(0, size - len(found)))][:size]


def _stream(chance: random.Random, world: _World, total: int, agent: str) -> Iterator[NewFact]:
    for index in range(total):
        luck = chance.random()
        told: tuple[str, _Attribute, str, Mapping[str, str]] | None = None
        if world.said and luck < _REPEAT + _REWORD + _UPDATE:
            told = chance.choice(world.said)
        if told is None:
            told = _new(chance, world)
        entity, attribute, value, others = told
        if _REPEAT + _REWORD <= luck < _REPEAT + _REWORD + _UPDATE:
            value = attribute.value(chance)
        wording = attribute.wordings[0] if luck < _REPEAT else chance.choice(attribute.wordings)
        world.said.append((entity, attribute, value, others))
        text = wording.format(e=entity, v=value, **others)
        remark = "" if luck < _REPEAT else chance.choice(_REMARK)
        moment = _START + _SPAN * (index / total) + timedelta(minutes=chance.randint(0, 600))
        yield NewFact(
            text=f"{text} ({remark})" if remark else text,
            agent=agent,
            stated_at=moment,
            source=chance.choice(("user", "user", "assistant", "tool")),
        )


def _new(chance: random.Random, world: _World) -> tuple[str, _Attribute, str, Mapping[str, str]]:
    kinds: tuple[tuple[list[str], tuple[_Attribute, ...]], ...] = (
        (world.people, _PEOPLE),
        (world.projects, _PROJECTS),
        (world.services, _SERVICES),
    )
    about_user = chance.random() < _USER_SHARE
    names, attributes = ([""], _USER) if about_user else chance.choice(kinds)
    entity = chance.choice(names)
    attribute = chance.choice(attributes)
    others = {"p": chance.choice(world.people), "j": chance.choice(world.projects)}
    return entity, attribute, attribute.value(chance), others
