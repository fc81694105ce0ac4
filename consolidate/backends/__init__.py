"""Turns "backend:model" names into objects, and holds the three a run needs.

Nothing heavy is imported here: a backend's module is imported when its name is resolved, its
session is made when it is first asked something. Other packages add backends through the entry
point group `consolidate.backends`: the entry point's name is the backend's name, and what it
loads (a module will do) has functions `embedder`, `extractor`, `classifier`, as many as it
offers, each taking `(model, options)`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import metadata
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, cast

from consolidate.backends.llm.limits import LlmOptions
from consolidate.errors import BackendError, ConsolidateError, InputError
from consolidate.protocols import (
    ContradictionClassifier,
    Embedder,
    EntityExtractor,
    LanguageModel,
)

__all__ = [
    "ENTRY_POINT_GROUP",
    "BackendSettings",
    "Backends",
    "Options",
    "backend_names",
    "built_in_names",
    "resolve_classifier",
    "resolve_embedder",
    "resolve_extractor",
    "resolve_language_model",
    "served",
]

ENTRY_POINT_GROUP: Final = "consolidate.backends"

Role = Literal["embedder", "extractor", "classifier", "language_model"]

_BUILT_IN: Final[Mapping[str, Mapping[Role, str]]] = MappingProxyType(
    {
        "onnx": {
            "embedder": "consolidate.backends.onnx_embedder",
            "classifier": "consolidate.backends.onnx_classifier",
        },
        "rules": {"extractor": "consolidate.backends.rules"},
        "gliner": {"extractor": "consolidate.backends.gliner"},
        "gliner-package": {"extractor": "consolidate.backends.gliner_package"},
        "rules+gliner": {"extractor": "consolidate.backends.combined"},
        "fake": dict.fromkeys(
            ("embedder", "extractor", "classifier"), "consolidate.backends.fake"
        ),
        "ollama": dict.fromkeys(
            ("embedder", "extractor", "classifier", "language_model"),
            "consolidate.backends.llm.ollama",
        ),
        "openai": dict.fromkeys(
            ("embedder", "extractor", "classifier", "language_model"),
            "consolidate.backends.llm.openai",
        ),
        "anthropic": dict.fromkeys(
            ("extractor", "classifier", "language_model"), "consolidate.backends.llm.anthropic"
        ),
    }
)  # fmt: skip
_SERVED: Final = frozenset({"ollama", "openai", "anthropic"})
_PROTOCOLS: Final[Mapping[Role, type]] = MappingProxyType(
    {
        "embedder": Embedder,
        "extractor": EntityExtractor,
        "classifier": ContradictionClassifier,
        "language_model": LanguageModel,
    }
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a backend may be told beside the name of the model."""

    threads: int = 0
    """Threads to compute on; 0 is the number of cores, at most 4."""
    providers: str = "cpu"
    """What ONNX graphs are computed on, the first that can; see
    `consolidate.backends.providers`."""
    known: tuple[str, ...] = ()
    """Extractors: names and aliases that count as names wherever they stand."""
    llm: LlmOptions = field(default_factory=LlmOptions)
    """Language models: where they are and what they may cost."""

    @classmethod
    def of(cls, settings: BackendSettings, *, known: Iterable[str] = ()) -> Options:
        """What the settings tell all backends of a run.

        Raises:
            InputError: One address is given for the servers of two backends.
        """
        llm = LlmOptions.of(settings)
        model: str | None = getattr(settings, "llm", None)
        specs = (settings.embedder, settings.extractor, settings.classifier, model or "")
        names = sorted({spec.strip().partition(":")[0] for spec in served(specs)})
        for name, given in (("llm_base_url", llm.base_url), ("llm_key_variable", llm.key_variable)):
            if given is not None and len(names) > 1:
                raise InputError(
                    f"{name} can't serve {' and '.join(names)} at the same time: leave it out and "
                    "set each one's own environment variable"
                )
        return cls(
            threads=settings.threads,
            # Not every object with settings, such as a caller's own, has this one.
            providers=getattr(settings, "providers", cls.providers),
            known=tuple(known),
            llm=llm,
        )


class BackendSettings(Protocol):
    """The part of the settings that chooses backends."""

    @property
    def embedder(self) -> str:
        """Such as `onnx:minilm`."""

    @property
    def extractor(self) -> str:
        """Such as `rules`."""

    @property
    def classifier(self) -> str:
        """Such as `onnx:judge`."""

    @property
    def threads(self) -> int:
        """Threads to compute on; 0 is the number of cores, at most 4."""


def resolve_embedder(spec: str, *, options: Options | None = None) -> Embedder:
    """Make the embedder named by `spec`, e.g. `onnx:minilm`, `onnx:/path/to/folder`, `fake`.

    Raises:
        InputError: No backend of this name offers an embedder.
        BackendError: Its files or its package can't be used.
    """
    return cast("Embedder", _resolve("embedder", spec, options))


def resolve_extractor(spec: str, *, options: Options | None = None) -> EntityExtractor:
    """Make the extractor named by `spec`, e.g. `rules`, `fake`.

    Raises:
        InputError: No backend of this name offers an extractor.
        BackendError: Its files or its package can't be used.
    """
    return cast("EntityExtractor", _resolve("extractor", spec, options))


