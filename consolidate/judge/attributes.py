"""The one table of attributes: what can be said of a thing, and how many values it holds.

The judge calls an attribute of an entity a slot, the entity graph the predicate of an edge.
Where an attribute holds one value, a second value retires the first; where it holds many, both
stay. The default is many: a false "one" retires true facts, a false "many" only leaves an update
for the classifier to find.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["ATTRIBUTES", "MANY_NOUNS", "Attribute", "Cardinality"]

Cardinality = Literal["one", "many"]
Values = Literal["name", "nested", "any"]
"""What the values are: names, of which two are two values; names of which one may lie in the other
or stand beside it (Trastevere and Rome); or descriptions too ("nurse")."""


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """How an attribute is recognised in a text."""

    cardinality: Cardinality
    cue: str = ""
    """Regular expression: a text that it is found in speaks of the attribute. Cues are broad; they
    propose pairs to compare. Empty: the attribute proposes none."""
    nouns: tuple[str, ...] = ()
    """Names of it: "the NOUN of X is Y", "X's NOUN: Y"."""
    verbs: str = ""
    """Regular expression of what stands between the thing and the value: "X lives in Y"."""
    inverse: str = ""
    """The same with the value first: "Y maintains X"."""
    fixed: bool = False
    """It cannot change: of two values one is wrong, and recency does not tell which."""
    values: Values = "name"


def _one(
    cue: str = "",
    *nouns: str,
    verbs: str = "",
    inverse: str = "",
    fixed: bool = False,
    values: Values = "name",
) -> Attribute:
    return Attribute(
        cardinality="one",
        cue=cue,
        nouns=nouns,
        verbs=verbs,
        inverse=inverse,
        fixed=fixed,
        values=values,
    )


def _many(cue: str = "", *nouns: str, verbs: str = "", inverse: str = "") -> Attribute:
    return Attribute(cardinality="many", cue=cue, nouns=nouns, verbs=verbs, inverse=inverse)


ATTRIBUTES: Final[Mapping[str, Attribute]] = {
    # People
    "residence": _one(
        r"\b(liv(?:es?|ing) (?:in|at|with)|moved|moving|home:|home is|resid\w+|relocat\w+|"
        r"address|rents? (?:a|an|the) (?:flat|apartment|room|place))\b",
        "residence", "home town", "hometown", "home city", "city of residence", "address",
        "home address",
        verbs=r"lives?(?: alone)? (?:in|at)|(?:is|am|are) living (?:in|at)|resides? (?:in|at)|"
              r"(?:has |have )?(?:moved|relocated) (?:back )?to|wohnt in|lebt in|vive (?:a|in|en)|"
              r"abita (?:a|in)|habite (?:à|en|au)|vit à", values="nested"),
    "employer": _one(
        r"\b(works? (?:at|for|as)|working (?:at|for|as)|employer|job:|notice|"
        r"employed (?:at|by)|joined|job at|resigned|(?:new|first) job|hired)\b",
        "employer", "workplace",
        verbs=r"works? (?:at|for)|(?:is|am) (?:working (?:at|for)|employed (?:at|by))|"
              r"arbeitet (?:bei|für)|lavora (?:per|presso|da)|trabaja (?:en|para)|"
              r"travaille (?:chez|pour)",
    ),
    "role": _one(
        r"\b(job title|title:|position is|promoted|promotion|role (?:is|at)|"
        r"works? as|working as|job:)\b",
        "job title", "title", "role", "job", "occupation", "profession", "position",
        verbs=r"works? as|(?:is|am) (?:working|employed) as|(?:holds|has) the (?:position|post) of",
        values="any"),
    "car": _one(r"\b(drives? an?|(?:family |new |our |my )car|car:)\b", "car",
                verbs=r"drives? an?", values="any"),
    "partner": _one(
        r"\b(husband|wife|partner|boyfriend|girlfriend|spouse|fianc[ée]e?)\b",
        "husband", "wife", "partner", "spouse", "boyfriend", "girlfriend", "fiancé", "fiancée",
        verbs=r"(?:is|am) (?:now )?(?:married|engaged) to",
    ),
    "doctor": _one(r"\b(doctor|GP|dentist|physiotherapist|paediatrician|vet)\b"),
    "school": _one(r"\b(school|kindergarten|daycare|nursery|class teacher)\b", "school",
                   "kindergarten", "daycare", "university",
                   verbs=r"(?:goes to|attends|is enrolled at|studies at)", values="nested"),
    "commute": _one(r"\b(commutes?|commuting|to work by|cycles to)\b"),
    "age": _one(r"\b(years old|age:?|turned \d+)\b", "age"),
    "name": _one(r"\b(name is|is called|named)\b", "name", "full name", "surname", "nickname",
                 "maiden name"),
    "marital-status": _one(r"\b(married|divorced|single|engaged|widowed)\b", "marital status"),
    "birthday": _one(r"\b(birthday|born (?:on|in))\b", "birthday", "date of birth", fixed=True),
    "birthplace": _one("", "birthplace", "place of birth", verbs=r"(?:was|were) born in",
                       fixed=True, values="nested"),
    "death": _one("", "place of death", verbs=r"died in", fixed=True, values="nested"),
    "native-language": _one("", "native language", "mother tongue", "first language"),
    "religion": _one("", "religion", "faith", verbs=r"is affiliated with the"),
    "phone": _one(r"\b(phone|mobile) (?:number|is)\b", "phone number", "mobile number", "phone",
                  "mobile", "telephone number", "extension"),
    "email": _one("", "email", "e-mail", "email address", "e-mail address", "work email"),
    "timezone": _one(r"\btime ?zone\b", "time zone", "timezone"),
    "diet": _one(r"\b(diet|vegetarian|vegan|pescatarian)\b", "diet"),
    "favourite": _one(r"\bfavou?rites?\b"),
    "manager": _one("", "manager", "boss", "supervisor", "line manager",
                    verbs=r"reports to|(?:is|are) (?:managed|supervised) by"),
    "club": _one("", "club", verbs=r"plays for"),
    "position-played": _one("", "playing position", verbs=r"plays (?:in the position of|as)",
    values="any"),
    "label": _one("", "record label", verbs=r"is signed to|is represented by record label"),
    # Organisations, places, works
    "headquarters": _one(
        "", "headquarters", "head office",
        verbs=r"(?:has its headquarters|is headquartered|is based|(?:has|have) moved its "
              r"headquarters) (?:in|to|at)", values="nested"),
    "capital": _one("", "capital", "capital city"),
    "continent": _one("", "continent",
                      verbs=r"(?:is located in|belongs to|is in) the continent of",
                      values="nested"),
    "leader": _one("", "leader", "head", "lead", "team lead", "tech lead", "project lead",
                   "project manager", "chair", "chairperson", "chairman", "president",
                   "managing director", "director",
                   verbs=r"(?:is|are) (?:now )?(?:led|headed|chaired|directed|run) by",
                   inverse=r"(?:now )?(?:leads|heads|chairs)"),
    "chief-executive": _one("", "chief executive", "chief executive officer", "CEO"),
    "mayor": _one("", "mayor"),
    "head-of-state": _one("", "head of state"),
    "head-of-government": _one("", "head of government", "prime minister"),
    "coach": _one("", "coach", "head coach", "trainer", verbs=r"(?:is|are) coached by",
                  inverse=r"coaches"),
    "singer": _one("", "singer", "lead singer", "frontman"),
    "captain": _one("", "captain"),
    "home-ground": _one("", "home ground", "home venue", "stadium"),
    "publication-editor": _one("", "chief editor", "editor-in-chief", verbs=r"is edited by"),
    "author": _one("", "author", verbs=r"was written by"),
    "original-language": _one("", "original language",
                              verbs=r"was (?:originally )?written in the"),
    "country-of-origin": _one("", "country of origin", verbs=r"was created in", values="nested"),
    "broadcaster": _one("", "broadcaster", "original broadcaster",
                        verbs=r"was originally (?:aired|broadcast) on"),
    "founded-in": _one("", "founding year", verbs=r"was (?:founded|established|formed) in",
                       fixed=True, values="nested"),
    "manufacturer": _one("", "manufacturer", "maker",
                         verbs=r"is (?:produced|made|manufactured|built) by"),
    "developer": _one("", "developer", verbs=r"(?:was|is) developed by"),
    "operator": _one("", "operator", verbs=r"is operated by", inverse=r"operates"),
    "parent": _one("", "parent company", "parent organization", "parent organisation"),
    "twin-town": _one("", "twin town", "sister city"),
    # Software, projects
    "editor": _one(r"\b(editor|IDE)\b", "editor", "IDE", "code editor"),
    "database": _one(r"\b(database|db|postgres\w*|mysql|sqlite|mongo\w*)\b", "database",
                     "primary database",
                     verbs=r"(?:stores|keeps) (?:its|all its) (?:data|state) in"),
    "ci": _one(r"\b(CI|pipeline|jenkins|github actions|gitlab)\b", "CI", "CI system"),
    "replicas": _one(r"\breplicas?\b"),
    "timeout": _one(r"\btime(?:d|s)? ?outs?\b"),
    "memory-limit": _one(r"\bmemory (?:limit|per)\b"),
    "on-call": _one(r"\bon[- ]call\b"),
    "port": _one(r"\bport\b|:\d{4,5}\b|localhost:\d+", "port",
                 verbs=r"(?:runs|listens|is served|is exposed|serves|answers|is) on (?:TCP |UDP )?"
                       r"port"),
    "host": _one("", "host", "hosting", "hosting provider", "cloud provider",
                 verbs=r"runs at|is (?:now )?hosted (?:on|at|by|in|with)", values="nested"),
    "version": _one(r"\b(version|runs? on \w+ ?v?\d|upgraded?|v\d+\.\d+)\b", "version"),
    "owner": _one(
        r"\b(own(?:er|ed by)|maintain(?:er|ed by)|lead(?:er)? (?:of|is)|is responsible for)\b",
        "owner", "maintainer", "code owner",
        verbs=r"(?:is|are) (?:now )?(?:owned|maintained) by",
        inverse=r"(?:now )?maintains|is (?:now )?responsible for",
    ),
    "implementation-language": _one("", "implementation language",
                                    verbs=r"(?:is|are) (?:now )?(?:written|implemented) in",
                                    values="nested"),
    "deadline": _one(r"\b(deadline|due (?:on|by|date)?|release date|launch(?:es)? on)\b",
                     "deadline", "due date", "release date", "launch date",
                     verbs=r"(?:is|are) (?:now )?due (?:on|by)|launches on|ships on"),
    "budget": _one(r"\bbudget\b", "budget"),
    "price": _one(r"\b(price|costs?|rent(?: is)?|fee|salary)\b", "price", "rent", "fee", "salary"),
    "status": _one(
        r"\b(status|is (?:on|off|open|closed|enabled|disabled|up|down|switched))\b", "status"),
    "default": _one(r"\bdefault (?:branch|region|environment|theme|editor|language)\b"),
    "plan-tier": _one(
        r"\b(?:basic|free|pro|premium|enterprise|standard) (?:plan|tier)\b|\bplan is\b",
        "plan tier"),
    "appointment": _one(r"\b(appointment|meeting|standup|talk|party|demo)\b"),
    # Many at a time
    "allergy": _many(r"\ballergic to\b|\ballergies\b", "allergy",
                     verbs=r"(?:is|am|are) allergic to"),
    "language": _many(r"\b(speaks?|languages?|fluent)\b", "language", verbs=r"speaks?"),
    "hobby": _many(r"\bhobb(?:y|ies)\b", "hobby"),
    "visit": _many(r"\b(visited|travel+ed to|trip to|been to)\b",
                   verbs=r"(?:has |have )?(?:visited|been to|travelled to|traveled to)"),
    "possession": _many(r"\b(owns?|has an?|bought)\b", verbs=r"owns"),
    "skill": _many(r"\b(knows|skilled|experienced (?:in|with))\b",
                   verbs=r"(?:is|am) (?:skilled|experienced) (?:in|with)"),
    "family": _many(
        r"\bhas (?:an?|two|three|\d+) (?:older |younger |little )?"
        r"(?:brothers?|sisters?|sons?|daughters?|cousins?)\b",
        "brother", "sister", "son", "daughter", "cousin", "child", "aunt", "uncle", "nephew",
        "niece", "grandson", "granddaughter", "sibling"),
    "citizenship": _many("", "citizenship", "nationality", verbs=r"is a citizen of"),
    "membership": _many("", "member", verbs=r"(?:is|are) (?:an? )?members? of|belongs to"),
    "instrument": _many("", "instrument", verbs=r"plays the"),
    "likes": _many("", verbs=r"(?:likes?|loves?|enjoys?|prefers?)"),
    "dislikes": _many("", verbs=r"(?:dislikes?|hates?|can(?:'t|not) stand)"),
    "uses": _many("", verbs=r"uses?"),
    "keeps": _many("", "pet", verbs=r"keeps"),
    "depends-on": _many("", "dependency", verbs=r"(?:depends|relies) on|requires|needs"),
    "part-of": _many("", verbs=r"(?:is|are) part of"),
    "located-in": _many("", "location", verbs=r"(?:is|are) (?:located|situated) (?:in|at|on)"),
    "founder": _many("", "founder", "co-founder", verbs=r"was (?:co-?)?founded by",
                     inverse=r"(?:co-?)?founded"),
    "colleague": _many("", "colleague", "friend", "neighbour", "neighbor", "teammate"),
    "works-with": _many("", verbs=r"works? with"),
    "works-on": _many("", verbs=r"works? on|(?:is|am|are) working on"),
    "knows": _many("", verbs=r"knows"),
}  # fmt: skip
"""Attribute to how it is told. A settings file may add names and change cardinalities."""

MANY_NOUNS: Final = frozenset(
    "account advantage ally award benefit book bug city client competitor consequence consumer "
    "contributor cost country customer daughter downside drawback example exception feature film "
    "goal guest guide habit idea interest issue limit limitation lesson meeting method note option "
    "order part partner-company peer pet plan point problem product project province reason "
    "requirement result resident reviewer risk rule sibling skill sponsor song step strength "
    "student supplier symptom task team thing tip topic trait user variant vendor version-note "
    "victim visitor weakness work".split()
)
"""Nouns of which a thing has several, though "the problem of X is Y" sounds like one."""
