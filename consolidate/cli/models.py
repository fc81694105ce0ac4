"""Commands about model files: models list, fetch, verify, remove, path, use."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from consolidate.cli.common import Agent, Assign, Context, Db, Json, context, utc_now
from consolidate.cli.progress import transferred, watched
from consolidate.cli.render import draw, heading, say, table, write_json
from consolidate.errors import ConsolidateError, InputError

if TYPE_CHECKING:
    from consolidate.shelf import Checked, Shelf
    from consolidate.switching import Outlook, Switched

__all__ = ["app"]

app = typer.Typer(
    help="See, fetch, check and change models.", no_args_is_help=True, rich_markup_mode=None
)

_Name = Annotated[
    str, typer.Argument(metavar="NAME", help="As `consolidate models list` shows it.")
]
_ROLES = ("embedder", "extractor", "classifier")


@app.callback()
def _models() -> None:
    """See, fetch, check and change models."""


@app.command(name="list")
def list_models(
    assign: Assign = None, db: Db = None, agent: Agent = None, as_json: Json = False
) -> None:
    """List the models in use, those on this machine, and those that can be fetched.

    Loads none of them, and opens no connection.
    """
    from consolidate.backends.files import bundled_names
    from consolidate.manifest import entries
    from consolidate.shelf import Shelf

    ctx = context(db, agent, as_json, assign=assign)
    shelf = Shelf()
    used = [_used(role, getattr(ctx.settings, role), ctx.settings) for role in _ROLES]
    bundled = [_bundled(name) for name in bundled_names()]
    listed = [e for e in entries(shelf.folder).values() if not e.bundled]
    here = set(shelf.names())
    unfinished, unchecked = set(shelf.unfinished()), set(shelf.unchecked())
    fetchable: list[dict[str, Any]] = [
        {
            "name": e.name,
            "role": e.role,
            "source": e.source,
            "revision": e.revision,
            "licence": e.licence,
            "languages": e.languages,
            "dimensions": e.dimensions,
            "labels": e.labels,
            "format": e.format,
            "bytes": e.size,
            "state": "here" if e.name in here
            else "unchecked" if e.name in unchecked
            else "cut" if e.name in unfinished
            else "",
        }
        for e in listed
    ]  # fmt: skip
    if as_json:
        write_json(
            {
                "models": used,
                "bundled": bundled,
                "folder": str(shelf.folder),
                "listed": fetchable,
            }
        )
        return
    rows = [(m["role"], m["spec"], m["identity"] or f"unusable: {m['problem']}") for m in used]
    draw(table(["role", "setting", "model"], rows, grow="model"))
    heading("Bundled")
    if bundled:
        columns = ["name", "model", "for", "MB", "licence", "folder"]
        files = [
            (m["name"], m["model"], m["task"], _mb(m["bytes"]), m["licence"], m["folder"])
            for m in bundled
        ]
        draw(table(columns, files, right=["MB"]))
    else:
        say("None: the package consolidate-weights is not installed.")
    heading("Others, for: consolidate models fetch NAME")
    columns = ["name", "for", "MB", "licence", "source", "state"]
    others = [
        (m["name"], m["role"], _mb(m["bytes"]), m["licence"], m["source"], m["state"])
        for m in fetchable
    ]
    draw(table(columns, others, right=["MB"]))
    say(f"Fetched models lie in {shelf.folder}")


@app.command()
def fetch(name: _Name, as_json: Json = False) -> None:
    """Get a model's files from the Hugging Face hub, check them, and make it usable.

    A fetch that was cut goes on where it stopped. HF_ENDPOINT names a mirror, HF_TOKEN a token
    for models with terms, HTTPS_PROXY a proxy. If all files are there, no connection is opened.
    """
    from consolidate.fetching import fetch as fetch_files
    from consolidate.manifest import entry
    from consolidate.shelf import Shelf

    shelf = Shelf()
    with transferred(as_json) as progress:
        done = fetch_files(name, shelf=shelf, progress=progress)
    if as_json:
        write_json({**_facts(done), "lock": str(shelf.lock_file(name))})
        return
    what = f"{_mb(done.bytes)} MB in {done.folder}"
    say(f"Fetched: {name}, {what}" if done.fetched else f"Already there and right: {name}, {what}")
    _say_noted(shelf, name, done.noted)
    listed = entry(name, shelf.folder)
    if listed.format == "torch":
        say("It is as PyTorch has it. In a checkout, with the workshop's libraries:")
        say(f"  python -m models.export {done.folder} --task {listed.task}")
    else:
        say(f"Use it with: consolidate models use {name}")


@app.command()
def verify(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Else all that are there.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare every byte of the models on this machine with what they should be.

    Files that were put there by hand become usable if they are right. Exits with 1 if not.
    """
    from consolidate.backends.files import bundled_names
    from consolidate.shelf import Shelf

    shelf = Shelf()
    names = [name] if name else [*bundled_names(), *shelf.names(), *shelf.unchecked()]
    results = [_verified(shelf, each) for each in names]
    wrong = [each for each in results if each["problem"]]
    if as_json:
        write_json({"sound": not wrong, "models": results})
    else:
        for each in results:
            found = each["problem"] or f"right, {_mb(each['bytes'])} MB in {each['folder']}"
            say(f"{each['name']}: {found}")
            _say_noted(shelf, each["name"], each["noted"])
        if not results:
            say(f"No model is there: none bundled, none in {shelf.folder}")
    if wrong:
        raise typer.Exit(1)


