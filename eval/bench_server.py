"""Measures the server at rest: `python -m eval.bench_server`.

How long a client waits for `initialize`, how much of it is computing, and what the process holds
before any model is loaded. Written to `server.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from consolidate.settings import Settings
from eval.record import RESULTS, heading, write_result

__all__ = ["main", "measure"]

_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "0"},
    },
}


def measure(folder: Path) -> dict[str, float]:
    """Start a server on an empty store and say hello.

    Returns:
        `wall_seconds` until the answer, `cpu_seconds` the server computed until then, and
        `megabytes` resident after it.
    """
    began = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "consolidate", "serve", "--db", str(folder / "m.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    assert process.stdin is not None and process.stdout is not None
    with process:
        process.stdin.write(json.dumps(_HELLO) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        wall = time.perf_counter() - began
        assert answer["result"]["serverInfo"]["name"] == "consolidate"
        status = Path(f"/proc/{process.pid}/statm").read_text(encoding="ascii").split()
        times = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1]
        ticks = sum(int(value) for value in times.split()[11:13])
        process.stdin.close()
    return {
        "wall_seconds": wall,
        "cpu_seconds": ticks / os.sysconf("SC_CLK_TCK"),
        "megabytes": int(status[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20,
    }


def main() -> int:
    """Measure five times, print the best, write it."""
    parser = argparse.ArgumentParser(prog="python -m eval.bench_server", description="Server.")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FOLDER")
    chosen = parser.parse_args()
    if not Path("/proc/self/statm").exists():
        print("this bench reads /proc, which only Linux has", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        rounds = [measure(Path(folder)) for _ in range(5)]
    best: dict[str, Any] = {name: min(each[name] for each in rounds) for name in rounds[0]}
    result = heading("server", settings=Settings(), models={}, data={}) | best
    result["load"] = os.getloadavg()[0]
    path = write_result(chosen.out, "server.json", result)
    print(
        f"initialize after {best['wall_seconds']:.2f} s ({best['cpu_seconds']:.2f} s of computing; "
        f"load {result['load']:.1f}), {best['megabytes']:.0f} MB at rest; written to {path}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
