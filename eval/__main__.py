"""`python -m eval` is `python -m eval.run`."""

from __future__ import annotations

import sys

from eval.run import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
