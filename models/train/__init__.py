"""Training of the bundled models; needs the workshop environment."""
