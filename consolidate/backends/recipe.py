"""How a folder wants vectors to be made: pooling, prefixes, length, size.

Read from the files that sentence-transformers writes (`modules.json`, `1_Pooling/config.json`,
`sentence_bert_config.json`, `config_sentence_transformers.json`), overruled by the section
`consolidate` of `config.json` and, for prefixes, by the list of models. What can't be followed is
refused: vectors made in another way than a model was trained for look right and are not.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, cast

from consolidate.backends.files import MANIFEST, ModelFiles, read_json
from consolidate.backends.tokens import row_limit
from consolidate.errors import ModelFilesError

__all__ = ["Recipe", "recipe_of", "split_size"]

Pooling = Literal["mean", "cls", "last"]

_POOLINGS: Final[Mapping[str, Pooling]] = {
    "mean": "mean",
    "mean_tokens": "mean",
    # Sum over the root of the count: the direction, which is all that is kept, is the mean's.
    "mean_sqrt_len_tokens": "mean",
    "cls": "cls",
    "cls_token": "cls",
    "last": "last",
    "lasttoken": "last",
}
_MODULES: Final = ("Transformer", "Pooling", "Normalize")
# Names of prompts, the first that a model has counts; those of sentence-transformers, and those of
# models from before it had names for them.
_QUERY: Final = ("query", "search_query", "retrieval.query", "s2p_query")
_DOCUMENT: Final = ("document", "passage", "corpus", "search_document", "retrieval.passage")
_WIDTHS: Final = ("hidden_size", "n_embd", "d_model", "dim")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What is done with a text before the graph and with what comes out of it."""

    width: int
    """Numbers that the graph gives for a token."""
    dimensions: int
    """Numbers that are kept: all, or the first so many (Matryoshka)."""
    pooling: Pooling
    most: int
    """Tokens of a row, at most, special tokens counted."""
    query: str = ""
    """Written before a query."""
    document: str = ""
    """Written before a text that is stored."""
    pool_prefix: bool = True
    """Whether the tokens of the prefix count in the mean."""
    lower: bool = False
    """Whether texts are put in lower case first."""
    centred: bool = False
    """Whether the mean of a vector's numbers is taken off them before it is cut. So it was when
    nomic-embed-text-v1.5 was trained (its card: layer norm, then the first so many numbers)."""

    def mark(self) -> str:
        """A short digest for the model's identity."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:6]


def split_size(model: str) -> tuple[str, int | None]:
    """Split `nomic@256` into a model and the size its vectors are cut to."""
    found = re.fullmatch(r"(.+)@(\d{1,5})", model)
    return (found[1], int(found[2])) if found else (model, None)


def recipe_of(files: ModelFiles, *, dimensions: int | None = None) -> Recipe:
    """Read the recipe of a folder.

    Args:
        files: The folder.
        dimensions: How many numbers of each vector to keep; None keeps all.

    Raises:
        ModelFilesError: It wants something that is not done here, or says nothing of the size.
    """
    _only_known_modules(files)
    width = _width(files)
    if dimensions is not None and not 1 <= dimensions <= width:
        raise ModelFilesError(
            f"{str(files.folder)!r} gives vectors of {width}: expected @N with N from 1 to "
            f"{width}, found @{dimensions}"
        )
    pooling, pool_prefix = _pooling(files)
    sentence = _beside(files, "sentence_bert_config.json")
    query, document = _prefixes(files)
    cut = dimensions is not None and dimensions < width
    return Recipe(
        width=width,
        dimensions=dimensions or width,
        pooling=pooling,
        most=row_limit(files, stated=sentence.get("max_seq_length"), otherwise=256),
        query=query,
        document=document,
        pool_prefix=pool_prefix,
        lower=sentence.get("do_lower_case") is True,
        centred=cut and files.config.get("model_type") == "nomic_bert",
    )


def _beside(files: ModelFiles, name: str) -> Mapping[str, Any]:
    return read_json(files.folder / name) if name in files.digests else {}


def _only_known_modules(files: ModelFiles) -> None:
    if "modules.json" not in files.digests:
        return
    try:
        modules = json.loads(files.read("modules.json"))
        steps = [(str(m["type"]).rpartition(".")[2], str(m.get("path", ""))) for m in modules]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelFilesError(
            f"expected a list of modules in {str(files.folder / 'modules.json')!r}, found: {error}"
        ) from error
    strange = [kind for kind, _ in steps if kind not in _MODULES]
    if strange:
        raise ModelFilesError(
            f"{str(files.folder)!r} makes vectors with {', '.join(strange)}, which is not done "
            f"here: expected only {', '.join(_MODULES)} in modules.json"
        )
    for kind, path in steps:
        if kind == "Pooling" and f"{path}/config.json" not in files.digests:
            raise ModelFilesError(
                f"{str(files.folder)!r} is not whole: modules.json names {path!r}, expected "
                "1_Pooling/config.json, which says how to pool"
            )


def _width(files: ModelFiles) -> int:
    pooled = _beside(files, "1_Pooling/config.json")
    stated = [files.config.get(name) for name in _WIDTHS]
    for value in (files.setting("dimensions"), *stated, pooled.get("word_embedding_dimension")):
        if value is not None:
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
            break
    raise ModelFilesError(
        f"config.json in {str(files.folder)!r}: expected hidden_size, the length of a vector, "
        f"found {files.config.get('hidden_size')!r}"
    )


def _pooling(files: ModelFiles) -> tuple[Pooling, bool]:
    beside = _beside(files, "1_Pooling/config.json")
    value = files.setting("pooling")
    if value is None and beside:
        # Newer versions write one word, older ones a flag for each way.
        modes = {
            key.removeprefix("pooling_mode_")
            for key, on in beside.items()
            if key.startswith("pooling_mode_") and on is True
        }
        word = beside.get("pooling_mode")
        modes |= {word} if isinstance(word, str) else set()
        value = modes.pop() if len(modes) == 1 else f"{len(modes)} modes"
    if value is not None and value not in _POOLINGS:
        raise ModelFilesError(
            f"{str(files.folder)!r} pools in a way not supported here: expected mean, cls or last, "
            f"found {value!r}"
        )
    return _POOLINGS[value or "mean"], beside.get("include_prompt") is not False


def _prefixes(files: ModelFiles) -> tuple[str, str]:
    """What stands before a query and before a document."""
    listed = _prompts(read_json(files.folder / MANIFEST) if _has_manifest(files) else {})
    own = files.setting("prompts")
    own = _prompts({"prompts": own}) if own is not None else {}
    sentence = _beside(files, "config_sentence_transformers.json")
    stated = _prompts(sentence)
    usual = stated.get(str(sentence.get("default_prompt_name")), "")
    prefixes = []
    for names in (_QUERY, _DOCUMENT):
        given = [
            prompts[name] for prompts in (own, listed, stated) for name in names if name in prompts
        ]
        prefixes.append(given[0] if given else usual)
    return prefixes[0], prefixes[1]


def _has_manifest(files: ModelFiles) -> bool:
    return (files.folder / MANIFEST).is_file()


def _prompts(source: Mapping[str, Any]) -> dict[str, str]:
    prompts = source.get("prompts") or {}
    if not isinstance(prompts, Mapping) or not all(isinstance(p, str) for p in prompts.values()):
        raise ModelFilesError(f"expected prompts that are texts, found {prompts!r}")
    return cast("dict[str, str]", dict(prompts))
