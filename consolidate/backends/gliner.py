"""Names by a GLiNER model in ONNX: any labels, no torch.

`gliner` is the bundled model, `gliner:NAME` a fetched one, `gliner:/path/to/folder` any other. What
is asked for may follow: `gliner:NAME?labels=person,city&threshold=0.4`. Without it, the labels and
the threshold are those in the model's own config, or the usual ones.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from consolidate.backends.files import ModelFiles
from consolidate.backends.gliner_graph import GlinerGraph
from consolidate.backends.gliner_rows import GlinerRows, Window
from consolidate.backends.gliner_spans import WordSpan, chosen, spans_of_spans, spans_of_tokens
from consolidate.backends.providers import CPU, mark_of
from consolidate.backends.rules import RulesExtractor
from consolidate.backends.spans import free_of
from consolidate.errors import InputError, ModelFilesError
from consolidate.types import Mention

if TYPE_CHECKING:
    from consolidate.backends import Options

__all__ = ["LABELS", "Asked", "GlinerExtractor", "asked_in", "extractor", "with_known"]

LABELS: Final = ("person", "organisation", "place", "product", "project", "technology", "date")
"""What is asked for if neither the spec nor the model's config says."""

BUNDLED: Final = "gliner"
_THRESHOLD: Final = 0.5
_PROBE: Final = "Anna lives in Oslo."
# Part of the identity: raise it when the same files would give other mentions.
_REVISION: Final = 1


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a spec says beside the model."""

    model: str
    labels: tuple[str, ...] | None = None
    threshold: float | None = None


def asked_in(model: str) -> Asked:
    """Read what stands after `gliner:`.

    Raises:
        InputError: Something that can't be asked for.
    """
    name, _, query = model.partition("?")
    labels: tuple[str, ...] | None = None
    threshold: float | None = None
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key == "labels":
            labels = checked_labels(value.split(","))
        elif key == "threshold":
            threshold = checked_threshold(value)
        else:
            raise InputError(
                f"{key!r} in {model!r} can't be asked of a GLiNER: expected labels=... or "
                "threshold=..."
            )
    return Asked(model=name or BUNDLED, labels=labels, threshold=threshold)


def checked_labels(labels: Iterable[object]) -> tuple[str, ...]:
    """Labels without the space around them.

    Raises:
        InputError: None, an empty one, one twice, or one that holds a marker of the model's.
    """
    named = tuple(str(label).strip() for label in labels)
    if not named or "" in named or len(set(named)) < len(named):
        raise InputError(f"labels must be different words, at least one; found {list(named)!r}")
    if strange := [label for label in named if "<<" in label or not label.isprintable()]:
        raise InputError(f"a label must be plain words, found {strange[0]!r}")
    return named


def checked_threshold(value: object) -> float:
    """A threshold as a number.

    Raises:
        InputError: It is none between 0 and 1.
    """
    try:
        number = float(str(value))
    except ValueError:
        number = -1.0
    if not 0 <= number < 1:
        raise InputError(f"threshold must be a number from 0 to below 1, found {value!r}")
    return number


def extractor(model: str, options: Options) -> GlinerExtractor:
    """For the resolver: `gliner`, `gliner:NAME`, `gliner:/path/to/folder`."""
    asked = asked_in(model)
    return GlinerExtractor(
        ModelFiles.find(asked.model, task="gliner"),
        labels=asked.labels,
        threshold=asked.threshold,
        threads=options.threads,
        providers=options.providers,
        known=options.known,
    )


class GlinerExtractor:
    """See `consolidate.protocols.EntityExtractor`; files are checked, the session comes later.

    Args:
        files: The folder.
        labels: What to look for, in plain words.
        threshold: Probability that a span must exceed, 0 to 1.
        threads: Threads to compute on; 0 is the number of cores, at most 4.
        providers: What computes; see `consolidate.backends.providers`.
        known: Names that count wherever they stand, whatever the model says.
        session: A ready session, for tests.
    """

    def __init__(
        self,
        files: ModelFiles,
        *,
        labels: Iterable[str] | None = None,
        threshold: float | None = None,
        threads: int = 0,
        providers: str = CPU,
        known: Iterable[str] = (),
        session: Any = None,
    ) -> None:
        own = files.setting("labels")
        self.labels = checked_labels(labels or (own if isinstance(own, list) else None) or LABELS)
        stated = files.setting("threshold") if threshold is None else threshold
        self.threshold = checked_threshold(_THRESHOLD if stated is None else stated)
        self._files = files
        self._known = tuple(sorted(set(known)))
        self._rules = RulesExtractor(self._known) if self._known else None
        self._providers = providers
        self._graph = GlinerGraph(files, threads=threads, providers=providers, session=session)
        self._rows: GlinerRows | None = None
        self._lock = threading.Lock()

    @property
    def identity(self) -> str:
        """Model, digest of its files, and a digest of labels, threshold and known names."""
        asked = json.dumps([self.labels, self.threshold, self._known]).encode()
        return (
            f"gliner:{self._files.name}@{self._files.digest[:12]}.{_REVISION}"
            f"+{hashlib.sha256(asked).hexdigest()[:8]}{mark_of(self._providers)}"
        )

    @property
    def files(self) -> ModelFiles:
        """The files it was made from."""
        return self._files

    def knowing(self, names: Iterable[str]) -> GlinerExtractor:
        """The same model, which also knows `names`, and no others."""
        other = GlinerExtractor(
            self._files,
            labels=self.labels,
            threshold=self.threshold,
            providers=self._providers,
            known=names,
        )
        other._graph, other._rows = self._graph, self._rows  # one session is enough
        return other

    def extract(self, texts: Sequence[str]) -> list[list[Mention]]:
        """See `consolidate.protocols.EntityExtractor`. A text that failed has no mentions.

        Raises:
            ModelFilesError: At first use: the graph is no GLiNER's, or gives no scores for a
                plain sentence.
        """
        return [mentions or [] for mentions in self.attempt(texts)]

    def attempt(self, texts: Sequence[str]) -> list[list[Mention] | None]:
        """Find mentions as `extract` does; None for a text whose scores can't be used.

        Raises:
            ModelFilesError: See `extract`.
        """
        return [
            None if found is None else with_known(self._rules, text, found)
            for text, found in zip(texts, self.spans(texts), strict=True)
        ]

    def spans(
        self,
        texts: Sequence[str],
        *,
        labels: Iterable[str] | None = None,
        threshold: float | None = None,
        nested: bool = False,
    ) -> list[list[Mention] | None]:
        """What the model itself finds, with labels of the moment.

        Args:
            texts: The texts.
            labels: Instead of those it was made with.
            threshold: Instead of the one it was made with.
            nested: Mentions may lie within others (and then they are no mentions in the sense of
                the protocol).

        Returns:
            For each text its mentions by start, longer ones first; None if its scores can't be
            used.
        """
        asked = self.labels if labels is None else checked_labels(labels)
        limit = self.threshold if threshold is None else checked_threshold(threshold)
        if not texts:
            return []
        rows = self._open()
        windows = {text: rows.windows(text, asked) for text in dict.fromkeys(texts)}
        every = [window for each in windows.values() for window in each]
        answers = iter(self._graph.run(every, labels=len(asked)))
        found: dict[str, list[Mention] | None] = {}
        for text, each in windows.items():
            spans: list[WordSpan] | None = []
            for window in each:
                answer = next(answers)
                if isinstance(answer, Exception):
                    spans = None  # half of a text is no answer
                elif spans is not None:
                    spans += self._candidates(answer, window, limit)
            found[text] = (
                None
                if spans is None
                else _mentions(text, each, chosen(spans, nested=nested), asked)
            )
        return [found[text] for text in texts]

    def _candidates(self, scores: Any, window: Window, threshold: float) -> list[WordSpan]:
        read = spans_of_spans if self._graph.head == "span" else spans_of_tokens
        shift = window.first
        return [
            WordSpan(
                first=span.first + shift, last=span.last + shift, label=span.label, score=span.score
            )
            for span in read(scores, words=len(window.places), threshold=threshold)
        ]

    def _open(self) -> GlinerRows:
        with self._lock:
            if self._rows is None:
                rows = GlinerRows(self._files, overlap=self._graph.width)
                self._try_out(rows)
                self._rows = rows
            return self._rows

    def _try_out(self, rows: GlinerRows) -> None:
        """Whether the model has an answer to a plain sentence."""
        windows = rows.windows(_PROBE, self.labels)
        for answer in self._graph.run(windows, labels=len(self.labels)):
            if isinstance(answer, Exception):
                raise ModelFilesError(
                    f"the model in {str(self._files.folder)!r} gave no scores for a plain "
                    f"sentence: {answer}"
                ) from answer


def with_known(
    rules: RulesExtractor | None, text: str, mentions: Sequence[Mention]
) -> list[Mention]:
    """Mentions and the known names that `rules` finds, which win where two overlap."""
    if rules is None:
        return list(mentions)
    told = [mention for mention in rules.extract([text])[0] if mention.label == "known"]
    spans = [(m.start, m.end, m.label, m.score) for m in told]
    kept = free_of([(m.start, m.end, m.label, m.score) for m in mentions], sorted(spans))
    return [
        Mention(start=start, end=end, text=text[start:end], label=label, score=score)
        for start, end, label, score in sorted([*spans, *kept])
    ]


def _mentions(
    text: str, windows: Sequence[Window], spans: Sequence[WordSpan], labels: Sequence[str]
) -> list[Mention]:
    places = {
        window.first + index: place
        for window in windows
        for index, place in enumerate(window.places)
    }
    return [
        Mention(
            start=places[span.first][0],
            end=places[span.last][1],
            text=text[places[span.first][0] : places[span.last][1]],
            label=labels[span.label],
            score=span.score,
        )
        for span in spans
    ]
