"""The workshop for model files: train, export, quantise, verify. Never part of a wheel."""
