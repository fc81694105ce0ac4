"""The bundle for machines without a network: what is in it, and that damage is noticed."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pytest
from conftest import lacking

from models import bundle, bundle_trial

INSTALL = Path(__file__).parents[1] / "models" / "bundle_files" / "install.py"


def wheel(folder: Path, about: str, **files: str) -> Path:
    path = folder / "thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("thing/__init__.py", "")
        archive.writestr("thing-1.0.dist-info/METADATA", f"Name: thing\nVersion: 1.0\n{about}\n")
        for name, content in files.items():
            archive.writestr(f"thing-1.0.dist-info/{name}", content)
    return path


# ---- licences


@pytest.mark.parametrize(
    ("about", "stated"),
    [
        ("License-Expression: MIT", "MIT"),
        ("License: BSD-3-Clause", "BSD-3-Clause"),
        ("Classifier: License :: OSI Approved :: MIT License", "MIT License"),
        (f"License: {'long text ' * 20}", ""),
        ("", ""),
    ],
)
def test_a_licence_is_read_wherever_a_wheel_says_it(
    tmp_path: Path, about: str, stated: str
) -> None:
    assert bundle.licence_of(wheel(tmp_path, about)).stated == stated


def test_licence_texts_come_along_and_other_files_do_not(tmp_path: Path) -> None:
    files = {"licenses/LICENSE.txt": "do as you like", "COPYING": "more", "RECORD": "", "WHEEL": ""}
    found = bundle.licence_of(wheel(tmp_path, "", **files))
    assert found.texts == (("COPYING", b"more"), ("licenses/LICENSE.txt", b"do as you like"))


def test_the_table_names_every_package_and_what_is_not_stated() -> None:
    made = [
        bundle.Licence(name="b", version="2", stated="MIT", texts=()),
        bundle.Licence(name="A", version="1", stated="", texts=()),
        bundle.Licence(name="c", version="3", stated="", texts=(("LICENSE", b"x"),)),
    ]
    rows = [line for line in bundle.licence_table(made).splitlines() if line.startswith("| ")]
    assert rows[1:] == [
        "| A | 1 | not stated in the wheel |",
        "| b | 2 | MIT |",
        "| c | 3 | see its files |",
    ]


# ---- the archive


def test_the_name_says_platform_and_python() -> None:
    assert bundle.archive_name("manylinux_2_28_aarch64", "3.12").endswith(
        "-manylinux_2_28_aarch64-py312"
    )
    here = f"py{sys.version_info.major}{sys.version_info.minor}"
    assert bundle.archive_name(None, None).endswith(here)


def test_checksums_are_those_of_sha256sum_and_leave_themselves_out(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "a.whl").write_bytes(b"abc")
    (tmp_path / "SHA256SUMS").write_text("old", encoding="utf-8")
    digest = hashlib.sha256(b"abc").hexdigest()
    assert bundle.checksums(tmp_path) == f"{digest}  wheels/a.whl\n"


def test_the_same_files_give_the_same_archive(tmp_path: Path) -> None:
    made: list[bytes] = []
    for name in ("one", "two"):
        top = tmp_path / name / "top"
        top.mkdir(parents=True)
        (top / "install.sh").write_text("#!/bin/sh\n", encoding="utf-8")
        (top / "a.txt").write_text("a", encoding="utf-8")
        os.utime(top / "a.txt", (len(made), len(made)))
        bundle._pack(top, tmp_path / f"{name}.tar.gz")
        made.append((tmp_path / f"{name}.tar.gz").read_bytes())
    assert made[0] == made[1]
    with tarfile.open(tmp_path / "one.tar.gz") as tar:
        modes = {entry.name: entry.mode for entry in tar}
    assert modes == {"top/a.txt": 0o644, "top/install.sh": 0o755}


def test_without_a_bundle_the_way_to_make_one_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "ROOT", tmp_path)
    assert bundle.main(["test"]) == 1
    assert "make bundle" in capsys.readouterr().err


# ---- the install script


@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_a_damaged_bundle_is_not_installed(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "bundle"
    (folder / "wheels").mkdir(parents=True)
    shutil.copyfile(INSTALL, folder / "install.py")
    part = folder / "wheels" / "a.whl"
    part.write_bytes(b"abc")
    (folder / "SHA256SUMS").write_text(bundle.checksums(folder), encoding="utf-8")
    if damage == "changed":
        part.write_bytes(b"abd")
    else:
        part.unlink()
    done = subprocess.run(
        [sys.executable, str(folder / "install.py"), str(tmp_path / "env")],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "damaged" in done.stderr and "wheels/a.whl" in done.stderr
    assert not (tmp_path / "env").exists()


# ---- the trial


def test_tests_about_the_checkout_are_not_run_on_an_installed_bundle() -> None:
    *ignored, folder = bundle_trial.offline_tests()
    assert folder == "."
    patterns = [option.removeprefix("--ignore-glob=") for option in ignored]

    # pytest reads a pattern as a path below the folder that it is started in
    assert not any("/" in pattern for pattern in patterns)

    def is_run(name: str) -> bool:
        return not any(fnmatch(name, pattern) for pattern in patterns)

    assert all(map(is_run, ("test_store_facts.py", "test_backends_onnx.py", "test_cases.py")))
    assert not any(map(is_run, ("test_bundle.py", "test_repository.py", "test_llm_roles.py")))


def test_a_file_of_tests_lacks_what_it_or_a_file_beside_it_imports(tmp_path: Path) -> None:
    (tmp_path / "helping.py").write_text("import no_such_package\n", encoding="utf-8")
    needing = tmp_path / "test_needing.py"
    needing.write_text("import json\nfrom helping import x\nimport pytest\n", encoding="utf-8")
    assert lacking(needing) == {"no_such_package"}
    assert not lacking(Path(__file__))


def test_where_no_namespace_can_be_made_python_refuses_to_leave(tmp_path: Path) -> None:
    env = bundle_trial.blocked_environment(dict(os.environ), tmp_path / "silence")
    code = (
        "import socket\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname()).close()\n"
        "server.close()\n"
        "try:\n"
        "    socket.create_connection(('192.0.2.1', 443), timeout=5)\n"
        "except OSError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True,
        timeout=60,
    )  # fmt: skip
    assert "no network here" in done.stdout
