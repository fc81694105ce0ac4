"""Makes the tiny models in `tests/data`: `python -m models.make_test_models tests/data`.

They are real graphs behind a real tokenizer, each below 200 kB: an encoder with random weights,
the same in dynamic int8 (whose answers depend on the whole run, which the adapter must notice), a
judge built by hand that counts covered words and negations, and GLiNERs with random weights, one
with each kind of head. Needs the workshop environment.
"""

from __future__ import annotations

import argparse
import string
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from consolidate.backends.files import MODEL
from models.export import OPSET, export
from models.folder import write_config, write_manifest, write_tokenizer
from models.quantize import quantize

SPECIAL: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# Words that carry no matter of their own, and those that turn a statement round.
IDLE: Final = tuple(". , ! ? the a an is are on in of to my do does did it at and was has".split())
NEGATIONS: Final = ("not", "no", "never")
WORDS: Final = tuple(
    "user anna brother shop server build oslo rome paris sundays python rust tea coffee likes like "
    "lives live works work uses use open closed married single running stopped moved drinks cat "
    "dog project main branch tests port daily weekly".split()
)
WIDTH: Final = 32


def vocabulary() -> list[str]:
    """Special tokens, characters alone and inside words, words."""
    characters = string.ascii_lowercase + string.digits
    symbols = [c for c in string.punctuation if c not in IDLE]
    tokens = [*SPECIAL, *characters, *(f"##{c}" for c in characters), *symbols]
    return list(dict.fromkeys([*tokens, *IDLE, *NEGATIONS, *WORDS]))


def tokenizer() -> Tokenizer:
    """A WordPiece tokenizer over `vocabulary`, set up as BERT's."""
    vocab = {token: index for index, token in enumerate(vocabulary())}
    made = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))  # noqa: S106 - no password
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return made


def make_encoder(out: Path) -> None:
    """A one-layer BERT with random weights."""
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(vocabulary()),
        hidden_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=2 * WIDTH,
        max_position_embeddings=64,
        initializer_range=0.3,
    )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        BertModel(config, add_pooling_layer=False).save_pretrained(source)
        special = dict(zip(("pad", "unk", "cls", "sep", "mask"), SPECIAL, strict=True))
        PreTrainedTokenizerFast(
            tokenizer_object=tokenizer(), **{f"{k}_token": v for k, v in special.items()}
        ).save_pretrained(source)
        export(
            source, out, task="feature-extraction", name="tiny-encoder",
            settings={"pooling": "mean"},
        )  # fmt: skip


def make_gliner(out: Path, *, head: str) -> None:
    """A GLiNER with random weights, with a `span`-level or a `token`-level head."""
    from gliner.config import UniEncoderSpanConfig, UniEncoderTokenConfig
    from gliner.model import UniEncoderSpanGLiNER, UniEncoderTokenGLiNER

    torch.manual_seed(11)
    encoder = BertConfig(
        vocab_size=len(vocabulary()),
        hidden_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=2 * WIDTH,
        max_position_embeddings=64,
        initializer_range=0.3,
    )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        BertModel(encoder, add_pooling_layer=False).save_pretrained(source)
        special = dict(zip(("pad", "unk", "cls", "sep", "mask"), SPECIAL, strict=True))
        PreTrainedTokenizerFast(
            tokenizer_object=tokenizer(), model_max_length=64,
            **{f"{k}_token": v for k, v in special.items()},
        ).save_pretrained(source)  # fmt: skip
        settings = {
            "model_name": str(source),
            "hidden_size": WIDTH,
            "max_width": 4,
            "max_len": 20,
            "num_rnn_layers": 0,
        }
        if head == "span":
            config = UniEncoderSpanConfig(
                span_mode="marker", subtoken_pooling="mean", embed_ent_token=False, **settings
            )
            model = UniEncoderSpanGLiNER.load_from_config(config, local_files_only=True)
        else:
            config = UniEncoderTokenConfig(subtoken_pooling="first", **settings)
            model = UniEncoderTokenGLiNER.load_from_config(config, local_files_only=True)
        with torch.no_grad():  # scores far apart, so that thresholds mean something
            for name, parameter in model.model.named_parameters():
                if "token_rep_layer" not in name and parameter.ndim > 1:
                    parameter.mul_(1.6 if head == "span" else 3.0)
            if head == "token":
                model.model.scorer.out_mlp[-1].bias.fill_(2.0)
        model.save_pretrained(source / "gliner", safe_serialization=True)
        export(
            source / "gliner", out, task="gliner", name=f"tiny-gliner-{head}",
            settings={"labels": ["person", "place", "technology"], "max_tokens": 64},
        )  # fmt: skip


