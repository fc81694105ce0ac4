"""The same models run by the `gliner` package, with torch: `gliner-package:NAME` or a folder.

For folders that have torch weights and no ONNX graph, and to compare with `gliner:`, which gives
the same mentions and needs no torch. Texts are given one by one, since scores in a shared batch
differ in their last bits. Needs the extra [gliner].
"""

from __future__ import annotations

import hashlib
import json
import threading
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from consolidate.backends.files import (
    MODEL,
    TOKENIZER,
    config_name,
    file_digest,
    folder_of,
    read_json,
)
from consolidate.backends.gliner import (
    LABELS,
    asked_in,
    checked_labels,
    checked_threshold,
    with_known,
)
from consolidate.backends.gliner_rows import word_places
from consolidate.backends.rules import RulesExtractor
from consolidate.errors import MissingExtraError, ModelFilesError, ModelOutputError
from consolidate.types import Mention

if TYPE_CHECKING:
    from consolidate.backends import Options

__all__ = ["GlinerPackageExtractor", "extractor"]

_WEIGHTS: Final = ("model.safetensors", "pytorch_model.bin")
_TOKENIZER_SETTINGS: Final = "tokenizer_config.json"
_THRESHOLD: Final = 0.5
_USUAL_WORDS: Final = 384  # GLiNER's own default for `max_len`
_REVISION: Final = 1


def extractor(model: str, options: Options) -> GlinerPackageExtractor:
    """For the resolver: `gliner-package:NAME`, `gliner-package:/path/to/folder`."""
    asked = asked_in(model)
    return GlinerPackageExtractor(
        folder_of(asked.model),
        labels=asked.labels,
        threshold=asked.threshold,
        known=options.known,
    )


class GlinerPackageExtractor:
    """See `consolidate.protocols.EntityExtractor`; the package is imported at first use.

    Args:
        folder: With `gliner_config.json`, `tokenizer.json`, and torch weights or `model.onnx`.
        labels: What to look for, in plain words.
        threshold: Probability that a span must exceed, 0 to 1.
        known: Names that count wherever they stand, whatever the model says.
    """

    def __init__(
        self,
        folder: Path,
        *,
        labels: Iterable[str] | None = None,
        threshold: float | None = None,
        known: Iterable[str] = (),
    ) -> None:
        config = config_name("gliner")
        weights = [name for name in (*_WEIGHTS, MODEL) if (folder / name).is_file()]
        if not weights or not (folder / config).is_file():
            raise ModelFilesError(
                f"{str(folder)!r} is no folder of a GLiNER: expected {config} and one of "
                f"{', '.join((*_WEIGHTS, MODEL))}"
            )
        self._folder, self._weights = folder, weights[0]
        settings = read_json(folder / config)
        section = settings.get("consolidate")
        own: dict[str, Any] = section if isinstance(section, dict) else {}
        self.labels = checked_labels(labels or own.get("labels") or LABELS)
        stated = own.get("threshold", _THRESHOLD) if threshold is None else threshold
        self.threshold = checked_threshold(stated)
        self._name = str(own.get("name") or folder.name)
        most = settings.get("max_len")
        self._most: int = most if isinstance(most, int) and most > 0 else _USUAL_WORDS
        read = (self._weights, config, TOKENIZER, _TOKENIZER_SETTINGS)
        lines = "".join(
            f"{name} {file_digest(folder / name)}\n" for name in read if (folder / name).is_file()
        )
        self._digest = hashlib.sha256(lines.encode()).hexdigest()
        self._known = tuple(sorted(set(known)))
        self._rules = RulesExtractor(self._known) if self._known else None
        self._model: Any = None
        self._lock = threading.Lock()

    @property
    def identity(self) -> str:
        """Model, digest of its files, and a digest of labels, threshold and known names."""
        asked = json.dumps([self.labels, self.threshold, self._known]).encode()
        return (
            f"gliner-package:{self._name}@{self._digest[:12]}.{_REVISION}"
            f"+{hashlib.sha256(asked).hexdigest()[:8]}"
        )

    def knowing(self, names: Iterable[str]) -> GlinerPackageExtractor:
        """The same model, which also knows `names`, and no others."""
        other = GlinerPackageExtractor(
            self._folder, labels=self.labels, threshold=self.threshold, known=names
        )
        other._model = self._model
        return other

    def extract(self, texts: Sequence[str]) -> list[list[Mention]]:
        """See `consolidate.protocols.EntityExtractor`.

        Raises:
            MissingExtraError: The package is not installed.
            ModelFilesError: It can't read the folder.
            ModelOutputError: It fails on a text.
        """
        found = {text: self._mentions(text) for text in dict.fromkeys(texts)}
        return [found[text] for text in texts]

    def _mentions(self, text: str) -> list[Mention]:
        places = word_places(text)
        mentions: list[Mention] = []
        for start in range(0, len(places), self._most):
            part = places[start : start + self._most]
            mentions += self._asked(text, part[0][0], part[-1][1])
        return with_known(self._rules, text, sorted(mentions, key=lambda m: m.start))

    def _asked(self, text: str, start: int, end: int) -> list[Mention]:
        model = self._open()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                (found,) = model.inference(
                    [text[start:end]], list(self.labels), flat_ner=True,
                    threshold=self.threshold, batch_size=1,
                )  # fmt: skip
            except Exception as error:
                raise ModelOutputError(
                    f"{self.identity} failed on {text[start : start + 40]!r}: {error}"
                ) from error
        return [
            Mention(
                start=start + each["start"], end=start + each["end"],
                text=text[start + each["start"] : start + each["end"]],
                label=str(each["label"]), score=float(each["score"]),
            )
            for each in found
        ]  # fmt: skip

    def _open(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = self._loaded()
            return self._model

    def _loaded(self) -> Any:
        try:
            from gliner import GLiNER
        except ImportError as error:
            raise MissingExtraError(
                "gliner-package needs the extra [gliner]: pip install 'consolidate[gliner]'; "
                "models in ONNX run without it as gliner:NAME"
            ) from error
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return GLiNER.from_pretrained(
                    str(self._folder),
                    load_onnx_model=self._weights == MODEL,
                    load_tokenizer=True,
                    local_files_only=True,
                )
            except Exception as error:
                raise ModelFilesError(
                    f"the gliner package can't load {str(self._folder)!r}: {error}"
                ) from error
