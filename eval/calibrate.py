"""Calibrates a judge on the dev labels: `python -m eval.calibrate`.

Two sources, and the bound must hold on each: the labelled pairs, which are meant to tempt, and
the pairs that a run would ask about within the labelled memories, which are what it meets. The
calibration goes beside the model's files, an account of it into the results. With `--split test`
nothing is written but the account: what the calibration in force does to pairs it was not made
of. Run it once more whenever the model's files, the extractor or the judge's layers change.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from consolidate.backends import Backends
from consolidate.calibration.band import choose, review_from
from consolidate.calibration.bound import LEVEL, upper_bound
from consolidate.calibration.curve import GRID, Scored
from consolidate.calibration.labels import judged, read_labels, scored
from consolidate.calibration.measure import (
    ece,
    fit_reliability,
    likelihoods,
    made_of,
    rightness,
)
from consolidate.calibration.record import ACTS, Calibration
from consolidate.calibration.shelf import FILE_NAME, find, keep
from consolidate.errors import ConsolidateError
from consolidate.settings import PROFILES, Settings
from consolidate.stages.classify import classify
from consolidate.stages.collapse import collapse
from consolidate.stages.embed import embed
from consolidate.stages.entities import entities
from consolidate.stages.group import Names, group
from consolidate.stages.judging import Bench
from consolidate.stages.pairs import find_pairs
from consolidate.stages.work import Tally, silent
from eval.judged import PAIRS
from eval.memories import AGENT, Memory, read_memories
from eval.record import RESULTS, files_digest, heading, read_jsonl, write_result
from eval.streams import STREAMS, stream_files
from eval.ways import filled
from models.train.mine import relation_in

__all__ = ["account", "from_pairs", "from_streams", "main"]

FOLDS: Final = 10
_RELATIONS: Final = {"x_entails_y": "a_entails_b", "y_entails_x": "b_entails_a"}
Sources = Mapping[str, Sequence[tuple[str, Scored]]]
"""Name of a source to its pairs, each with the name of what must not be torn apart: a pair by
itself, or the memory it is of."""


def from_pairs(paths: Sequence[Path], backends: Backends) -> list[tuple[str, Scored]]:
    """The labelled pairs, each a memory of two facts."""
    found = []
    for path in sorted(paths):
        labels, broken = read_labels(path.read_bytes())
        if broken:
            raise ValueError(f"{path.name}, line {broken[0][0]}: {broken[0][1]}")
        items, _ = judged(labels, backends)
        found += [(f"{path.name}:{number}", item) for number, item in enumerate(items)]
    return found


def from_streams(
    paths: Sequence[Path], backends: Backends, settings: Settings
) -> list[tuple[str, Scored]]:
    """The pairs that a first run would ask about, labelled by the key of each memory."""
    found = []
    memories = {memory.id: memory for memory in read_memories(paths)}
    for path in sorted(paths):
        for row in read_jsonl(path):
            items = _of_memory(row, memories[row["id"]], backends, settings)
            found += [(row["id"], item) for item in items]
    return found


def _of_memory(
    row: Mapping[str, Any], memory: Memory, backends: Backends, settings: Settings
) -> list[Scored]:
    entries = {entry["id"]: entry for entry in row["facts"]}
    with filled(memory) as store:
        facts = {fact.id: fact for fact in store.facts(agent=AGENT)}
        uniques = collapse(tuple(facts.values()))
        texts = [facts[unique.representative] for unique in uniques]
        vectors = embed(store, backends.embedder, texts, tally=Tally("embed"), progress=silent)
        mentions = entities(
            store, backends.extractor, texts, tally=Tally("entities"), progress=silent
        )
        same = Names.of((), texts)
        groups = group(texts, mentions, same, hub_size=settings.hub_size)
        near = find_pairs(
            texts,
            vectors,
            groups,
            live={text.id: True for text in texts},
            neighbours=settings.neighbours,
            floor=settings.similarity_floor,
            per_fact=settings.pairs_per_fact,
        )
        bench = Bench(texts, mentions, groups, same, settings.slots)
        asked = bench.worth_asking(near, known={}, tally=Tally("pairs"))
        verdicts = classify(
            store, backends.classifier, asked, facts,
            budget=0, tally=Tally("classify"), progress=silent,
        )  # fmt: skip
    found = []
    for (left, right), made in bench.assess(asked, verdicts).items():
        x, y = entries[left], entries[right]
        relation = relation_in(row, x, y)
        if not relation or verdicts[left, right].failure is not None:
            continue
        found.append(
            scored(
                facts[left],
                facts[right],
                _RELATIONS.get(relation, relation),
                _winner(memory, left, right),
                verdicts[left, right],
                made,
            )
        )
    return found


def _winner(memory: Memory, left: str, right: str) -> str | None:
    """Which of two facts holds, where the key says so."""
    if right in memory.key.successors(left):
        return "b"
    return "a" if left in memory.key.successors(right) else None


# -- the account -------------------------------------------------------------------------------


def account(made: Calibration, sources: Sources) -> dict[str, Any]:
    """What a calibration does to labelled pairs: the band at each profile, and reliability."""
    found: dict[str, Any] = {"profiles": {}}
    for name, rate in PROFILES.items():
        chosen = {act: choose(made, act, rate) for act in ACTS}
        entry: dict[str, Any] = {"rate": rate, "review": review_from(made, chosen)}
        for act in ACTS:
            band = chosen[act]
            entry[act] = {
                "threshold": band.threshold,
                "bound": band.bound,
                "holds": band.holds,
                "languages": sorted(band.languages),
            } | {
                source: _counts([item for _, item in items], act, band.threshold, band.languages)
                for source, items in sources.items()
            }
        found["profiles"][name] = entry
    return found


def _counts(
    items: Sequence[Scored], act: str, threshold: float, languages: frozenset[str]
) -> dict[str, Any]:
    """What is done wrongly and rightly, languages that abstain left out of what is done."""
    forbidden = [item for item in items if item.forbids(act)]  # type: ignore[arg-type]
    wanted = [item for item in items if item.wants(act) and not item.forbids(act)]  # type: ignore[arg-type]

    def done(item: Scored) -> bool:
        return item.act == act and item.confidence >= threshold and item.language in languages

    wrong = sum(done(item) and not item.right for item in forbidden)
    right = sum(done(item) for item in wanted)
    return {
        "wrong": wrong,
        "forbidden": len(forbidden),
        "wrong_bound": upper_bound(wrong, len(forbidden)),
        "right": right,
        "wanted": len(wanted),
        "caught": right / len(wanted) if wanted else None,
    }


def reliability(sources: Sources, made: Calibration | None = None) -> dict[str, Any]:
    """How far confidences can be believed, before and after scaling.

    With a calibration its shares are used as they are. Without one they are fitted anew for each
    of ten folds on the nine others; a memory is never torn apart.
    """
    found = {}
    every = [pair for items in sources.values() for pair in items]
    if made is None:
        names = sorted({name for name, _ in every})
        np.random.default_rng(5).shuffle(names)
        fold = {name: number % FOLDS for number, name in enumerate(names)}
        fitted = [
            fit_reliability([item for name, item in every if fold[name] != number])
            for number in range(FOLDS)
        ]
    for source, pairs in {**sources, "together": every}.items():
        items = [item for _, item in pairs]
        right = np.array([rightness(item) for item in items])
        before = np.array([item.sure for item in items])
        if made is not None:
            after = likelihoods(items, made.reliability)
        else:
            after = np.array([likelihoods([i], fitted[fold[name]])[0] for name, i in pairs])
        raw, raw_bins = ece(before, right)
        error, bins = ece(after, right)
        found[source] = {
            "pairs": len(items),
            "right": float(right.mean()),
            "ece_unscaled": raw,
            "ece": error,
            "bins_unscaled": raw_bins,
            "bins": bins,
        }
    return found


def _by_language(sources: Sources) -> dict[str, Any]:
    every = [item for items in sources.values() for _, item in items]
    return {
        language: {
            "pairs": len(own),
            "right": float(np.mean([rightness(item) for item in own])),
        }
        for language in sorted({item.language for item in every})
        if (own := [item for item in every if item.language == language])
    }


def lines_of(result: Mapping[str, Any]) -> list[str]:
    """The account as plain text."""
    text = [f"{result['suite']}: {result['models']['classifier']}"]
    for name, entry in result["account"]["profiles"].items():
        for act in ACTS:
            band = entry[act]
            parts = [
                f"{source} {band[source]['wrong']} of {band[source]['forbidden']} wrong "
                f"(at most {band[source]['wrong_bound']:.2%}), "
                f"{band[source]['right']} of {band[source]['wanted']} done"
                for source in result["pairs"]
            ]
            holds = "" if band["holds"] else f" (labels support {band['bound']:.2%})"
            text.append(
                f"  {name} {entry['rate']:g}{holds}: {act} from {band['threshold']:.3f}; "
                + "; ".join(parts)
            )
        text.append(f"  {name}: asks from {entry['review']:.3f}")
    balanced = result["account"]["profiles"]["balanced"]
    for act in ACTS:
        asks = sorted(set(result["by_language"]) - set(balanced[act]["languages"]))
        text.append(
            f"  languages it may {act} in: {', '.join(balanced[act]['languages']) or 'none'}; "
            f"asks in: {', '.join(asks) or 'none'}"
        )
    for source, entry in result["reliability"].items():
        text.append(
            f"  ECE on {source}: {entry['ece']:.3f} (before scaling {entry['ece_unscaled']:.3f})"
        )
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Calibrate, or give an account of the calibration in force."""
    parser = argparse.ArgumentParser(
        prog="python -m eval.calibrate", description="Calibrate a judge on the dev labels."
    )
    defaults = Settings()
    parser.add_argument("--classifier", default=defaults.classifier, metavar="BACKEND:MODEL")
    parser.add_argument("--embedder", default=defaults.embedder, metavar="BACKEND:MODEL")
    parser.add_argument("--extractor", default=defaults.extractor, metavar="BACKEND:MODEL")
    parser.add_argument(
        "--split", choices=("dev", "test"), default="dev",
        help="test only reports what the calibration in force does; nothing is chosen by it",
    )  # fmt: skip
    parser.add_argument("--pairs", type=Path, default=PAIRS, metavar="FOLDER")
    parser.add_argument("--streams", type=Path, default=STREAMS, metavar="FOLDER")
    parser.add_argument(
        "--out", type=Path, metavar="FILE",
        help="where the calibration goes; else beside the model's files",
    )  # fmt: skip
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    chosen = parser.parse_args(arguments)
    try:
        result = _run(chosen)
    except (ConsolidateError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    path = write_result(chosen.results, f"calibration_{chosen.split}.json", result)
    print("\n".join([*lines_of(result), f"{result['seconds']['all']:.0f} s; written to {path}"]))
    return 0


def _run(chosen: argparse.Namespace) -> dict[str, Any]:
    began = time.perf_counter()
    settings = Settings(
        classifier=chosen.classifier, embedder=chosen.embedder, extractor=chosen.extractor
    )
    backends = Backends.load(settings)
    folder: Path | None = getattr(backends.classifier, "folder", None)
    pairs = sorted((chosen.pairs / chosen.split).glob("*.jsonl"))
    streams = stream_files(chosen.split, chosen.streams)
    if not pairs:
        raise FileNotFoundError(f"no labelled pairs in {str(chosen.pairs / chosen.split)!r}")
    sources: dict[str, Sequence[tuple[str, Scored]]] = {"pairs": from_pairs(pairs, backends)}
    if streams:
        sources["streams"] = from_streams(streams, backends, settings)
    data = {
        **{f"pairs/{path.name}": files_digest([path]) for path in pairs},
        **{f"streams/{path.name}": files_digest([path]) for path in streams},
    }
    if chosen.split == "dev":
        made = made_of(
            {name: [item for _, item in items] for name, items in sources.items()},
            model=backends.classifier.identity,
            extractor=backends.extractor.identity,
            made=datetime.now(UTC).date().isoformat(),
            data=data,
        )
        target = chosen.out or (folder / FILE_NAME if folder else None)
        if target is None:
            raise ValueError(f"{chosen.classifier!r} has no folder; name a file with --out")
        keep(made, target)
        trust = reliability(sources)
    else:
        found = find(backends.classifier.identity, folder, environ={"HOME": "/nonexistent"})
        if found.calibration is None:
            raise ValueError(f"no calibration holds for {backends.classifier.identity}")
        made = found.calibration
        trust = reliability(sources, made)
    result = heading(
        f"calibration {chosen.split}", settings=settings, models=backends.identities, data=data
    )
    return result | {
        "level": LEVEL,
        "grid": [GRID[0], GRID[-1], len(GRID)],
        "pairs": {name: len(items) for name, items in sources.items()},
        "account": account(made, sources),
        "by_language": _by_language(sources),
        "reliability": trust,
        "seconds": {"all": time.perf_counter() - began},
    }


if __name__ == "__main__":
    sys.exit(main())
