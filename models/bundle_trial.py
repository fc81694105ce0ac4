"""Tries a bundle: installed and used in a network namespace that has only a loopback.

Where namespaces are not permitted it says so, and blocks connections inside of Python instead,
which is weaker: what native code does is not seen then.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

__all__ = ["blocked_environment", "namespace_prefix", "offline_tests", "try_out"]

# What the tests themselves need; fetched before the network is taken away.
_TOOLS: Final = ("pytest", "hypothesis")
# Tests that are about the checkout, or import clients of language models when they run.
_ELSEWHERE: Final = (
    "test_bundle", "test_eval_", "test_gliner_bundled", "test_llm_", "test_models_manifest",
    "test_models_workshop", "test_readme", "test_repository",
)  # fmt: skip
_WITH_A_CLIENT: Final = "P049"  # a reported failure that is told to the client of ollama
_SILENCE: Final = '''\
"""Refuses connections that leave this machine."""
import socket


def _checked(address):
    host = address[0] if isinstance(address, tuple) else address
    if isinstance(host, str) and not host.startswith(("127.", "/", "\\0")):
        if host not in ("localhost", "::1"):
            raise OSError(f"no network here: {address!r}")


class _Quiet(socket.socket):
    def connect(self, address):
        _checked(address)
        return super().connect(address)

    def connect_ex(self, address):
        _checked(address)
        return super().connect_ex(address)


socket.socket = _Quiet
'''


def try_out(archive: Path, root: Path, *, tests: str | None = None) -> int:
    """Install an archive without a network, run the doctor, the demo and the tests.

    Args:
        archive: The bundle.
        root: The checkout, for the tests.
        tests: Arguments for pytest; None takes all tests that need no more than a bundle has.

    Returns:
        An exit code.
    """
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        with tarfile.open(archive) as tar:
            # Python has had filters since 3.11.4; the archive is our own and just made
            safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            tar.extractall(place / "bundle", **safely)  # noqa: S202
        (folder,) = (place / "bundle").iterdir()
        tools = _fetch_tools(place)
        _copy_tests(root, place / "checkout")
        prefix = namespace_prefix()
        env = _environment(place)
        if prefix:
            print(f"In a network namespace with nothing but a loopback: {' '.join(prefix)} ...")
        else:
            print("Network namespaces are not permitted here; connections are refused in Python.")
            env = blocked_environment(env, place / "silence")
        steps = _steps(folder, place, tools, tests)
        for name, command, where in steps:
            print(f"--- {name}", flush=True)
            done = subprocess.run(  # noqa: S603 - the commands of `_steps`
                _inside(prefix, command), cwd=where, env=dict(env), check=False
            )
            if done.returncode:
                print(f"{name} failed (exit code {done.returncode})", file=sys.stderr)
                return 1
    print("The bundle works without a network.")
    return 0


def namespace_prefix() -> list[str]:
    """Words that run a command in a namespace without a network; empty if that is not permitted."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return []
    # The real root needs no user namespace, in which it could not become another user, as some
    # tests do. Others become root of one of their own.
    for flags in (["-n"], ["-rn"]):
        done = subprocess.run(  # noqa: S603 - unshare
            [unshare, *flags, "true"], capture_output=True, check=False
        )
        if done.returncode == 0:
            return [unshare, *flags]
    return []


def _inside(prefix: Sequence[str], command: Sequence[str]) -> list[str]:
    if not prefix:
        return list(command)
    # The loopback is there but down; tests talk to servers of their own over it.
    up = "ip link set lo up 2>/dev/null || ifconfig lo up 2>/dev/null"
    again = 'exec "$@"'
    if "-rn" in prefix:
        # Back to an ordinary user, where this unshare can: root writes to every folder.
        user = "unshare --user --map-user=1000 --map-group=1000"
        again = f'if {user} true 2>/dev/null; then exec {user} "$@"; fi; {again}'
    return [*prefix, "sh", "-c", f"{up}; {again}", "sh", *command]


def blocked_environment(env: Mapping[str, str], folder: Path) -> dict[str, str]:
    """An environment in which Python refuses connections that leave the machine."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_SILENCE, encoding="utf-8")
    return {**env, "PYTHONPATH": str(folder)}


def offline_tests() -> list[str]:
    """Arguments for pytest: all tests but those that are about the checkout.

    What needs a package that a bundle has not, the tests leave out by themselves.
    """
    return [*(f"--ignore-glob={name}*.py" for name in _ELSEWHERE), "."]


def _steps(
    folder: Path, place: Path, tools: Path, tests: str | None
) -> list[tuple[str, list[str], Path]]:
    binaries = place / "env" / "bin"
    python, command = str(binaries / "python"), str(binaries / "consolidate")
    chosen = tests.split() if tests else offline_tests()
    silent = "import socket; socket.create_connection(('192.0.2.1', 443), timeout=3)"
    return [
        ("no way out", ["sh", "-c", f'! "$0" -c "{silent}" 2>/dev/null', sys.executable], place),
        ("install", [str(folder / "install.sh"), str(place / "env")], place),
        ("doctor", [command, "doctor"], place),
        ("demo", [command, "demo"], place),
        (
            "what tests need",
            [python, "-m", "pip", "install", "--no-index", "--quiet", "--find-links", str(tools),
             *_TOOLS],
            place,
        ),
        ("tests", [python, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                   "-k", f"not {_WITH_A_CLIENT}", *chosen],
         place / "checkout" / "tests"),
    ]  # fmt: skip


def _fetch_tools(place: Path) -> Path:
    folder = place / "tools"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:"]
    done = subprocess.run(  # noqa: S603 - pip
        [*command, "--disable-pip-version-check", "--dest", str(folder), *_TOOLS],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"pip download failed:\n{done.stderr.strip()[-2000:]}")
    return folder


def _copy_tests(root: Path, checkout: Path) -> None:
    """Tests without the package beside them, so that they meet the installed one."""
    ignore = shutil.ignore_patterns("__pycache__", "results", "memory_pairs", "streams")
    checkout.mkdir()
    for name in ("tests", "eval", "models"):
        shutil.copytree(root / name, checkout / name, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(root / name, checkout / name)


def _environment(place: Path) -> dict[str, str]:
    home = place / "home"
    home.mkdir()
    env = {"HOME": str(home), "PATH": os.environ.get("PATH", os.defpath), "PYTHONUTF8": "1"}
    return {**env, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1"}
