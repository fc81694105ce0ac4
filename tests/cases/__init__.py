"""A hundred reported failures of other memories, retold: `cases.toml` and what runs it."""
