"""Settings: what can be chosen, what was chosen, and where each value came from.

A value is taken from the first of these that has it: the call, the command line, the environment
(`CONSOLIDATE_...`), `consolidate.toml` in the working folder, the same file in the platform's
settings folder, the default. Every problem found in any of them is reported, all at once.

This module opens no database and loads no model.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from consolidate.errors import SettingsError
from consolidate.places import config_folder, default_database
from consolidate.setting_rules import READERS, RULES, Profile

__all__ = [
    "FILE_NAME",
    "PREFIX",
    "PROFILES",
    "Profile",
    "Resolved",
    "Settings",
    "Thresholds",
    "resolve",
    "values_digest",
]

FILE_NAME = "consolidate.toml"
PREFIX = "CONSOLIDATE_"

# Variables with the prefix that name no setting: a settings file of one's own, and switches that
# other modules read.
_OTHER_VARIABLES = frozenset(
    {"PUBLIC_PAIRS", "CONFIG", "DEBUG", "LOG", "MODELS", "NO_NETWORK", "TOKEN"}
)


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """How sure the judge must be, each 0 to 1."""

    merge: float
    """At least this: one of two facts is absorbed."""
    supersede: float
    """At least this: the older of two facts is retired."""
    review: float
    """At least this, and less than is needed to act: a person is asked."""


PROFILES: Mapping[str, float] = {"careful": 0.003, "balanced": 0.01, "eager": 0.03}
"""False rates that are accepted: of pairs that must not be merged, or where nothing may be
superseded, the share that is. Which thresholds keep to them is for the calibration of the model
to say."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings, checked.

    Raises:
        SettingsError: Values are of the wrong type or out of range; it names all of them.
    """

    db: Path | None = None
    """The database file; None is the platform's data folder (see `database`)."""
    agent: str = "default"
    """The agent whose memory is worked on."""
    timezone: str | None = None
    """IANA name of the zone in which times without offset are read; None refuses such times."""
    embedder: str = "onnx:minilm"
    """`backend:model` of the embedder."""
    extractor: str = "rules"
    """`backend:model` of the entity extractor."""
    classifier: str = "onnx:judge"
    """`backend:model` of the contradiction classifier."""
    profile: Profile = "balanced"
    """How many mistakes are too many: the dial that sets the two accepted rates."""
    max_false_merge: float | None = None
    """Of pairs that must not be merged, the share that may be; None is the profile's rate."""
    max_false_supersede: float | None = None
    """Of pairs that do not contradict each other, the share in which one may be superseded."""
    merge: bool = True
    """False: nothing is merged; what would be becomes a review."""
    supersede: bool = True
    """False: nothing is superseded; what would be becomes a review."""
    merge_threshold: float | None = None
    """Merge from this confidence on, whatever the calibration says."""
    supersede_threshold: float | None = None
    """As `merge_threshold`."""
    review_threshold: float | None = None
    """Ask from this confidence on."""
    neighbours: int = 8
    """Nearest neighbours that each fact is compared with."""
    similarity_floor: float = 0.2
    """Neighbours less similar than this (cosine) are not compared."""
    hub_size: int = 24
    """An entity with more facts than this is not compared all with all."""
    pairs_per_fact: int = 8
    """Pairs that one fact takes part in, at most, per rule that would make many."""
    pair_budget: int = 0
    """Pairs that one run judges at most; the next run goes on there. 0 is no limit."""
    threads: int = 0
    """Threads for the models; 0 is the number of cores, at most 4."""
    providers: str = "cpu"
    """What ONNX models are computed on, such as `cuda,cpu`: the first that can. Others than `cpu`
    need another build of onnxruntime."""
    lease_seconds: float = 60.0
    """After this long without a sign of life, a run counts as dead."""
    relevance_weight: float = 0.6
    """Share of a recalled fact's score that its likeness to the query makes."""
    strength_weight: float = 0.3
    """Share that its strength makes."""
    recency_weight: float = 0.1
    """Share that its newness makes."""
    fusion_k: int = 60
    """How flat the ranks by meaning and by words are joined (reciprocal rank fusion)."""
    recall_similarity: float = 0.1
    """Facts less similar to a query than this (cosine) are not found by meaning."""
    recall_use: float = 0.4
    """How relevant a recalled fact must be to count as used. Recall fills its answer up to the
    limit; of what only fills it up, nothing is strengthened."""
    recall_embeds: int = 16
    """Facts without a vector that one recall embeds at most; the others are found by words."""
    recall_graph: str = "auto"
    """Whether recall also walks from the names in a query: `on`, `off`, or `auto`, which is on
    where scipy is installed."""
    decay_per_hour: float = 0.001
    """How fast an unused fact loses strength: 0.001 halves it in 29 days."""
    access_resistance: float = 0.3
    """How much being recalled slows that down."""
    strength_floor: float = 0.05
    """Facts weaker than this leave recall, not history."""
    recency_per_day: float = 0.01
    """How fast newness wears off."""
    slots: Mapping[str, str] = field(default_factory=dict)
    """Attributes of one's own: name to `one` (one value at a time) or `many`."""
    llm: str | None = None
    """`backend:model` of a language model that reads facts out of what is said and is asked where
    the judge is unsure, while remembering; None asks none."""
    llm_base_url: str | None = None
    """The server of `ollama:`, `openai:` and `anthropic:` models; None takes OLLAMA_HOST,
    OPENAI_BASE_URL or ANTHROPIC_BASE_URL, then the usual address."""
    llm_key_variable: str | None = None
    """The environment variable that holds the key; None is OPENAI_API_KEY or ANTHROPIC_API_KEY.
    Keys themselves are never settings."""
    llm_timeout: float = 60.0
    """Seconds to wait for a language model's answer."""
    llm_retries: int = 3
    """Further attempts when a server is busy or the connection breaks."""
    llm_concurrency: int = 4
    """Requests to a language model that are under way at a time."""
    llm_batch: int = 1
    """Texts or pairs in one prompt, at most. 1 keeps each alone, so that none can colour the
    judgement of another."""
    llm_max_calls: int = 2000
    """Requests to language models that one run may make; what is left over is not judged and
    waits for the next run. 0 is no limit."""
    llm_max_tokens: int = 0
    """Tokens, read and written, that one run may use; as `llm_max_calls`."""

    def __post_init__(self) -> None:
        problems = []
        for key, rule in RULES.items():
            try:
                # The checks also bring values into form ("3" stays refused, 1 becomes 1.0).
                object.__setattr__(self, key, rule(getattr(self, key)))
            except ValueError as error:
                problems.append(f"{key}: {error}")
        if problems:
            raise SettingsError(problems)

    @property
    def database(self) -> Path:
        """The database file."""
        return self.db if self.db is not None else default_database()

    @property
    def false_merge_rate(self) -> float:
        """The accepted rate of false merges: what was set, or the profile's."""
        return _first(self.max_false_merge, PROFILES[self.profile])

    @property
    def false_supersede_rate(self) -> float:
        """The accepted rate of false supersessions."""
        return _first(self.max_false_supersede, PROFILES[self.profile])

    @property
    def workers(self) -> int:
        """Threads the models really get."""
        return self.threads or min(os.cpu_count() or 1, 4)

    def values(self) -> dict[str, Any]:
        """Give all values as plain JSON values, in the order of declaration."""
        shown: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, Path):
                value = str(value)
            elif isinstance(value, Mapping):
                value = dict(sorted(value.items()))
            shown[item.name] = value
        return shown

    def deciding(self) -> dict[str, Any]:
        """Give the values that influence decisions, accepted rates resolved.

        The thresholds that follow from them depend on the model as well; see
        `consolidate.calibration.policy`.
        """
        values = self.values()
        for key in _WITHOUT_INFLUENCE:
            del values[key]
        return values | {
            "max_false_merge": self.false_merge_rate,
            "max_false_supersede": self.false_supersede_rate,
        }

    def digest(self) -> str:
        """Give a SHA-256 over what influences decisions.

        Where the database lies, whose memory it is, how many threads work on it, and how a
        language model is reached are left out.
        """
        return values_digest(self.deciding())


