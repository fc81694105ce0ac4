"""A hundred reported failures of other memories, retold: `cases.toml` and what runs it."""

import pytest

# Before the modules are imported: their asserts are to tell what they compared.
pytest.register_assert_rewrite(__name__)
