"""What DeBERTa judges of real size cost: `python -m eval.bench_deberta`.

Made here with random weights, in the sizes of deberta-v3-small and -base, exported, and quantised
by the tools in `models`. Tokens are random ids. So this is cost and never accuracy: seconds a pair,
both directions, as `consolidate`'s own adapter runs them, and megabytes. Needs the workshop
environment (`make models-env`) and 3 GB of memory.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from consolidate.backends.files import MODEL, ModelFiles
from consolidate.backends.onnx import Item, OnnxModel, Output
from consolidate.settings import Settings
from eval.record import RESULTS, heading, write_result
from eval.tables import table

__all__ = ["main"]

# Layers, width, heads, inner width: the configs of microsoft/deberta-v3-small and -base.
_SIZES: Final = {"small": (6, 768, 12, 3072), "base": (12, 768, 12, 3072)}
_VOCABULARY: Final = 128_100
_TOKENS: Final = 30  # of a pair of short notes
_SCHEMES: Final = ("float32", "weights", "dynamic")


def main(arguments: Sequence[str] | None = None) -> int:
    """Make, measure, print, write `deberta_cost.json`."""
    parser = argparse.ArgumentParser(prog="python -m eval.bench_deberta")
    parser.add_argument("--sizes", nargs="+", choices=sorted(_SIZES), default=["small", "base"])
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2, help="the best counts")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FOLDER")
    chosen = parser.parse_args(arguments)
    try:
        import torch  # noqa: F401 - only to say early what is missing
        import transformers  # noqa: F401
    except ImportError as error:
        print(f"error: this needs the workshop ({error}): make models-env", file=sys.stderr)
        return 1
    result = heading("deberta_cost", settings=Settings(threads=chosen.threads), models={}, data={})
    result["load_before"] = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    result["pairs"], result["tokens"] = chosen.pairs, _TOKENS
    result["models"] = [
        row
        for size in chosen.sizes
        for row in _measured(size, pairs=chosen.pairs, rounds=chosen.rounds, threads=chosen.threads)
    ]
    path = write_result(chosen.out, "deberta_cost.json", result)
    rows = [
        (row["size"], row["scheme"], f"{row['megabytes']:.0f}", f"{row['pairs_per_second']:.1f}",
         f"{row['milliseconds_a_pair']:.0f}", f"{row['load_seconds']:.1f}")
        for row in result["models"]
    ]  # fmt: skip
    print("\n".join(table(("size", "scheme", "MB", "pairs/s", "ms/pair", "load s"), rows)))
    print(f"written to {path}")
    return 0


def _measured(size: str, *, pairs: int, rounds: int, threads: int) -> list[dict[str, Any]]:
    from models.export import export
    from models.quantize import quantize

    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        _make(place / "torch", size)
        for scheme in _SCHEMES:
            folder = place / scheme
            if scheme == "float32":
                export(place / "torch", folder, task="text-classification", name=f"random-{size}")
            else:
                quantize(place / "float32", folder, scheme=scheme)
            rows.append({"size": size, "scheme": scheme, **_cost(folder, pairs, rounds, threads)})
    return rows


def _make(folder: Path, size: str) -> None:
    import torch
    from tokenizers import Tokenizer, models, processors
    from transformers import (
        DebertaV2Config,
        DebertaV2ForSequenceClassification,
        PreTrainedTokenizerFast,
    )

    layers, width, heads, inner = _SIZES[size]
    torch.manual_seed(1)
    torch.set_num_threads(1)
    labels = {0: "contradiction", 1: "entailment", 2: "neutral"}
    config = DebertaV2Config(
        vocab_size=_VOCABULARY,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
        max_position_embeddings=512,
        position_buckets=256,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        position_biased_input=False,
        type_vocab_size=0,
        id2label=labels,
        label2id={name: column for column, name in labels.items()},
    )
    DebertaV2ForSequenceClassification(config).save_pretrained(folder)
    tokens = {name: index for index, name in enumerate(("[PAD]", "[CLS]", "[SEP]", "[UNK]"))}
    made = Tokenizer(models.WordLevel(tokens, unk_token="[UNK]"))  # noqa: S106 - no password
    made.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",  # noqa: S106
        unk_token="[UNK]",  # noqa: S106
    ).save_pretrained(folder)  # fmt: skip


def _cost(folder: Path, pairs: int, rounds: int, threads: int) -> dict[str, Any]:
    files = ModelFiles.open(folder, task="text-classification")

    def logits(outputs: Sequence[Output]) -> Output:
        return outputs[0]

    began = time.perf_counter()
    model = OnnxModel(files, rows=2, threads=threads, choose=logits)
    shares = model.shares_runs
    load = time.perf_counter() - began
    generator = np.random.default_rng(2)
    items = [
        Item(ids=ids, types=np.zeros_like(ids))
        for ids in generator.integers(4, _VOCABULARY, (pairs, 2, _TOKENS), dtype=np.int64)
    ]
    seconds = []
    for _ in range(rounds):
        began = time.perf_counter()
        for answer in model.run(items):
            if isinstance(answer, Exception):
                raise answer
        seconds.append(time.perf_counter() - began)
    best = min(seconds)
    return {
        "megabytes": (folder / MODEL).stat().st_size / 1e6,
        "shares_runs": shares,
        "pairs_per_second": pairs / best,
        "milliseconds_a_pair": 1000 * best / pairs,
        "load_seconds": load,
    }


if __name__ == "__main__":
    sys.exit(main())
