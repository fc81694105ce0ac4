"""A hundred reported failures of other memories, retold: `cases.toml` and what runs it."""

from pathlib import Path

import pytest

# Before the modules are imported: their asserts are to tell what they compared.
pytest.register_assert_rewrite(
    *(f"{__name__}.{path.stem}" for path in Path(__file__).parent.glob("[a-z]*.py"))
)
