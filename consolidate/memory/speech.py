"""What a sentence does: states something, asks, greets, orders, or sets a lasting rule. Pure.

English is read by its grammar as far as a list of words goes; German, French, Spanish and Italian
by greetings, words that open a question, and common imperatives (`foreign_speech`). What is not
recognised counts as a statement: a sentence too many can be forgotten, one that was thrown away
can't be found again.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from consolidate.memory import foreign_speech

__all__ = ["Act", "act_of", "as_rule", "without_greeting", "without_request"]

Act = Literal["statement", "question", "greeting", "command", "instruction", "talk"]
"""`instruction` has lasting scope; `talk` is about the conversation itself ("you are right")."""

_GREETING: Final = (
    r"(?:hi|hello|hey|hiya|yo|good (?:morning|afternoon|evening|night|day)|greetings|welcome|"
    r"thanks(?: a lot| so much| again| very much)?|many thanks|thank you(?: so much| very much)?|"
    r"thx|ty|cheers|bye(?: bye)?|goodbye|see you(?: later| soon| tomorrow)?|take care|ok(?:ay)?|"
    r"k|sure|yes(?: please)?|yeah|yep|yup|no(?: thanks| thank you)?|nope|great|cool|nice|perfect|"
    r"awesome|excellent|wow|got it|i see|sounds good|never ?mind|no problem|no worries|"
    r"sorry(?: about that)?|"
    r"please|lol|haha+|well|alright|right|indeed|exactly|hmm+|uh|um|what an? [a-z]+(?: [a-z]+)?|"
    + foreign_speech.GREETS
    + r")"
)
_ADDRESSED: Final = r"(?:\s+(?:there|all|everyone|again|guys|team|assistant|claude|chatgpt|bot))?"
_TO_SOMEBODY: Final = re.compile(
    r"^[¡\s]*(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|night)|welcome|hallo|moin|"
    r"servus|guten (?:morgen|tag|abend)|bonjour|bonsoir|salut|coucou|hola|buenos días|"
    r"buenas (?:tardes|noches)|ciao|buongiorno|buonasera|salve|thanks|"
    r"thank you|danke|merci|gracias|grazie)"
    r",?(?-i:\s+(?:(?:Mr|Mrs|Ms|Dr|Frau|Herr|Madame|Monsieur|Señora?|Signora?)\.?\s+)?"
    r"[A-ZÀ-ÖØ-Þ][\w'’-]+(?:\s[A-ZÀ-ÖØ-Þ][\w'’-]+)?)\s*(?:[,!.;:–—-]+|$)\s*",
    re.IGNORECASE,
)
"""A greeting with a name: "Hello Ana," and no more than that."""
_THANKS_FOR: Final = re.compile(rf"(?:{foreign_speech.THANKS})", re.IGNORECASE)
_FOREIGN_QUESTION: Final = re.compile(rf"(?:{foreign_speech.ASKS})", re.IGNORECASE)
_LEADING_GREETING: Final = re.compile(
    rf"^[¡\s]*(?:{_GREETING}{_ADDRESSED}\s*(?:[,!.;:–—-]+|$)\s*)+", re.IGNORECASE
)
_EMOJI_OR_MARKS: Final = re.compile(r"^[\W_]*$")

_QUESTION_START: Final = re.compile(
    r"(?:so |and |but |ok |okay |well |also )?(?:"
    r"(?:what|who|whom|whose|which|where|when|why|how)(?:['’]s| (?:is|are|was|were|do|does|did|can|"
    r"could|should|would|will|has|have|many|much|long|often|far|old|about|to|come)\b)|"
    r"(?:do|does|did|can|could|would|will|should|shall|may|is|are|am|was|were|have|has|had|isn['’]t|"
    r"aren['’]t|don['’]t|didn['’]t|can['’]t|won['’]t) (?:i|you|we|he|she|it|they|there|this|that|"
    r"the|my|your|our|any(?:one|body|thing)?|some(?:one|body|thing)?)\b)",
    re.IGNORECASE,
)
_REQUEST: Final = re.compile(
    r"(?:(?:could|can|would|will) (?:you|u)(?: please| kindly)?"
    r"|i(?:['’]d| would) like you to|i (?:want|need) you to"
    r"|i(?:['’]d| would) appreciate it if you(?: could)?"
    r"|please|pls|kindly|hey (?:assistant|claude|chatgpt),?|assistant[,:]|just|now,|then,|so,"
    r"|ok(?:ay)?,|you (?:should|must|need to|have to)|make sure (?:to|that you|you)|be sure to"
    r"|let['’]s" + foreign_speech.REQUESTS + r")\s+",
    re.IGNORECASE,
)
_NOTE: Final = re.compile(
    r"(?:(?P<asked>(?:please )?(?:remember|note|keep in mind|bear in mind|don['’]t forget|be aware|"
    r"you should know|take note|save|memori[sz]e|know)(?: this)?(?: that\b|:))|"
    r"(?:just )?(?:fyi|btw|by the way|fun fact|for your information|in case it matters|"
    r"for context|for reference|for the record|as a reminder)\b[,:]?|"
    rf"(?P<asked_abroad>{foreign_speech.NOTED})|"
    r"(?:übrigens|nebenbei(?: gesagt)?|au fait|soit dit en passant|por cierto|a proposito|"
    r"tra l['’]altro),)\s+",
    re.IGNORECASE,
)
_LASTING: Final = re.compile(
    r"\b(?:always|never|ever again|from now on(?:wards?)?|from here on|in (?:the )?future|"
    r"going forward|henceforth|whenever|every time|each time|any ?time (?:i|you|we)|by default|"
    r"at all times|until (?:further notice|i (?:say|tell))|unless i (?:say|ask|tell)|"
    r"(?:in|with|for|to) (?:all|every|any|each|your|my) (?:of )?(?:your |my |the |future )*"
    r"(?:repl(?:y|ies)|answers?|responses?|messages?|emails?|summar(?:y|ies)|code|commits?|"
    r"conversations?|chats?|questions?|requests?)|"
    r"when(?:ever)? (?:you (?:answer|reply|respond|write|talk|speak)|answering|replying|responding|"
    r"writing|i ask)|don['’]t ever|"
    r"immer|niemals|nie|ab (?:jetzt|sofort)|künftig|in zukunft|jedes mal|"
    r"toujours|jamais|désormais|dorénavant|à l['’]avenir|siempre|nunca|a partir de ahora|"
    r"de ahora en adelante|sempre|mai|d['’]ora in poi|in futuro)\b",
    re.IGNORECASE,
)
_VERBS: Final = frozenset(
    "write make create generate summarise summarize explain tell show give find search list "
    "translate fix help check run open send draft remind add remove delete update rename convert "
    "calculate compute compare describe look try use keep stop let go do ignore forget remember "
    "note save store print book schedule play set turn call read review refactor implement test "
    "build deploy install answer reply respond speak talk ask consider imagine pretend act provide "
    "suggest recommend propose analyse analyze proceed continue repeat wait start change format "
    "avoid prefer rewrite shorten expand prepare plan design debug clean move copy put get fetch "
    "think choose pick name sort count define paraphrase proofread ensure bring take buy order "
    "cancel confirm be address refer wrap include exclude mention follow cite quote skip leave "
    "restart reset merge commit push pull revert rollback roll scan extract import export sum "
    "don't dont".split()
)
_NEGATED_ORDER: Final = re.compile(
    r"n['’](?:utilise|écris|emploie|oublie|ajoute)[sz]?\b|"
    r"ne (?:réponds|fais|parle|mets|supprime)[sz]?\b|"
    r"(?:nunca|no|jamás) (?:uses|escribas|respondas|hagas|pongas|borres|olvides|hables)\b|"
    r"non (?:usare|scrivere|rispondere|fare|mettere|cancellare|dimenticare|parlare)\b",
    re.IGNORECASE,
)
"""What is not to be done, in French, Spanish and Italian."""
_OBJECTS: Final = frozenset(
    "me us him them it the a an my your our this that these those all every some any up on off out "
    "in to with for about only just no more please if whether how what why when where which".split()
)
_FINITE: Final = frozenset(
    "is are was were has had have will would can could should must may might does did isn't aren't "
    "wasn't takes needs needed failed passed fails passes runs ran lives works worked starts "
    "started ends ended meets met costs cost uses used means says said keeps kept comes came goes "
    "went gets got makes made becomes became holds held lasts begins began arrives arrived belongs "
    "depends contains consists happens happened sits stands stood listens".split()
)
_TALK: Final = re.compile(
    r"(?:you(?:['’]re| are| were) (?:right|wrong|welcome|correct|great|the best|amazing|awesome|"
    r"helpful|so \w+|very \w+|an? \w+)\b"
    r"|i have (?:a|another|one more|some) (?:\w+ )?questions?\b|i need (?:your |some )?help\b"
    r"|i(?: was|['’]m|['’]m just| am)? wondering\b|let me know\b"
    r"|i don['’]t (?:understand|get it|know)\W*$|i(?:['’]m| am) (?:asking|not sure|confused)\b"
    r"|i (?:mean|guess|see),|i (?:thought|think) you\b|what i mean\b"
    r"|here(?:['’]s| is| are) (?:the|my|a|an|some)\b.{0,40}[:：]$"
    r"|(?:this|that|it)(?:['’]s| is| was| works| worked| helps| helped| looks| sounds| makes sense)"
    r"\b(?:\s+\w+){0,3}\W*$|as i said\b.{0,20}$|go ahead\b|hold on\b|one moment\b)",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(
    r"(?:could|can|would|will) (?:you|u)(?: please| kindly)? ", re.IGNORECASE
)
_CONDITION: Final = re.compile(
    r"(?:always|never|from now on|going forward|in (?:the )?future|by default|whenever\b[^,]{1,80}|"
    r"when\b[^,]{1,80}|every time\b[^,]{1,80}|if\b[^,]{1,80}|unless\b[^,]{1,80}|"
    r"ab (?:jetzt|sofort)|à l['’]avenir|désormais|a partir de ahora|d['’]ora in poi),?\s+",
    re.IGNORECASE,
)
_NAME_ME: Final = re.compile(r"(?:please )?(?:you can |just )?call me \S", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def act_of(sentence: str) -> Act:
    """What a sentence does. Greetings and notes ("remember that") before it are to be cut off."""
    text = sentence.strip()
    if not text or _EMOJI_OR_MARKS.match(text) or not without_greeting(text):
        return "greeting"
    if _is_question(text):
        return "instruction" if _asks_for_good(text) else "question"
    if _TALK.match(text):
        return "talk"
    if _THANKS_FOR.match(text):
        return "greeting"
    if _NAME_ME.match(text):
        return "instruction"
    return _order(text)


def without_greeting(sentence: str) -> str:
    """The sentence without "Hi there," before it; empty if it is nothing else."""
    text = sentence.strip()
    match = _TO_SOMEBODY.match(text) or _LEADING_GREETING.match(text)
    if match is None:
        return text
    rest = text[match.end() :].strip()
    return rest[:1].upper() + rest[1:] if text[:1].isupper() else rest


def without_request(sentence: str) -> tuple[str, bool]:
    """The sentence without "remember that" or "by the way" before it.

    Returns:
        The rest, and whether it was asked to be remembered.
    """
    match = _NOTE.match(sentence)
    if match is None:
        return sentence, False
    rest = sentence[match.end() :].strip()
    return rest[:1].upper() + rest[1:], bool(match["asked"] or match["asked_abroad"])


def as_rule(sentence: str) -> str:
    """A lasting request as a rule: "Could you always use metric units?" without the asking."""
    match = _ASKING.match(sentence)
    if match is None:
        return sentence
    rest = sentence[match.end() :].rstrip("? ")
    return f"{rest[:1].upper()}{rest[1:]}."


def _is_question(text: str) -> bool:
    bare = text.rstrip("\"'”’»)*_ ")
    if bare.endswith(("?", "？", "؟", "?!")) or text.startswith("¿"):
        return True
    # "Quando è finito il corso, Ana è partita" only begins like one
    asks_abroad = "," not in text and _FOREIGN_QUESTION.match(text)
    return bool(_QUESTION_START.match(text) or asks_abroad)


def _asks_for_good(text: str) -> bool:
    """Whether it is a rule in the form of a question: "Could you always use tabs?"."""
    return bool(_ASKING.match(text) and _LASTING.search(text))


def _order(text: str) -> Act:
    lasting = bool(_LASTING.search(text))
    rest, asked = text, False
    while match := _REQUEST.match(rest):
        asked = True
        rest = rest[match.end() :]
    lead = _CONDITION.match(rest)
    body = rest[lead.end() :] if lead else rest
    body = _REQUEST.sub("", body, count=1) if _REQUEST.match(body) else body
    if asked or _is_imperative(body):
        return "instruction" if lasting else "command"
    return "statement"


def _is_imperative(text: str) -> bool:
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(text[:200])]
    if not words:
        return False
    if _NEGATED_ORDER.match(text):
        return True
    if words[0] in foreign_speech.ORDERS:
        return True
    if words[0] in ("do", "don't", "dont"):
        return len(words) > 1 and (words[0] != "do" or words[1] in ("not", "it", "this", "that"))
    if words[0] not in _VERBS:
        return False
    following = words[1:4]
    if not following or following[0] in _OBJECTS:
        return True
    # "Test suite takes four minutes", "Plan B is", "Call volume has risen": a noun with its verb
    return not _FINITE.intersection(following)
