"""Makes one archive that installs without a network, and tries it: `python -m models.bundle`.

    python -m models.bundle build              for this machine's platform and Python
    python -m models.bundle build --platform manylinux_2_28_aarch64 --python 3.12
    python -m models.bundle test ARCHIVE       installs it where no network is, and uses it

The archive holds the wheels of the project, of its weights and of all default dependencies, the
install script, the licences, and SHA256SUMS. Only `build` goes online, through pip.
"""

from __future__ import annotations

import argparse
import email
import gzip
import hashlib
import io
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from consolidate.version import __version__
from models.bundle_trial import try_out

__all__ = ["Licence", "archive_name", "build", "checksums", "licence_of", "licence_table", "main"]

ROOT: Final = Path(__file__).parents[1]
SUMS: Final = "SHA256SUMS"
_FILES: Final = Path(__file__).parent / "bundle_files"
_PROJECT: Final = ("consolidate", "pyproject.toml", "README.md", "LICENSE", "NOTICE")
# Named by markers that pip reads for the machine it runs on, not for the one it downloads for.
_FOR_WINDOWS: Final = ("tzdata", "colorama")
_LEFT_OUT: Final = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "*.pyc")
_LICENCE_FILE: Final = re.compile(r"(licen[cs]e|copying|notice|authors)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Licence:
    """What a wheel says of its licence."""

    name: str
    version: str
    stated: str
    """SPDX expression, or the words it uses; empty if it says nothing."""
    texts: tuple[tuple[str, bytes], ...]
    """Names and contents of the licence files in it."""


def build(out: Path, *, platform: str | None = None, python: str | None = None) -> Path:
    """Write the archive into the folder `out`.

    Args:
        out: Made if missing.
        platform: Platform tag of the target, such as `manylinux_2_28_x86_64`; None is this one.
        python: Version of the target's Python, such as `3.12`; None is this one's.

    Returns:
        The archive.

    Raises:
        RuntimeError: pip failed; the message holds its last words.
    """
    with tempfile.TemporaryDirectory() as scratch:
        top = Path(scratch) / archive_name(platform, python)
        wheels = top / "wheels"
        wheels.mkdir(parents=True)
        _wheels_of_project(wheels, Path(scratch))
        _wheels_of_dependencies(wheels, platform, python)
        licences = [licence_of(path) for path in sorted(wheels.glob("*.whl"))]
        _write_licences(top / "licences", licences)
        for path in _FILES.iterdir():
            if path.is_file():
                shutil.copyfile(path, top / path.name)
        (top / "install.sh").chmod(0o755)
        (top / SUMS).write_text(checksums(top), encoding="utf-8", newline="\n")
        out.mkdir(parents=True, exist_ok=True)
        archive = out / f"{top.name}.tar.gz"
        _pack(top, archive)
    return archive


def archive_name(platform: str | None, python: str | None) -> str:
    """Name of the archive's folder: version, platform, Python."""
    where = platform or re.sub(r"[^a-z0-9]+", "_", sysconfig.get_platform().lower())
    version = python or f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"consolidate-{__version__}-{where}-py{version.replace('.', '')}"


def checksums(folder: Path) -> str:
    """One line a file, as `sha256sum` writes and reads it; sorted, without the list itself."""
    names = sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )
    lines = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in names
        if name != SUMS
    ]
    return "".join(lines)