def make_judge(out: Path) -> None:
    """A graph that calls covered words entailment, and contradiction if a negation differs."""
    out.mkdir(parents=True, exist_ok=True)
    onnx.save(_judge_graph(), str(out / MODEL))
    config: dict[str, Any] = {
        "architectures": ["HandMadeForSequenceClassification"],
        "id2label": {"0": "contradiction", "1": "entailment", "2": "neutral"},
        "max_position_embeddings": 64,
        "vocab_size": len(vocabulary()),
    }
    write_config(out, config, name="tiny-judge", settings={})
    write_tokenizer(out, tokenizer().to_str())
    write_manifest(out, task="text-classification", name="tiny-judge")


def _judge_graph() -> onnx.ModelProto:
    tokens = vocabulary()
    generator = np.random.default_rng(7)
    matter = generator.standard_normal((len(tokens), WIDTH)).astype(np.float32)
    matter /= np.linalg.norm(matter, axis=1, keepdims=True)
    silent = {*SPECIAL, *IDLE, *NEGATIONS}
    matter[[i for i, token in enumerate(tokens) if token in silent]] = 0
    turns = np.array([[float(token in NEGATIONS)] for token in tokens], dtype=np.float32)
    constants = {
        "matter": matter,
        "turns": turns,
        "one": np.float32(1),
        "tiny": np.float32(1e-3),
        "ten": np.float32(10),
        "seven": np.float32(7),
        "twenty": np.float32(20),
        "axis": np.array([1], dtype=np.int64),
    }
    steps: list[tuple[str, list[str], str, dict[str, Any]]] = [
        ("Cast", ["token_type_ids"], "second_flat", {"to": TensorProto.FLOAT}),
        ("Sub", ["one", "second_flat"], "first_flat", {}),
        ("Unsqueeze", ["first_flat", "axis"], "first", {}),
        ("Unsqueeze", ["second_flat", "axis"], "second", {}),
        ("Gather", ["matter", "input_ids"], "rows", {}),
        ("Gather", ["turns", "input_ids"], "flags", {}),
        # Sums as matrix products, one a row of input: no order that depends on their number.
        ("MatMul", ["first", "rows"], "premise", {}),
        ("MatMul", ["second", "rows"], "hypothesis", {}),
        ("Transpose", ["hypothesis"], "turned", {"perm": [0, 2, 1]}),
        ("MatMul", ["premise", "turned"], "shared", {}),
        ("MatMul", ["hypothesis", "turned"], "whole", {}),
        ("Add", ["whole", "tiny"], "safe", {}),
        ("Div", ["shared", "safe"], "cover", {}),
        ("MatMul", ["first", "flags"], "premise_turns", {}),
        ("MatMul", ["second", "flags"], "hypothesis_turns", {}),
        ("Sub", ["premise_turns", "hypothesis_turns"], "difference", {}),
        ("Abs", ["difference"], "apart", {}),
        ("Mul", ["cover", "ten"], "scaled", {}),
        ("Sub", ["scaled", "seven"], "covered", {}),
        ("Mul", ["apart", "twenty"], "penalty", {}),
        ("Sub", ["covered", "penalty"], "entailment", {}),
        ("Add", ["covered", "penalty"], "raised", {}),
        ("Sub", ["raised", "ten"], "contradiction", {}),
        ("Sub", ["apart", "apart"], "neutral", {}),
        ("Concat", ["contradiction", "entailment", "neutral"], "stacked", {"axis": 2}),
        ("Squeeze", ["stacked", "axis"], "logits", {}),
    ]
    ids = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["rows", "tokens"])
        for name in ("input_ids", "token_type_ids")
    ]
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["rows", 3])
    graph = helper.make_graph(
        [helper.make_node(kind, inputs, [out], **more) for kind, inputs, out, more in steps],
        "judge",
        ids,
        [logits],
        [numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def main() -> None:
    """Write the folders."""
    parser = argparse.ArgumentParser(description="Make the tiny models that the tests run.")
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    make_encoder(out / "tiny_encoder")
    quantize(out / "tiny_encoder", out / "tiny_encoder_int8", scheme="dynamic")
    make_judge(out / "tiny_judge")
    make_gliner(out / "tiny_gliner", head="span")
    make_gliner(out / "tiny_gliner_token", head="token")


if __name__ == "__main__":
    main()