@app.command()
def remove(
    name: _Name,
    forget: Annotated[
        bool,
        typer.Option("--forget", help="Also forget what it was: the next fetch may give another."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Delete a fetched model's files."""
    from consolidate.backends.files import bundled_names
    from consolidate.shelf import Shelf

    shelf = Shelf()
    if name in bundled_names():
        raise InputError(f"{name!r} is bundled; remove it with: pip uninstall consolidate-weights")
    freed = shelf.remove(name, forget=forget)
    if as_json:
        write_json({"name": name, "bytes": freed, "forgotten": forget})
        return
    say(f"Removed: {name}, {_mb(freed)} MB")
    if shelf.lock_file(name).is_file():
        say(f"Another fetch must give the same files; what they were is in {shelf.lock_file(name)}")


@app.command()
def path(name: _Name, as_json: Json = False) -> None:
    """Print the folder of a model: where it is, or where its files belong."""
    from consolidate.backends.files import bundled_folder, bundled_names
    from consolidate.shelf import Shelf

    shelf = Shelf()
    name = name.removeprefix("onnx:").removeprefix("gliner:")
    if name in bundled_names():
        folder, there = bundled_folder(name), True
    else:
        shelf.entry(name)
        folder, there = shelf.place(name), name in shelf.names()
    if as_json:
        write_json({"name": name, "folder": str(folder), "there": there})
    else:
        sys.stdout.write(f"{folder}\n")


@app.command()
def use(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A bundled or fetched model, a folder, or backend:model."
        ),
    ],
    role: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="ROLE",
            help="embedder, extractor or classifier, if it is not known.",
            show_default=False,
        ),
    ] = None,
    look: Annotated[
        bool, typer.Option("--look", help="Only say what would have to be computed anew.")
    ] = False,
    assign: Assign = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Change to another model, and compute anew what hangs on it.

    The old one stays in use until the new one is complete; an interrupted change goes on with the
    next call. The settings file is left to you: the line for it is printed.
    """
    from consolidate import backends

    ctx = context(db, agent, as_json, assign=assign)
    spec = _spec(name)
    role = role or _role_of(name)
    if role not in _ROLES:
        raise typer.BadParameter(f"{role!r} is not one of {', '.join(_ROLES)}", param_hint="--as")
    options = backends.Options.of(ctx.settings)
    model = getattr(backends, f"resolve_{role}")(spec, options=options)
    seen, done = _change(ctx, role, model, look=look)
    line = f'{role} = "{spec}"'
    configured = getattr(ctx.settings, role) == spec
    if as_json:
        write_json(
            {
                "role": role,
                "spec": spec,
                "identity": model.identity,
                "outlook": seen,
                "switched": done,
                "line": line,
                "configured": configured,
            }
        )
        return
    if done is not None:
        _say_switched(done)
    if not look and not configured:
        say("For consolidate.toml, or runs will not use it:")
        say(f"  {line}")


def _change(
    ctx: Context, role: str, model: Any, *, look: bool
) -> tuple[Outlook | None, Switched | None]:
    """Look, say what is seen, and for an embedder do it."""
    from consolidate.switching import outlook, switch_embedder

    if not ctx.path.exists():
        if not ctx.as_json:
            say(f"There is no store at {ctx.path} yet; nothing has to be computed anew.")
        return None, None
    with ctx.store() as store:
        seen = outlook(store, role, model.identity)
        if not ctx.as_json:
            _say_outlook(role, seen)
        if look or role != "embedder":
            return seen, None
        with watched(ctx.as_json) as progress:
            done = switch_embedder(
                store,
                model,
                now=utc_now,
                lease_seconds=ctx.settings.lease_seconds,
                progress=progress,
            )
    return seen, done


def _say_outlook(role: str, seen: Outlook) -> None:
    before = f", now {', '.join(seen.before)}" if seen.before else ""
    say(f"{role}: {seen.identity}{before}")
    if role == "embedder":
        done = f"; {seen.kept} are done" if seen.kept and seen.to_do else ""
        say(f"Vectors to compute anew: {seen.to_do}{done}")
        return
    what = "Verdicts" if role == "classifier" else "Texts to read"
    say(f"{what} to compute anew, by the next runs: about {seen.later}; {seen.kept} are kept")
    if seen.before:
        say("What other models said is kept apart, and used again if you go back.")
    if role == "classifier":
        say("How sure is sure enough differs from model to model; look at the first plan.")


def _say_switched(done: Switched) -> None:
    if done.already:
        say("It is in use already; nothing to do.")
        return
    dropped = f"; {done.dropped} of {done.before} were dropped" if done.before else ""
    say(f"Done: {done.embedded} vectors computed{dropped}.")


def _say_noted(shelf: Shelf, name: str, noted: tuple[str, ...]) -> None:
    if noted:
        say(
            f"Nobody had noted what these are: {', '.join(noted)}. Their digests are now in "
            f"{shelf.lock_file(name)}, and later fetches must match them."
        )


def _spec(name: str) -> str:
    from consolidate.backends import backend_names

    known = {each for role in _ROLES for each in backend_names(role)}  # type: ignore[arg-type]  # the roles
    head = name.partition(":")[0]
    if head in known:
        return name
    return f"gliner:{name}" if _task_of(name) == "gliner" else f"onnx:{name}"


def _role_of(name: str) -> str:
    """What a model is for, as the setting that names it."""
    from consolidate.backends import built_in_names
    from consolidate.manifest import ROLES

    task = _task_of(name)
    if task in ROLES:
        return ROLES[task]
    head = name.partition(":")[0]
    offered = [role for role in _ROLES if head in built_in_names(role)]  # type: ignore[arg-type]  # the roles
    if len(offered) == 1:
        return offered[0]
    raise InputError(f"it is not known what {name!r} is for; say it with --as embedder, or another")


def _task_of(name: str) -> str:
    """What a model does, by the list of models or by the manifest in its folder."""
    from consolidate.backends.files import MANIFEST, bundled_folder, bundled_names, read_json
    from consolidate.backends.recipe import split_size
    from consolidate.manifest import entries
    from consolidate.shelf import Shelf

    plain, _ = split_size(name.removeprefix("onnx:").removeprefix("gliner:").partition("?")[0])
    listed = entries(Shelf().folder).get(plain)
    if listed is not None:
        return listed.task
    folder = bundled_folder(plain) if plain in bundled_names() else Path(plain).expanduser()
    manifest = read_json(folder / MANIFEST) if (folder / MANIFEST).is_file() else {}
    return str(manifest.get("task"))


def _verified(shelf: Shelf, name: str) -> dict[str, Any]:
    from consolidate.backends.files import bundled_names

    try:
        done = _verify_bundled(name) if name in bundled_names() else shelf.verify(name)
    except ConsolidateError as error:
        return {"name": name, "problem": str(error), "folder": None, "bytes": 0, "noted": ()}
    return {**_facts(done), "folder": str(done.folder), "problem": None}


def _verify_bundled(name: str) -> Checked:
    from consolidate.backends.files import MANIFEST, ModelFiles, bundled_folder, read_json
    from consolidate.shelf import Checked

    folder = bundled_folder(name)
    files = ModelFiles.open(folder, task=read_json(folder / MANIFEST)["task"])
    return Checked(name=name, folder=folder, bytes=files.size)


def _facts(record: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        key: str(value) if isinstance(value, Path) else value
        for key, value in asdict(record).items()
    }


def _used(role: str, spec: str, chosen: Any) -> dict[str, str | None]:
    from consolidate import backends

    try:
        options = backends.Options.of(chosen)
        model = getattr(backends, f"resolve_{role}")(spec, options=options)
    except ConsolidateError as error:
        return {"role": role, "spec": spec, "identity": None, "problem": str(error)}
    return {"role": role, "spec": spec, "identity": model.identity, "problem": None}


def _bundled(name: str) -> dict[str, Any]:
    from consolidate.backends.files import MANIFEST, bundled_folder, read_json
    from consolidate.manifest import entries

    folder = bundled_folder(name)
    manifest = read_json(folder / MANIFEST)
    files = manifest.get("files", {})
    listed = entries().get(name)
    return {
        "name": name,
        "model": manifest.get("name"),
        "task": manifest.get("task"),
        "licence": manifest.get("licence") or (listed.licence if listed else None),
        "folder": str(folder),
        "bytes": sum(entry["size"] for entry in files.values()),
        "sha256": {file: entry["sha256"] for file, entry in files.items()},
    }


def _mb(size: int | None) -> str:
    return "?" if size is None else f"{size / 1e6:.1f}"