def licence_of(wheel: Path) -> Licence:
    """Read name, version and licence out of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        inside = next(name for name in names if name.endswith(".dist-info/METADATA"))
        about = email.message_from_bytes(archive.read(inside))
        folder = PurePosixPath(inside).parent
        texts = tuple(
            (PurePosixPath(name).relative_to(folder).as_posix(), archive.read(name))
            for name in sorted(names)
            if PurePosixPath(name).is_relative_to(folder)
            and not name.endswith("/")
            and _LICENCE_FILE.search(PurePosixPath(name).name)
        )
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in about.get_all("Classifier", [])
        if line.startswith("License ::")
    ]
    free = (about.get("License") or "").strip()
    # Some put the whole text there.
    short = free if len(free) < 80 and "\n" not in free else ""
    stated = about.get("License-Expression") or short or ", ".join(classifiers)
    return Licence(
        name=str(about["Name"]), version=str(about["Version"]), stated=str(stated), texts=texts
    )


def licence_table(licences: Iterable[Licence]) -> str:
    """All packages with their licences, as Markdown."""
    lines = ["# Licences of what is in this bundle", "", "| package | version | licence |"]
    lines.append("|---|---|---|")
    for each in sorted(licences, key=lambda each: each.name.casefold()):
        stated = each.stated or ("see its files" if each.texts else "not stated in the wheel")
        lines.append(f"| {each.name} | {each.version} | {stated.replace('|', '/')} |")
    return "\n".join([*lines, "", "The texts lie beside this list, as the wheels have them.", ""])


def _write_licences(folder: Path, licences: Sequence[Licence]) -> None:
    for each in licences:
        for name, content in each.texts:
            path = folder / f"{each.name}-{each.version}" / PurePosixPath(name).name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    (folder / "LICENCES.md").write_text(licence_table(licences), encoding="utf-8", newline="\n")


def _wheels_of_project(wheels: Path, scratch: Path) -> None:
    # From copies: a build leaves folders of its own beside what it builds.
    project, weights = scratch / "project", scratch / "weights"
    project.mkdir()
    for name in _PROJECT:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, project / name, ignore=_LEFT_OUT)
        else:
            shutil.copyfile(source, project / name)
    shutil.copytree(ROOT / "models" / "weights", weights, ignore=_LEFT_OUT)
    _pip("wheel", "--no-deps", "--wheel-dir", str(wheels), str(project), str(weights))


def _wheels_of_dependencies(wheels: Path, platform: str | None, python: str | None) -> None:
    target: list[str] = []
    if platform:
        target += ["--platform", platform]
    if python:
        target += ["--python-version", python]
    more = _FOR_WINDOWS if (platform or "").startswith("win") else ()
    own = [str(path) for path in sorted(wheels.glob("*.whl"))]
    _pip(
        "download", "--only-binary=:all:", "--dest", str(wheels), "--find-links", str(wheels),
        *target, *own, *more,
    )  # fmt: skip


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - pip
    if done.returncode:
        raise RuntimeError(f"pip {arguments[0]} failed:\n{done.stderr.strip()[-2000:]}")


def _pack(top: Path, archive: Path) -> None:
    """Write a tar whose bytes depend on the files alone: no times, owners or chance of order."""
    beside = archive.with_name(f".{archive.name}.new")
    with (
        beside.open("wb") as raw,
        gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, compresslevel=6, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for path in sorted(path for path in top.rglob("*") if path.is_file()):
            entry = tarfile.TarInfo(f"{top.name}/{path.relative_to(top).as_posix()}")
            content = path.read_bytes()
            entry.size = len(content)
            entry.mode = 0o755 if path.suffix == ".sh" else 0o644
            tar.addfile(entry, io.BytesIO(content))
    beside.replace(archive)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build or try a bundle; gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m models.bundle", description="Make a bundle.")
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("build", help="make the archive")
    making.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    making.add_argument("--platform", metavar="TAG", help="e.g. manylinux_2_28_x86_64; else this")
    making.add_argument("--python", metavar="VERSION", help="e.g. 3.12; else this one's")
    trying = commands.add_parser("test", help="install it where no network is, and use it")
    trying.add_argument("archive", type=Path, nargs="?", help="the default is the newest in dist")
    trying.add_argument("--tests", default=None, metavar="ARGS", help="what pytest is given")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.command == "build":
            archive = build(chosen.out, platform=chosen.platform, python=chosen.python)
            print(f"{archive}: {archive.stat().st_size / 1e6:.1f} MB")
            print(f"sha256 {hashlib.sha256(archive.read_bytes()).hexdigest()}")
            return 0
        archive = chosen.archive or _newest(ROOT / "dist")
        return try_out(archive, ROOT, tests=chosen.tests)
    except (OSError, RuntimeError, tarfile.TarError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _newest(folder: Path) -> Path:
    found = sorted(folder.glob("consolidate-*.tar.gz"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise RuntimeError(f"no bundle in {folder}; make one with: make bundle")
    return found[-1]


if __name__ == "__main__":
    sys.exit(main())
