"""Every error the package raises.

    ConsolidateError
    ├── InputError               a value the caller gave can't be used; names it and the way out
    │   └── NaiveTimeError       a time without offset and without a named zone
    ├── SettingsError            unknown keys or bad values, all problems at once
    ├── StoreError               the database can't do what was asked
    │   ├── MigrationError       the file is newer than the code, or a migration failed
    │   ├── ModelMismatchError   the store holds vectors of another model
    │   ├── NotFoundError        no such fact, run or review
    │   ├── BlockChangedError    a block was written by somebody else meanwhile
    │   ├── StalePlanError       facts changed since the plan was made
    │   ├── UndoConflictError    rows changed since the run that is to be undone
    │   └── LeaseHeldError       another run is at work
    └── BackendError             a model can't be had or can't answer
        ├── MissingExtraError    an optional dependency is not installed
        ├── ModelFilesError      model files are missing, cut or of another kind
        └── ModelOutputError     a model answered with something unusable

Messages say what happened, which value, and what to do next. Interfaces print them without a
traceback.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "BackendError",
    "BlockChangedError",
    "ConsolidateError",
    "InputError",
    "LeaseHeldError",
    "MigrationError",
    "MissingExtraError",
    "ModelFilesError",
    "ModelMismatchError",
    "ModelOutputError",
    "NaiveTimeError",
    "NotFoundError",
    "SettingsError",
    "StalePlanError",
    "StoreError",
    "UndoConflictError",
]


class ConsolidateError(Exception):
    """Base of all errors of this package; the message is safe to show to a user."""


class InputError(ConsolidateError):
    """A value given by the caller can't be used."""


class NaiveTimeError(InputError):
    """A time has no UTC offset and no zone was named to read it in."""


class SettingsError(ConsolidateError):
    """Settings can't be used.

    Attributes:
        problems: One sentence for each problem found; all are reported together.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(self.problems))


class StoreError(ConsolidateError):
    """The database can't do what was asked; nothing was changed."""


class MigrationError(StoreError):
    """The file's schema is newer than this code, or a migration failed."""


class ModelMismatchError(StoreError):
    """The store holds vectors of another embedding model; the two are never mixed."""


class NotFoundError(StoreError):
    """No fact, run or review has this id."""


class BlockChangedError(StoreError):
    """A block has another version than the one that its new content was made from."""


class StalePlanError(StoreError):
    """Facts named by the plan changed after it was made; plan again."""


class UndoConflictError(StoreError):
    """Rows changed after the run that is to be undone, so undoing would lose the later change."""


class LeaseHeldError(StoreError):
    """Another run holds the lease on this store."""


class BackendError(ConsolidateError):
    """A model can't be loaded or can't answer."""


class MissingExtraError(BackendError):
    """An optional dependency is not installed; the message names the extra."""


class ModelFilesError(BackendError):
    """Model files are missing, cut, or not what they claim to be."""


class ModelOutputError(BackendError):
    """A model answered with something that can't be used (NaN, wrong shape, wrong count)."""
