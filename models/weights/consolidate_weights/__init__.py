"""Model files for `consolidate`; data only. Each folder has a manifest and a model card."""

__version__ = "0.1.0"