def resolve_classifier(spec: str, *, options: Options | None = None) -> ContradictionClassifier:
    """Make the classifier named by `spec`, e.g. `onnx:judge`, `onnx:/path/to/folder`, `fake`.

    Raises:
        InputError: No backend of this name offers a classifier.
        BackendError: Its files or its package can't be used.
    """
    return cast("ContradictionClassifier", _resolve("classifier", spec, options))


def resolve_language_model(spec: str, *, options: Options | None = None) -> LanguageModel:
    """Make the language model named by `spec`, e.g. `ollama:qwen3:4b`.

    Raises:
        InputError: No backend of this name offers a language model.
        BackendError: Its package can't be used.
    """
    return cast("LanguageModel", _resolve("language_model", spec, options))


@dataclass(frozen=True, kw_only=True)
class Backends:
    """The three models of a run, and a language model if one is configured."""

    embedder: Embedder
    extractor: EntityExtractor
    classifier: ContradictionClassifier
    llm: LanguageModel | None = None
    """Reads what is said and advises where the judge is unsure, while remembering. Runs do not
    use it, so it is no part of `identities`."""

    @classmethod
    def load(cls, settings: BackendSettings, *, known: Iterable[str] = ()) -> Backends:
        """Resolve the three names in `settings`. Files are checked, no session is made yet."""
        options = Options.of(settings, known=known)
        model: str | None = getattr(settings, "llm", None)
        return cls(
            embedder=resolve_embedder(settings.embedder, options=options),
            extractor=resolve_extractor(settings.extractor, options=options),
            classifier=resolve_classifier(settings.classifier, options=options),
            llm=None if model is None else resolve_language_model(model, options=options),
        )

    @property
    def identities(self) -> dict[str, str]:
        """Role to identity, as plans and runs record it."""
        return {
            "embedder": self.embedder.identity,
            "extractor": self.extractor.identity,
            "classifier": self.classifier.identity,
        }

    def begin_run(self) -> None:
        """Tell models that count what a run costs that one begins."""
        for model in (self.embedder, self.extractor, self.classifier, self.llm):
            getattr(model, "begin_run", lambda: None)()

    def knowing(self, names: Iterable[str]) -> Backends:
        """These backends with an extractor that also knows `names`, if it can be told names.

        The extractor's identity changes with the names, so cached mentions are not mixed up. Give
        it declared names; feeding found ones back would make every run extract anew.
        """
        knowing = getattr(self.extractor, "knowing", None)
        return self if knowing is None else replace(self, extractor=knowing(names))


def backend_names(role: Role) -> tuple[str, ...]:
    """The backends that may offer `role`, built-in and installed, sorted."""
    return tuple(sorted({*built_in_names(role), *(point.name for point in _entry_points())}))


def built_in_names(role: Role) -> tuple[str, ...]:
    """The backends of this package that offer `role`, sorted."""
    return tuple(sorted(name for name, roles in _BUILT_IN.items() if role in roles))


def served(specs: Iterable[str]) -> list[str]:
    """Those of some names whose models work on a server, as they are written."""
    return [spec for spec in specs if spec.strip().partition(":")[0] in _SERVED]


def _entry_points() -> list[metadata.EntryPoint]:
    # A stranger's package never takes the place of a built-in backend.
    found = metadata.entry_points(group=ENTRY_POINT_GROUP)
    return [point for point in found if point.name not in _BUILT_IN]


def _resolve(role: Role, spec: str, options: Options | None) -> object:
    backend, _, model = spec.strip().partition(":")
    factory = getattr(_backend(role, backend, spec), role, None)
    if factory is None:
        raise InputError(f"the backend {backend!r} named in {spec!r} offers no {role}")
    try:
        made: object = factory(model, options or Options())
    except ConsolidateError:
        raise
    except Exception as error:
        raise BackendError(f"the {role} {spec!r} can't be made: {error!r}") from error
    if not _fits(made, _PROTOCOLS[role]):
        raise BackendError(
            f"the backend {backend!r} gave {type(made).__name__!r} for {spec!r}, which lacks what "
            f"{_PROTOCOLS[role].__name__} in consolidate.protocols asks for"
        )
    return made


def _fits(made: object, protocol: type) -> bool:
    """Whether an object has what a protocol asks for.

    Looks at its class first: `isinstance` would read the properties, and to read `dimensions` a
    server may have to be asked.
    """
    wanted = [name for name in vars(protocol) if not name.startswith("_")]
    return all(hasattr(type(made), name) or hasattr(made, name) for name in wanted)


def _backend(role: Role, backend: str, spec: str) -> Any:
    if backend in _BUILT_IN:
        module = _BUILT_IN[backend].get(role)
        return None if module is None else importlib.import_module(module)
    point = next((point for point in _entry_points() if point.name == backend), None)
    if point is None:
        raise InputError(
            f"unknown backend {backend!r} in {spec!r}: the {role} must be one of "
            f"{', '.join(backend_names(role))}, written as backend:model"
        )
    try:
        return point.load()
    except Exception as error:
        raise BackendError(
            f"the backend {backend!r} ({point.value}) can't be imported: {error!r}"
        ) from error