def values_digest(values: Mapping[str, Any]) -> str:
    """SHA-256 over plain JSON values."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


_WITHOUT_INFLUENCE = (
    "db",
    "agent",
    "profile",
    "threads",
    "providers",
    "lease_seconds",
    # Finding decides nothing.
    "relevance_weight",
    "strength_weight",
    "recency_weight",
    "fusion_k",
    "recall_similarity",
    "recall_use",
    "recall_embeds",
    "recall_graph",
    "decay_per_hour",
    "access_resistance",
    "strength_floor",
    "recency_per_day",
    # How a language model is reached and what it may cost. What it said is stored under the
    # model's identity, which a plan records beside the settings.
    "llm",
    "llm_base_url",
    "llm_key_variable",
    "llm_timeout",
    "llm_retries",
    "llm_concurrency",
    "llm_batch",
    "llm_max_calls",
    "llm_max_tokens",
)


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """Settings together with where each value came from."""

    settings: Settings
    origins: Mapping[str, str]
    """Setting name to `call`, `--option`, `--set name`, `CONSOLIDATE_NAME`, a file's path, or
    `default`."""


def resolve(
    call: Mapping[str, Any] | None = None,
    *,
    cli: Mapping[str, Any] | None = None,
    assigned: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Resolved:
    """Bring settings together from all places.

    Args:
        call: Values given by the caller; None values count as not given.
        cli: Values from the command line, as text or typed; None values count as not given.
        assigned: Values of `--set`, which options of their own overrule.
        environ: The environment; None is that of the process. `CONSOLIDATE_CONFIG` names a file
            to be read instead of the two usual ones.
        folder: Where `consolidate.toml` is looked for first; None is the working folder.

    Raises:
        SettingsError: Unknown keys, bad values or unreadable files, all of them.
    """
    env = os.environ if environ is None else environ
    problems: list[str] = []
    layers = [
        *_file_layers(env, folder if folder is not None else Path(), problems),
        _hippo_layer(env, problems),
        _environment_layer(env, problems),
        _layer(assigned or {}, lambda key: f"--set {key}", _spoken, problems),
        _layer(cli or {}, lambda key: f"--{key.replace('_', '-')}", _spoken, problems),
        _layer(call or {}, lambda key: "call", _typed, problems),
    ]
    values: dict[str, Any] = {}
    origins = dict.fromkeys(RULES, "default")
    for layer in layers:  # the weakest first, so that the stronger ones overwrite
        for key, (value, origin) in layer.items():
            values[key] = value
            origins[key] = origin
    if problems:
        raise SettingsError(problems)
    return Resolved(settings=Settings(**values), origins=origins)


_Layer = dict[str, tuple[Any, str]]
"""Setting name to value and origin."""


def _file_layers(env: Mapping[str, str], folder: Path, problems: list[str]) -> list[_Layer]:
    if named := env.get(f"{PREFIX}CONFIG"):
        path = Path(named).expanduser()
        if not path.is_file():
            problems.append(f"{PREFIX}CONFIG names {str(path)!r}, which is no file")
            return []
        return [_file_layer(path, problems)]
    paths = [config_folder(env) / FILE_NAME, folder / FILE_NAME]
    return [_file_layer(path, problems) for path in paths if path.is_file()]


def _file_layer(path: Path, problems: list[str]) -> _Layer:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        problems.append(f"{path}: can't be read ({error})")
        return {}
    # A relative database in a file means a place beside that file, wherever one stands.
    if isinstance(db := table.get("db"), str) and db != ":memory:":
        table["db"] = str(path.parent / Path(db).expanduser())
    return _layer(table, lambda key: str(path), _typed, problems)


def _hippo_layer(env: Mapping[str, str], problems: list[str]) -> _Layer:
    """What was set for hippo still says where the memory is, unless our own variable does."""
    given = {"db": env["HIPPO_DB"]} if env.get("HIPPO_DB") else {}
    return _layer(given, lambda key: "HIPPO_DB", _spoken, problems)


def _environment_layer(env: Mapping[str, str], problems: list[str]) -> _Layer:
    names = {
        name.removeprefix(PREFIX): value
        for name, value in env.items()
        if name.startswith(PREFIX) and value
    }
    given = {key.lower(): value for key, value in names.items() if key not in _OTHER_VARIABLES}
    return _layer(given, lambda key: f"{PREFIX}{key.upper()}", _spoken, problems)


def _layer(
    given: Mapping[str, Any],
    origin: Callable[[str], str],
    read: Callable[[str, Any], Any],
    problems: list[str],
) -> _Layer:
    layer: _Layer = {}
    for key, raw in given.items():
        if raw is None:
            continue
        if key not in RULES:
            problems.append(f"{origin(key)}: there is no setting {key!r}{_did_you_mean(key)}")
            continue
        try:
            layer[key] = (read(key, raw), origin(key))
        except ValueError as error:
            where = origin(key)
            # A file holds many settings, an option or a variable names its one already.
            named = key in where.lower().replace("-", "_")
            problems.append(f"{where}: {error}" if named else f"{where}: {key} {error}")
    return layer


def _did_you_mean(key: str) -> str:
    near = difflib.get_close_matches(key, RULES, n=1)
    return f" (did you mean {near[0]!r}?)" if near else f"; there are {', '.join(RULES)}"


def _typed(key: str, value: Any) -> Any:
    return RULES[key](value)


def _spoken(key: str, value: Any) -> Any:
    """Read a value that came as text, as all do in the environment."""
    if isinstance(value, str) and (reader := READERS.get(key)):
        value = reader(value)
    return RULES[key](value)


def _first(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
