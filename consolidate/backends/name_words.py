"""Small closed sets of words that the rules for names turn on, all in lower case."""

from __future__ import annotations

from typing import Final

__all__ = [
    "ACRONYMS",
    "BETWEEN",
    "FUNCTION_WORDS",
    "GERMAN",
    "GERMAN_OPENINGS",
    "HYPHEN_ENDS",
    "LEADING",
    "NAME_BEFORE",
    "NEVER",
    "NOT_LAST",
    "PARTICLES",
    "ROLES",
    "STARTERS",
    "TITLES",
    "WORDY_NAMES",
]

# Before a name; not part of it.
TITLES: Final = frozenset(
    "mr mrs ms miss mx dr prof professor sir dame lord lady rev reverend father sister brother st "
    "captain capt sgt sergeant lt col major gen general judge chef coach uncle aunt auntie cousin "
    "grandma grandpa granny herr frau madame monsieur mme mlle señor señora don doña sig signor "
    "signora tante onkel dra doctor".split()
)
# In lower case inside a name.
PARTICLES: Final = frozenset(
    "de da do dos das di del della der den dem van von zu zur zum ten ter te la le du y bin ibn "
    "bint al el af av".split()
)
# What comes before "of" without being part of a name: "CEO of Acme".
ROLES: Final = frozenset(
    "head director member manager chief president owner founder cofounder lead mother father son "
    "daughter sister brother friend wife husband partner".split()
)
# Words that begin names of places and firms as well as sentences.
STARTERS: Final = frozenset(
    "new san santa saint st los las el north south east west great old big little red "
    "blue green white black royal united grand lake mount port fort cape upper lower "
    "central national international american european bank university state city hotel "
    "radio google open".split()
)
# Pronouns, the user, days, months, notes to oneself.
NEVER: Final = frozenset(
    "i i'm i've i'd i'll me my mine myself we us our ours you your yours he him his she her hers "
    "it its they them their theirs user users assistant ich wir sie er es ihr du mein meine je "
    "j'ai tu il elle nous vous ils elles mon ma mes yo él ella nosotros ellos mi mis io lui lei "
    "noi loro mio mia monday tuesday wednesday thursday friday saturday sunday mondays tuesdays "
    "wednesdays thursdays fridays saturdays sundays mon tue tues wed thu thur thurs fri sat sun "
    "january february march april may june july august september october november december jan "
    "feb mar apr jun jul aug sep sept oct nov dec montag dienstag mittwoch donnerstag freitag "
    "samstag sonntag montags dienstags mittwochs donnerstags freitags samstags sonntags januar "
    "februar märz mai juni juli oktober dezember okay ok am pm todo fyi nb ps eta asap tbd tba "
    "fixme n/a aka eg ie etc vs re я он она мы вы они мой моя моё мои пользователь".split()
)
# First names that are words as well: names if another name follows.
WORDY_NAMES: Final = frozenset(
    "april art august bill dawn dean drew faith frank grace guy hope ivy jack joy june mark may "
    "pat ray rob rose sage sue will".split()
)
# Everyday words of the trade, but names of things if written in capitals.
ACRONYMS: Final = frozenset(
    "api aws cd ci cpu css csv dns gcp gpu hr html http https it json pdf pr qa sql ssh ssl tls "
    "ui url vpn yaml".split()
)
# No name even with a capital in the middle of a sentence.
FUNCTION_WORDS: Final = frozenset(
    "a an and as at but by for from here how if in no not of on or so that the then there these "
    "this those to what when where while who why with yes".split()
)
# "Berlin-based" names Berlin.
HYPHEN_ENDS: Final = frozenset(
    "based born style like only side bound wide free related compatible speaking made "
    "owned run".split()
)
# Two of these, and a text is taken for German, where every noun has a capital.
GERMAN: Final = frozenset(
    "der die das und ist nicht ein eine einen im mit auf für zum zur wird hat seit bei den dem "
    "des wohnt arbeitet nutzt mag trinkt".split()
)
GERMAN_OPENINGS: Final = frozenset(("das", "der", "ein", "eine", "ich", "mein", "meine", "wir"))
LEADING: Final = frozenset(("van", "von", "bin", "ibn"))
BETWEEN: Final = frozenset(("of", "&"))
# German words after which a capital is likelier a name than a noun.
NAME_BEFORE: Final = frozenset(("aus", "heißt", "in", "mit", "nach", "und"))
# What does not end a name; Chiang Mai and Anna May have theirs.
NOT_LAST: Final = NEVER - {"mai", "may", "sun"}
