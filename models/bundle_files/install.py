"""Installs consolidate from the wheels in this folder; opens no connection.

    python3 install.py [FOLDER]        the default is ./consolidate-env

First every file is compared with SHA256SUMS. Needs Python 3.11 or newer with venv, and nothing
else.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def problems() -> "list[str]":
    """Files that are missing or not what they should be."""
    found = []
    for line in (HERE / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        path = HERE / name
        if not path.is_file():
            found.append(f"{name} is missing")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            found.append(f"{name} is not what SHA256SUMS says")
    return found


def main() -> int:
    """Check, make the environment, install."""
    if sys.version_info < (3, 11):  # noqa: UP036 - it meets any Python
        print("consolidate needs Python 3.11 or newer", file=sys.stderr)
        return 1
    if wrong := problems():
        print("\n".join(["This bundle is damaged; get it again.", *wrong]), file=sys.stderr)
        return 1
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "consolidate-env").absolute()
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)  # noqa: S603 - venv
    except subprocess.CalledProcessError:
        print(
            "This Python can't make an environment (on Debian: apt install python3-venv).",
            file=sys.stderr,
        )
        return 1
    tools = folder / ("Scripts" if os.name == "nt" else "bin")
    # Settings of the machine (an index, a constraint) must not reach in.
    env = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    env["PIP_CONFIG_FILE"] = os.devnull
    done = subprocess.run(  # noqa: S603 - pip
        [
            str(tools / "python"), "-m", "pip", "install", "--no-index", "--quiet",
            "--disable-pip-version-check", "--find-links", str(HERE / "wheels"),
            "consolidate", "consolidate-weights",
        ],
        env=env, check=False,
    )  # fmt: skip
    if done.returncode:
        version = ".".join(map(str, sys.version_info[:2]))
        print(
            f"pip could not install the wheels. Were they made for this platform and for Python "
            f"{version}? The name of the bundle says.",
            file=sys.stderr,
        )
        return 1
    print(f"Installed. Look whether all is well with: {tools / 'consolidate'} doctor")
    return 0


if __name__ == "__main__":
    sys.exit(main())
