"""Trains the bundled GLiNER: MiniLM as encoder, words scored against labels given as words.

    python -m models.train.gliner --base MODEL_DIR --public DIR --out DIR            # both stages
    python -m models.train.gliner --base MODEL_DIR --from STAGE1_DIR --public DIR --out DIR

Stage 1 reads public sentences, so that encoder and head learn what a name is. Stage 2 reads this
project's notes, with a share of public sentences so that free labels keep working. MiniLM does not
tell capitals from small letters; its tokenizer is changed to put a mark before words that begin
with a capital (and another before those that begin with two), so that it can. Word embeddings
stay frozen but for the marks and GLiNER's own tokens. Needs the workshop environment (torch,
gliner); about an hour on one core.

The head is token-level: with as few notes as here, the span-level one learned half as well in the
same steps, and died at higher rates.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import shutil
import string
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import torch
from gliner.config import UniEncoderTokenConfig
from gliner.data_processing.collator import UniEncoderTokenDataCollator
from gliner.model import UniEncoderTokenGLiNER
from tokenizers import Regex, Tokenizer, normalizers

from eval.entities import Score, score_spans
from models.train.ner_data import (
    LABELS,
    Example,
    Names,
    lower_cased,
    made_examples,
    memory_examples,
    public_examples,
    renamed,
)

log = logging.getLogger("train.gliner")

SETS: Final = Path(__file__).parents[2] / "eval" / "sets" / "memory_ner"
MARKS: Final = ("§", "¶")  # in the vocabulary of MiniLM, and rare; two capitals, one capital
_LOG_ODDS: Final = 3.0


def marked_tokenizer(source: Path) -> Tokenizer:
    """MiniLM's tokenizer, with a mark before words that begin with capital letters."""
    tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    steps: list[normalizers.Normalizer] = [
        normalizers.BertNormalizer(lowercase=False, strip_accents=True)
    ]
    two, one = MARKS
    for letter in string.ascii_uppercase:
        start = rf"(?<![\p{{L}}{two}]){letter}"
        steps.append(normalizers.Replace(Regex(start + r"(?=\p{Lu})"), two + letter))
        steps.append(normalizers.Replace(Regex(start), one + letter))
    tokenizer.normalizer = normalizers.Sequence([*steps, normalizers.Lowercase()])
    return tokenizer


