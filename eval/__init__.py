"""Labelled sets, scores and benches. Not shipped in the wheel."""
