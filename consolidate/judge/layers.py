"""Which layers of the judge are at work. All of them, except where their worth is measured.

A layer that is off does not see what it works on: `dim` takes it out of a reading. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final

from consolidate.judge.modality import Modality
from consolidate.judge.reading import Reading

__all__ = ["ALL_LAYERS", "Layers", "dim"]


@dataclass(frozen=True, kw_only=True)
class Layers:
    """The layers, each on or off."""

    values: bool = True
    """Typed values, and words that are opposites."""
    slots: bool = True
    """Attributes and how many values they hold."""
    modality: bool = True
    """Plans, hearsay, questions, ends, corrections; dated readings."""
    names: bool = True
    """Who or what a fact is about: subjects, names, environments, a common matter."""
    classifier: bool = True
    """The model; off, every pair is neutral to it."""
    policy: bool = True
    """Holding back: what may only be asked about, and scripts that the model does not read. The
    thresholds belong to it too, but stand in the settings."""

    @classmethod
    def none(cls) -> Layers:
        """The classifier by itself."""
        return cls(values=False, slots=False, modality=False, names=False, policy=False)

    def without(self, name: str) -> Layers:
        """These layers with one more switched off."""
        return replace(self, **{name: False})

    @property
    def off(self) -> tuple[str, ...]:
        """Names of the layers that are off."""
        return tuple(item.name for item in fields(self) if not getattr(self, item.name))


ALL_LAYERS: Final = Layers()


def dim(reading: Reading, layers: Layers) -> Reading:
    """A reading without what the layers that are off would have looked at."""
    if layers == ALL_LAYERS:
        return reading
    return replace(
        reading,
        values=reading.values if layers.values else (),
        attributes=reading.attributes if layers.slots else (),
        modality=reading.modality if layers.modality else Modality(),
        names=reading.names if layers.names else frozenset(),
        subject=reading.subject if layers.names else None,
        latin=reading.latin or not layers.policy,
    )
