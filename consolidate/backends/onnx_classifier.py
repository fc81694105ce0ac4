"""Judges pairs with an ONNX cross-encoder of three classes, in both directions.

Which class is which is read from the model's config and then tried on sentences whose answer is
plain: a model whose labels are in another order than it says is refused, not misread. Scores are
the model's own; nothing is thresholded here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from consolidate.backends.files import ModelFiles
from consolidate.backends.onnx import Item, Output
from consolidate.backends.onnx_head import OnnxHead, Running
from consolidate.backends.providers import CPU
from consolidate.backends.tokens import Tokens, row_limit
from consolidate.errors import ModelFilesError
from consolidate.types import Scores, Verdict

if TYPE_CHECKING:
    from consolidate.backends import Options

__all__ = ["PROBES", "OnnxClassifier", "classifier"]

# Part of the identity: raise it when the same files would give other verdicts.
_REVISION: Final = 1

_CLASSES: Final = ("entailment", "neutral", "contradiction")
_STEMS: Final = ("entail", "neutral", "contradict")

# Statement, its negation. A statement is compared with itself, with its negation, and with the
# next statement, which has nothing to do with it.
PROBES: Final = (
    ("The shop is open on Sundays.", "The shop is not open on Sundays."),
    ("Anna lives in Oslo.", "Anna does not live in Oslo."),
    ("The build uses Python.", "The build does not use Python."),
    ("My brother is married.", "My brother is not married."),
    ("The user likes tea.", "The user does not like tea."),
    ("The server is running.", "The server is not running."),
)
# Between the reading the labels give and another one, in summed probability of 3.
_MARGIN: Final = 0.2


def classifier(model: str, options: Options) -> OnnxClassifier:
    """For the resolver: `onnx:judge`, or `onnx:/path/to/folder`."""
    return OnnxClassifier.load(model, threads=options.threads, providers=options.providers)


class OnnxClassifier:
    """A cross-encoder in ONNX; make one with `load`."""

    def __init__(
        self,
        files: ModelFiles,
        *,
        threads: int = 0,
        providers: str = CPU,
        session: Any = None,
        share_runs: bool = True,
    ) -> None:
        self._order = _label_order(files)
        self._head = OnnxHead(
            files,
            rows=2,
            most=row_limit(files),
            choose=self._choose,
            running=Running(threads, providers, share_runs, session),
            mark=f".{_REVISION}",
        )

    @classmethod
    def load(cls, model: str, *, threads: int = 0, providers: str = CPU) -> OnnxClassifier:
        """Check files and labels of a bundled model or a folder; the session is made at first use.

        Raises:
            ModelFilesError: The files are missing, cut, or not those of a three-class judge.
            MissingExtraError: The package with the bundled weights is not installed.
        """
        files = ModelFiles.find(model, task="text-classification")
        return cls(files, threads=threads, providers=providers)

    @property
    def identity(self) -> str:
        """Model name and digest of its files: equal files have equal identities anywhere."""
        return self._head.identity

    @property
    def files(self) -> ModelFiles:
        """The files it was made from."""
        return self._head.files

    @property
    def folder(self) -> Path:
        """Where the files lie, and their calibration if they have one."""
        return self.files.folder

    @property
    def shares_runs(self) -> bool:
        """Whether pairs of equal length share runs of the graph; makes the session."""
        return self._head.model.shares_runs

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        """See `consolidate.protocols.ContradictionClassifier`.

        Raises:
            ModelFilesError: At first use, when the model fails on the plain sentences it is tried
                on, or its graph is not one of this kind.
        """
        if not pairs:
            return []
        return self._judge(self._head.tokens(self._try_out), pairs)

    def _judge(self, tokens: Tokens, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        items: list[Item] = []
        cut: dict[int, bool] = {}
        failures: dict[int, str] = {}
        for index, (left, right) in enumerate(pairs):
            try:
                item, cut[index] = tokens.both_ways(left, right)
            except Exception as error:  # one strange text must not cost the others their verdict
                failures[index] = f"can't be tokenised: {error}"
            else:
                items.append(item)
        answers = iter(self._head.model.run(items))
        return [
            self._failed(failures[index])
            if index in failures
            else self._verdict(next(answers), truncated=cut[index])
            for index in range(len(pairs))
        ]

    def _verdict(self, answer: npt.NDArray[Any] | Exception, *, truncated: bool) -> Verdict:
        if isinstance(answer, Exception):
            return self._failed(f"the model failed: {answer}", truncated=truncated)
        if answer.shape != (2, 3):
            raise ModelFilesError(
                f"{str(self.files.folder)!r}: expected scores of shape (2, 3) for a pair, found "
                f"{answer.shape}"
            )
        if not np.isfinite(answer).all():
            return self._failed("the scores are not finite", truncated=truncated)
        logits = answer.astype(np.float64)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = (powers / powers.sum(axis=1, keepdims=True))[:, self._order]
        forward, backward = (
            Scores(entailment=float(e), neutral=float(n), contradiction=float(c))
            for e, n, c in shares
        )
        return Verdict(forward=forward, backward=backward, model=self.identity, truncated=truncated)

    def _failed(self, reason: str, *, truncated: bool = False) -> Verdict:
        return Verdict(
            forward=None, backward=None, model=self.identity, failure=reason, truncated=truncated
        )

    def _choose(self, outputs: Sequence[Output]) -> Output:
        for output in outputs:
            if len(output.shape) == 2 and output.shape[-1] in (None, 3):
                return output
        found = ", ".join(f"{output.name} {output.shape}" for output in outputs)
        raise ModelFilesError(
            f"the graph in {str(self.files.folder)!r} is no judge of three classes: expected an "
            f"output logits (pairs, 3), found {found}"
        )

    def _try_out(self, tokens: Tokens) -> None:
        statements = [statement for statement, _ in PROBES]
        same = self._mean(tokens, [(each, each) for each in statements])
        negated = self._mean(tokens, list(PROBES))
        unrelated = self._mean(
            tokens, list(zip(statements, statements[1:] + statements[:1], strict=True))
        )
        seen = (
            f"a statement and itself: {_shown(same)}; and its negation: {_shown(negated)}; and "
            f"another matter: {_shown(unrelated)}"
        )
        # Each reading says which column is entailment, neutral, contradiction.
        fits = {
            reading: same[reading[0]] + unrelated[reading[1]] + negated[reading[2]]
            for reading in permutations(range(3))
        }
        best = max(fits, key=lambda reading: fits[reading])
        if fits[best] > fits[0, 1, 2] + _MARGIN:
            labels = [_CLASSES[best.index(column)] for column in range(3)]
            swapped = dict(zip(_CLASSES, labels, strict=True))
            raise ModelFilesError(
                f"the labels of {str(self.files.folder)!r} are not in the order that its "
                f"config.json says: what it calls {_mapped(swapped)}; found {seen}"
            )
        if same[0] <= same[2] or negated[2] <= negated[0]:
            raise ModelFilesError(
                f"the model in {str(self.files.folder)!r} can't tell a statement from its "
                f"negation: expected entailment, then contradiction; found {seen}"
            )

    def _mean(self, tokens: Tokens, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        rows: list[tuple[float, float, float]] = []
        for verdict in self._judge(tokens, pairs):
            if verdict.failure is not None:
                raise ModelFilesError(
                    f"the model in {str(self.files.folder)!r} gave no scores for a plain "
                    f"sentence: {verdict.failure}"
                )
            for scores in (verdict.forward, verdict.backward):
                if scores is not None:
                    rows.append((scores.entailment, scores.neutral, scores.contradiction))
        mean: npt.NDArray[np.float64] = np.array(rows, dtype=np.float64).mean(axis=0)
        return mean


def _label_order(files: ModelFiles) -> list[int]:
    """Columns of entailment, neutral, contradiction, by the names in the config."""
    stated = files.config.get("id2label")
    if not isinstance(stated, Mapping) or len(stated) != 3:
        raise ModelFilesError(
            f"config.json in {str(files.folder)!r}: expected id2label with three classes "
            f"({', '.join(_CLASSES)}), found {stated!r}; a model of two classes can't say "
            "whether texts are unrelated or contradict each other"
        )
    columns: list[int] = []
    for stem in _STEMS:
        found = [key for key, label in stated.items() if stem in str(label).casefold()]
        if len(found) != 1 or str(found[0]) not in ("0", "1", "2"):
            raise ModelFilesError(
                f"config.json in {str(files.folder)!r}: expected one label in id2label whose name "
                f"contains {stem!r}, found {dict(stated)!r}; which class is which is never guessed"
            )
        columns.append(int(found[0]))
    if sorted(columns) != [0, 1, 2]:
        raise ModelFilesError(
            f"config.json in {str(files.folder)!r}: expected three different classes in id2label, "
            f"found {dict(stated)!r}"
        )
    return columns


def _shown(mean: npt.NDArray[np.float64]) -> str:
    return " ".join(
        f"{name} {value:.2f}" for name, value in zip(_CLASSES, mean.tolist(), strict=True)
    )


def _mapped(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{old} behaves as {new}" for old, new in labels.items() if old != new)
