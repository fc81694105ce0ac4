"""All checks that `cases.toml` names; importing this lists them."""

from __future__ import annotations

from cases import (
    checks_exchange,
    checks_models,
    checks_names,
    checks_runs,
    checks_scale,
    checks_store,
)
from cases.bench import CHECKS, Bench

__all__ = ["CHECKS", "PARTS", "Bench"]

PARTS = (checks_exchange, checks_models, checks_names, checks_runs, checks_scale, checks_store)
