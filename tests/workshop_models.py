"""Tiny torch models, made where torch and transformers are installed; nothing is downloaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WORDS = (
    "anna lives in oslo rome the shop is not open on sundays build uses python does use my brother "
    "married user likes tea coffee like server running live . , a"
).split()
LABELS = ("contradiction", "entailment", "neutral")


def make_encoder(folder: Path, *, pooling: str, prompts: dict[str, str]) -> Path:
    """A BERT of two layers with random weights, and the files of sentence-transformers."""
    import torch
    from transformers import BertConfig, BertModel

    torch.set_num_threads(1)  # more only wait for each other on a busy machine
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(_vocabulary()),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=128,
        initializer_range=0.3,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    _save_tokenizer(folder)
    (folder / "1_Pooling").mkdir()
    _write(folder / "1_Pooling" / "config.json", {f"pooling_mode_{pooling}": True})
    _write(folder / "config_sentence_transformers.json", {"prompts": prompts})
    kinds = ("Transformer", "Pooling", "Normalize")
    paths = ("", "1_Pooling", "2_Normalize")
    modules = [
        {"path": path, "type": f"sentence_transformers.models.{kind}"}
        for kind, path in zip(kinds, paths, strict=True)
    ]
    _write(folder / "modules.json", modules)
    return folder


def make_deberta(folder: Path, *, labels: tuple[str, ...] = LABELS, steps: int = 0) -> Path:
    """A DeBERTa-v2 of two layers; with `steps` it learns the sentences that judges are tried on."""
    import torch
    from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

    torch.set_num_threads(1)
    torch.manual_seed(5)
    config = DebertaV2Config(
        vocab_size=len(_vocabulary()),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=64,
        position_buckets=32,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        norm_rel_ebd="layer_norm",
        position_biased_input=False,
        type_vocab_size=0,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pooler_dropout=0.0,
        initializer_range=0.1,
        id2label=dict(enumerate(labels)),
        label2id={label: column for column, label in enumerate(labels)},
    )
    model = DebertaV2ForSequenceClassification(config)
    tokenizer = _save_tokenizer(folder)
    if steps:
        _teach(model, tokenizer, steps)
    model.save_pretrained(folder)
    return folder


def _teach(model: Any, tokenizer: Any, steps: int) -> None:
    import torch

    from consolidate.backends.onnx_classifier import PROBES

    statements = [statement for statement, _ in PROBES]
    asked = [(each, each, "entailment") for each in statements]
    asked += [(a, b, "contradiction") for a, b in PROBES]
    asked += [(b, a, "contradiction") for a, b in PROBES]
    shifted = statements[1:] + statements[:1]
    asked += [(a, b, "neutral") for a, b in zip(statements, shifted, strict=True)]
    asked += [(b, a, "neutral") for a, b in zip(statements, shifted, strict=True)]
    inputs = tokenizer(
        [a for a, _, _ in asked], [b for _, b, _ in asked], padding=True, return_tensors="pt"
    )
    inputs.pop("token_type_ids", None)
    gold = torch.tensor([model.config.label2id[label] for _, _, label in asked])
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)
    model.train()
    for _ in range(steps):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(**inputs).logits, gold)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    model.eval()


def _vocabulary() -> dict[str, int]:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(WORDS)]
    letters = "abcdefghijklmnopqrstuvwxyz:"
    tokens += [c for c in letters if c not in tokens] + [f"##{c}" for c in letters]
    return {token: index for index, token in enumerate(tokens)}


def _save_tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.WordPiece(_vocabulary(), unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
    fast.save_pretrained(folder)
    return fast


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")
