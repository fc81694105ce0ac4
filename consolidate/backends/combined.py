"""Rules and a GLiNER together: `rules+gliner`, `rules+gliner:NAME`.

Rules are certain of what is written like code, in quotes, or was told; the model knows people,
companies, places and lower-case project names by the sentence around them. Where both see
something, code and known names are the rules', and of the rest the model's reading is taken, as it
has a label and the right borders more often. What only the rules see by its capitals is kept:
a name that is missed costs more than a word too many.

Products and technologies are left to the rules. With those of the model, fewer words of two notes
count as saying what they are about, and more updates were missed (`eval/LOG.md`). Labels that were
asked for by name are all taken.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from consolidate.backends.gliner import LABELS, GlinerExtractor
from consolidate.backends.gliner import extractor as gliner_extractor
from consolidate.backends.rules import RulesExtractor
from consolidate.backends.spans import Span, free_of
from consolidate.types import Mention

if TYPE_CHECKING:
    from consolidate.backends import Options

__all__ = ["CombinedExtractor", "extractor", "merged"]

# Part of the identity: raise it when the same two answers would be put together otherwise.
_REVISION: Final = 1

_TAKEN: Final = frozenset({"person", "organisation", "place", "project"})
# Labels of the rules for what only looks like a name; every other one of theirs is certain.
_GUESSED: Final = frozenset({"name", "quoted", "person"})
# A date says when, not what: facts about Monday do not belong together.
_NOT_NAMES: Final = frozenset({"date"})


def extractor(model: str, options: Options) -> CombinedExtractor:
    """For the resolver: `rules+gliner`, `rules+gliner:NAME`."""
    return CombinedExtractor(
        RulesExtractor(known=options.known), gliner_extractor(model, replace(options, known=()))
    )


class CombinedExtractor:
    """See the module's text.

    Args:
        rules: Knows the declared names.
        model: Asked for the rest.
    """

    def __init__(self, rules: RulesExtractor, model: GlinerExtractor) -> None:
        self._rules = rules
        self._model = model
        self._taken = _TAKEN if model.labels == LABELS else frozenset(model.labels)

    @property
    def identity(self) -> str:
        """Both identities, and how their answers are put together."""
        return f"combined@{_REVISION}({self._rules.identity} & {self._model.identity})"

    def knowing(self, names: Iterable[str]) -> CombinedExtractor:
        """The same two, with rules that know `names`."""
        return CombinedExtractor(self._rules.knowing(names), self._model)

    def extract(self, texts: Sequence[str]) -> list[list[Mention]]:
        """See `consolidate.protocols.EntityExtractor`; where the model fails, the rules' alone."""
        return [
            merged(certain, found or (), taken=self._taken)
            for certain, found in zip(
                self._rules.extract(texts), self._model.attempt(texts), strict=True
            )
        ]

    def attempt(self, texts: Sequence[str]) -> list[list[Mention] | None]:
        """As `extract`; None where the model failed, so that the text is asked about again."""
        return [
            None if found is None else merged(certain, found, taken=self._taken)
            for certain, found in zip(
                self._rules.extract(texts), self._model.attempt(texts), strict=True
            )
        ]


def merged(
    rules: Sequence[Mention], model: Sequence[Mention], *, taken: Collection[str] = _TAKEN
) -> list[Mention]:
    """Put both answers about a text together, sorted and without overlap.

    Args:
        rules: What the rules found.
        model: What the model found.
        taken: Labels of the model that count. Its dates only keep the rules from taking a month
            or a weekday for a name.
    """
    texts = {(m.start, m.end): m.text for m in (*rules, *model)}
    spans: list[Span] = [_span(m) for m in rules if m.label not in _GUESSED]
    dated = [_span(m) for m in model if m.label in _NOT_NAMES]
    names = [_span(m) for m in model if m.label in taken and m.label not in _NOT_NAMES]
    spans += free_of(names, sorted(spans))
    spans += free_of([_span(m) for m in rules if m.label in _GUESSED], sorted([*spans, *dated]))
    return [
        Mention(start=start, end=end, text=texts[start, end], label=label, score=score)
        for start, end, label, score in sorted(spans)
    ]


def _span(mention: Mention) -> Span:
    return mention.start, mention.end, mention.label, mention.score
