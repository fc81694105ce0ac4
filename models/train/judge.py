"""Fine-tunes the bundled judge: MiniLM as a cross-encoder for entailment, both directions.

    python -m models.train.judge --base MODEL_DIR --public DIR --out DIR            # both stages
    python -m models.train.judge --base STAGE1_DIR --stage 2 --out DIR              # second only

Stage 1 reads the public pairs once or twice, so that the encoder learns what entailment is.
Stage 2 reads this project's memory pairs, which define what counts as an update here, and the
pairs that a run would ask about in the labelled streams, most of which are look-alikes. Word
embeddings stay frozen: nine tenths of the parameters, and the rare words of names and code keep
their meaning. Needs the workshop environment (torch); about an hour on two cores.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from transformers import AutoTokenizer, BertForSequenceClassification, PreTrainedTokenizerBase

from eval.metrics import catch_at_false_rate, macro_f1, three_way
from models.train.data import ID2LABEL, Example, memory_examples, public_examples, read_jsonl
from models.train.mine import mined_examples

log = logging.getLogger("train.judge")

MAX_TOKENS = 192
SETS = Path(__file__).parents[2] / "eval" / "sets" / "memory_pairs"
STREAMS = Path(__file__).parents[2] / "eval" / "sets" / "streams" / "train"


def batches(
    chosen: Sequence[int], lengths: Sequence[int], size: int, rng: random.Random
) -> list[list[int]]:
    """Shuffled batches of similar length: shuffle, sort within windows, cut, shuffle again."""
    order = list(chosen)
    rng.shuffle(order)
    window = size * 50
    cut: list[list[int]] = []
    for start in range(0, len(order), window):
        part = sorted(order[start : start + window], key=lambda i: lengths[i])
        cut += [part[k : k + size] for k in range(0, len(part), size)]
    rng.shuffle(cut)
    return cut


def train(
    model: BertForSequenceClassification,
    tokenizer: PreTrainedTokenizerBase,
    examples: Sequence[Example],
    *,
    epochs: int,
    rate: float,
    batch: int,
    seed: int,
    smoothing: float,
    bf16: bool = False,
) -> None:
    """Run AdamW with linear warm-up (6 %) and decay over `examples`.

    With `bf16` matrix products are in bfloat16: twice as fast where the processor has AVX512-BF16,
    twenty times slower where it has not.
    """
    rng = random.Random(seed)  # noqa: S311 - for shuffling
    torch.manual_seed(seed)
    encoded = tokenizer(
        [e.premise for e in examples],
        [e.hypothesis for e in examples],
        truncation=True,
        max_length=MAX_TOKENS,
    )
    lengths = [len(ids) for ids in encoded["input_ids"]]
    labels = torch.tensor([e.label for e in examples])
    decay = [p for n, p in model.named_parameters() if p.requires_grad and p.ndim > 1]
    plain = [p for n, p in model.named_parameters() if p.requires_grad and p.ndim <= 1]
    optimiser = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}], lr=rate
    )
    turns = [
        [i for i, e in enumerate(examples) if e.turn in (None, epoch % 2)]
        for epoch in range(epochs)
    ]
    steps = sum(math.ceil(len(chosen) / batch) for chosen in turns)
    warm = max(1, int(0.06 * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda s: min(1.0, (s + 1) / warm) * max(0.0, (steps - s) / (steps - warm + 1))
    )
    loss_of = torch.nn.CrossEntropyLoss(label_smoothing=smoothing)
    model.train()
    step, running, began = 0, 0.0, time.monotonic()
    for epoch, chosen in enumerate(turns):
        for part in batches(chosen, lengths, batch, rng):
            inputs = tokenizer.pad(
                {key: [encoded[key][i] for i in part] for key in encoded}, return_tensors="pt"
            )
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
                logits = model(**inputs).logits
            loss = loss_of(logits.float(), labels[part])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad(set_to_none=True)
            running += loss.item()
            step += 1
            if step % 100 == 0:
                rate_now = step * batch / (time.monotonic() - began)
                log.info(
                    "epoch %d step %d/%d loss %.3f  %.0f ex/s",
                    epoch,
                    step,
                    steps,
                    running / 100,
                    rate_now,
                )
                running = 0.0


@torch.no_grad()
def probabilities(
    model: BertForSequenceClassification,
    tokenizer: PreTrainedTokenizerBase,
    pairs: Sequence[tuple[str, str]],
) -> np.ndarray:
    """Class probabilities, shape (len(pairs), 3): entailment, neutral, contradiction."""
    model.eval()
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]) + len(pairs[i][1]))
    out = np.zeros((len(pairs), 3))
    for start in range(0, len(order), 64):
        part = order[start : start + 64]
        inputs = tokenizer(
            [pairs[i][0] for i in part],
            [pairs[i][1] for i in part],
            truncation=True,
            max_length=MAX_TOKENS,
            padding=True,
            return_tensors="pt",
        )
        out[part] = torch.softmax(model(**inputs).logits, -1).numpy()
    return out


def score(
    model: BertForSequenceClassification, tokenizer: PreTrainedTokenizerBase, folder: Path
) -> dict[str, float]:
    """Three-way macro-F1 by arg-max, and contradictions caught at 1 % false ones, on a split."""
    rows = [row for path in sorted(folder.glob("*.jsonl")) for row in read_jsonl(path)]
    if not rows:
        return {}
    forward = probabilities(model, tokenizer, [(r["a"], r["b"]) for r in rows])
    backward = probabilities(model, tokenizer, [(r["b"], r["a"]) for r in rows])
    contradiction = (forward[:, 2] + backward[:, 2]) / 2
    duplicate = np.minimum(forward[:, 0], backward[:, 0])
    distinct = 1 - np.maximum(contradiction, duplicate)
    names = ("contradiction", "duplicate", "distinct")
    stacked = np.stack([contradiction, duplicate, distinct], 1)
    predicted = [names[i] for i in stacked.argmax(1)]
    gold = [three_way(r["relation"]) for r in rows]
    mean, each = macro_f1(gold, predicted)
    caught, threshold = catch_at_false_rate(
        contradiction, np.array([g == "contradiction" for g in gold]), 0.01
    )
    return {
        "pairs": len(rows),
        "macro_f1": mean,
        **{f"f1_{k}": v for k, v in each.items()},
        "caught_at_1pct": caught,
        "threshold_at_1pct": threshold,
    }


def set_temperature(
    model: BertForSequenceClassification, tokenizer: PreTrainedTokenizerBase, folder: Path
) -> float:
    """Scale the last layer so that probabilities fit the dev split; returns the temperature.

    One number, fitted by grid search on the log likelihood (Guo et al. 2017, "On calibration of
    modern neural networks"). Which class wins never changes.
    """
    rows = [row for path in sorted(folder.glob("*.jsonl")) for row in read_jsonl(path)]
    examples = memory_examples(rows)
    found = probabilities(model, tokenizer, [(e.premise, e.hypothesis) for e in examples])
    logits = np.log(found + 1e-12)
    gold = np.array([e.label for e in examples])

    def loss(temperature: float) -> float:
        scaled = logits / temperature
        scaled -= scaled.max(axis=1, keepdims=True)
        normal = scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
        return float(-normal[np.arange(len(gold)), gold].mean())

    best = min(np.arange(0.3, 3.0, 0.02), key=loss)
    with torch.no_grad():
        model.classifier.weight.div_(best)
        model.classifier.bias.div_(best)
    return float(best)


def main() -> None:
    """Parse arguments, train, save, print dev scores."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", type=Path, required=True, help="folder of the encoder")
    parser.add_argument("--public", type=Path, help="folder of the public pairs (stage 1)")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--stage", choices=("1", "2", "both"), default="both")
    parser.add_argument("--epochs", type=int, nargs=2, default=(2, 4), metavar=("PUBLIC", "MEMORY"))
    parser.add_argument("--rate", type=float, nargs=2, default=(8e-5, 6e-5))
    parser.add_argument(
        "--share", type=float, default=1.0, help="of the memory pairs that stage 2 reads, 0 to 1"
    )
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bf16", action="store_true", help="where the processor has AVX512-BF16")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    torch.set_num_threads(args.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(args.seed)
    tokenizer = AutoTokenizer.from_pretrained(args.base)
    model = BertForSequenceClassification.from_pretrained(
        args.base, num_labels=3, id2label=ID2LABEL, label2id={v: k for k, v in ID2LABEL.items()}
    )
    model.bert.embeddings.word_embeddings.weight.requires_grad_(False)

    if args.stage in ("1", "both"):
        if args.public is None:
            parser.error("--public is needed for stage 1: the folder that holds the public pairs")
        examples = public_examples(args.public, split="train", seed=args.seed)
        log.info("stage 1: %d examples", len(examples))
        train(
            model,
            tokenizer,
            examples,
            epochs=args.epochs[0],
            rate=args.rate[0],
            batch=args.batch,
            seed=args.seed,
            smoothing=0.05,
            bf16=args.bf16,
        )
        model.save_pretrained(args.out / "stage1")
        tokenizer.save_pretrained(args.out / "stage1")
        log.info("stage 1 dev %s", json.dumps(score(model, tokenizer, SETS / "dev")))
    if args.stage in ("2", "both"):
        rows = [r for path in sorted((SETS / "train").glob("*.jsonl")) for r in read_jsonl(path)]
        random.Random(args.seed).shuffle(rows)  # noqa: S311 - for choosing
        rows = rows[: round(args.share * len(rows))]
        examples = memory_examples(rows)
        log.info("stage 2: %d examples of %d pairs", len(examples), len(rows))
        mined = mined_examples(sorted(STREAMS.glob("*.jsonl")))
        log.info("and %d examples mined from streams", len(mined))
        examples += mined
        train(
            model,
            tokenizer,
            examples,
            epochs=args.epochs[1],
            rate=args.rate[1],
            batch=args.batch,
            seed=args.seed + 1,
            smoothing=0.05,
            bf16=args.bf16,
        )
        log.info("temperature %.2f", set_temperature(model, tokenizer, SETS / "dev"))
        model.save_pretrained(args.out / "stage2")
        tokenizer.save_pretrained(args.out / "stage2")
        log.info("stage 2 dev %s", json.dumps(score(model, tokenizer, SETS / "dev")))


if __name__ == "__main__":
    main()