def prepare_base(source: Path, out: Path) -> Path:
    """Copy the encoder to `out` with the changed tokenizer."""
    out.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "model.safetensors"):
        shutil.copyfile(source / name, out / name)
    marked_tokenizer(source).save(str(out / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": 512,
        **{f"{name}_token": f"[{name.upper()}]" for name in ("cls", "mask", "pad", "sep", "unk")},
    }
    (out / "tokenizer_config.json").write_text(json.dumps(settings, indent=2), encoding="utf-8")
    return out


def fresh_model(base: Path) -> UniEncoderTokenGLiNER:
    """A GLiNER whose encoder is `base` and whose head is random."""
    config = UniEncoderTokenConfig(
        model_name=str(base),
        max_len=256,
        hidden_size=384,
        dropout=0.1,
        embed_ent_token=False,  # a label is read where its first word stands
        subtoken_pooling="mean",
        num_rnn_layers=0,
        max_types=16,
        max_neg_type_ratio=1,
    )
    model = UniEncoderTokenGLiNER.load_from_config(config, local_files_only=True)
    table = model.model.token_rep_layer.bert_layer.model.embeddings.word_embeddings.weight
    tokenizer = model.data_processor.transformer_tokenizer
    with torch.no_grad():
        for new, like in (("<<ENT>>", "[MASK]"), ("<<SEP>>", "[SEP]")):
            ids = tokenizer.convert_tokens_to_ids([new, like])
            table[ids[0]] = table[ids[1]]
        _start_at_nothing(model)
    return model


def _start_at_nothing(model: UniEncoderTokenGLiNER) -> None:
    """Let the random head begin with few names: one word in ten starts one.

    Without this the first hundred steps only push everything down.
    """
    model.model.scorer.out_mlp[-1].bias.fill_(-_LOG_ODDS)


def batches(examples: Sequence[Example], tokens: int, rng: random.Random) -> list[list[Example]]:
    """Shuffled batches of similar length with about `tokens` words and labels each."""
    size = {id(e): len(e.words) + 2 * len(e.labels) for e in examples}
    order = list(examples)
    rng.shuffle(order)
    cut: list[list[Example]] = []
    for start in range(0, len(order), 400):
        part: list[Example] = []
        for example in sorted(order[start : start + 400], key=lambda e: size[id(e)]):
            if part and size[id(example)] * (len(part) + 1) > tokens:
                cut.append(part)
                part = []
            part.append(example)
        cut.append(part)
    rng.shuffle(cut)
    return cut


def train(
    model: UniEncoderTokenGLiNER,
    epochs: Sequence[Sequence[Example]],
    *,
    rates: tuple[float, float],
    tokens: int,
    rng: random.Random,
    after: Callable[[int], None],
) -> None:
    """Run AdamW with linear warm-up (6 %) and decay over the examples of each epoch."""
    collate = UniEncoderTokenDataCollator(
        model.config, data_processor=model.data_processor, prepare_labels=True
    )
    turns = [batches(examples, tokens, rng) for examples in epochs]
    steps = sum(len(turn) for turn in turns)
    encoder, head = rates
    groups: list[dict[str, Any]] = []
    for name, parameter in model.model.named_parameters():
        table = "word_embeddings" in name
        groups.append(
            {
                "params": [parameter],
                "lr": encoder if "token_rep_layer" in name else head,
                "weight_decay": 0.01 if parameter.ndim > 1 and not table else 0.0,
            }
        )
    hook = _freeze_words(model)
    optimiser = torch.optim.AdamW(groups, foreach=True)
    warm = max(1, int(0.06 * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda s: min(1.0, (s + 1) / warm) * max(0.0, (steps - s) / (steps - warm + 1))
    )
    step, running, seen, began = 0, 0.0, 0, time.monotonic()
    for epoch, turn in enumerate(turns):
        model.train()
        for part in turn:
            inputs = collate([_raw(example) for example in part])
            loss = model(**inputs).loss / len(part)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad(set_to_none=True)
            running += loss.item()
            seen += len(part)
            step += 1
            if step % 25 == 0:
                speed = seen / (time.monotonic() - began)
                log.info(
                    "epoch %d step %d/%d loss %.3f  %.1f ex/s",
                    epoch, step, steps, running / 25, speed,
                )  # fmt: skip
                running = 0.0
        after(epoch)
    hook.remove()


def _raw(example: Example) -> dict[str, Any]:
    return {
        "tokenized_text": list(example.words),
        "ner": list(example.spans),
        "ner_labels": list(example.labels),
    }


def _freeze_words(model: UniEncoderTokenGLiNER) -> Any:
    """Let gradients reach only the rows of the marks and of GLiNER's own tokens."""
    table = model.model.token_rep_layer.bert_layer.model.embeddings.word_embeddings.weight
    tokenizer = model.data_processor.transformer_tokenizer
    keep = torch.zeros(table.shape[0], 1)
    keep[tokenizer.convert_tokens_to_ids(["<<ENT>>", "<<SEP>>", *MARKS])] = 1.0
    return table.register_hook(lambda gradient: gradient * keep)


@torch.no_grad()
def predictions(
    model: UniEncoderTokenGLiNER, examples: Sequence[Example], threshold: float
) -> list[set[tuple[int, int, str]]]:
    """Flat spans above `threshold`, as word positions."""
    model.eval()
    collate = UniEncoderTokenDataCollator(
        model.config, data_processor=model.data_processor, prepare_labels=False,
        return_tokens=True, return_id_to_classes=True,
    )  # fmt: skip
    found: list[set[tuple[int, int, str]]] = []
    for start in range(0, len(examples), 32):
        inputs = collate([_raw(example) for example in examples[start : start + 32]])
        out = model(**{k: v for k, v in inputs.items() if k not in ("tokens", "id_to_classes")})
        decoded = model.decoder.decode(
            inputs["tokens"], inputs["id_to_classes"], out.logits,
            threshold=threshold, flat_ner=True,
        )  # fmt: skip
        found += [{(s.start, s.end, s.entity_type) for s in spans} for spans in decoded]
    return found


def dev_score(model: UniEncoderTokenGLiNER, examples: Sequence[Example]) -> tuple[Score, float]:
    """The best micro F1 over thresholds, and that threshold."""
    gold = [set(example.spans) for example in examples]
    scored = [
        (score_spans(gold, predictions(model, examples, threshold)), threshold)
        for threshold in (0.3, 0.4, 0.5, 0.6)
    ]
    return max(scored, key=lambda each: each[0].f1)


def stage_two(
    notes: Sequence[Example],
    public: Sequence[Example],
    names: Names,
    rng: random.Random,
    *,
    share: float,
    made: int,
) -> list[Example]:
    """The notes of one epoch, some with other names, labels or letters, and made and public ones.

    Args:
        notes: The project's own.
        public: Public sentences to draw from.
        names: To put in the place of others.
        rng: For what is drawn.
        share: Public sentences for each note.
        made: Notes made from frames.
    """
    out = []
    for note in notes:
        example = names.swapped(note, rng, 0.5) if rng.random() < 0.6 else note
        if rng.random() < 0.06:
            example = lower_cased(example)
        if rng.random() < 0.15:
            example = renamed(example, rng)
        out.append(example)
    out += [
        lower_cased(example) if rng.random() < 0.15 else example
        for example in made_examples(made, rng)
    ]
    return out + rng.sample(list(public), min(len(public), int(share * len(notes))))


def main() -> None:
    """Parse arguments, train, save, log dev scores."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", type=Path, required=True, help="folder of the encoder")
    parser.add_argument("--public", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--aliases", type=Path, help="file with given names, for other names")
    parser.add_argument("--from", dest="start", type=Path, help="stage 1's result: stage 2 only")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, nargs=2, default=(2, 14), metavar=("PUBLIC", "NOTES"))
    parser.add_argument("--rates", type=float, nargs=2, default=(1.5e-4, 6e-4))
    parser.add_argument("--second-rates", type=float, nargs=2, default=(8e-5, 3e-4))
    parser.add_argument("--tokens", type=int, default=700, help="words and labels in a batch")
    parser.add_argument("--made", type=int, default=500, help="made notes in an epoch of stage 2")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)  # noqa: S311 - for shuffling
    notes = memory_examples(sorted(SETS.glob("train*.jsonl")))
    dev = memory_examples([SETS / "dev.jsonl"])
    log.info("%d notes, %d for dev", len(notes), len(dev))
    best = 0.0

    def checked(model: UniEncoderTokenGLiNER, folder: Path, epoch: int, *, always: bool) -> None:
        nonlocal best
        score, threshold = dev_score(model, dev)
        log.info("epoch %d: dev F1 %.3f at %.1f (%s)", epoch, score.f1, threshold, score)
        if always or score.f1 >= best:
            best = score.f1
            model.save_pretrained(folder, safe_serialization=True)

    if args.start is None:
        model = fresh_model(prepare_base(args.base, args.out / "base"))
        epochs = [public_examples(args.public, rng) + list(notes) for _ in range(args.epochs[0])]
        log.info("stage 1: %d examples an epoch", len(epochs[0]))
        train(
            model, epochs, rates=tuple(args.rates), tokens=args.tokens, rng=rng,
            after=lambda epoch: checked(model, args.out / "stage1", epoch, always=True),
        )  # fmt: skip
        start = args.out / "stage1"
    else:
        start = args.start
    best = 0.0
    notes = memory_examples(sorted(SETS.glob("train*.jsonl")))  # more may have been written
    model = UniEncoderTokenGLiNER.from_pretrained(start, local_files_only=True)
    public = public_examples(args.public, rng)
    words = [
        word
        for word in model.data_processor.transformer_tokenizer.get_vocab()
        if word.isascii() and word.isalpha() and word.islower() and 4 <= len(word) <= 8
    ]
    known = set(LABELS)
    coarse = [e for e in public if {label for *_, label in e.spans} & known]
    names = Names([*notes, *coarse], args.aliases, sorted(words))
    epochs = [
        stage_two(notes, public_examples(args.public, rng), names, rng, share=0.3, made=args.made)
        for _ in range(args.epochs[1])
    ]
    log.info("stage 2: %d examples an epoch, %d notes", len(epochs[0]), len(notes))
    train(
        model, epochs, rates=tuple(args.second_rates), tokens=args.tokens, rng=rng,
        after=lambda epoch: checked(model, args.out / "best", epoch, always=False),
    )  # fmt: skip
    model.save_pretrained(args.out / "last", safe_serialization=True)
    log.info("best dev F1 %.3f", best)


if __name__ == "__main__":
    main()
