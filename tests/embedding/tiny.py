"""A tiny random BERT in the hub layout, the same bytes for the same options."""

import json
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

Tensors = dict[str, NDArray[np.float32]]

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = """
the a an and or not no yes is are was of to in on it its that this he she they we you i capital city country
answer question water boils freezes degrees canberra sydney australia one two three four five good bad red blue
cat dog house tree runs sleeps large small true false ##s ##ed ##ing ##er ##ly
"""
VOCABULARY = SPECIAL + WORDS.split()
VOCABULARY += [c for c in string.ascii_lowercase + string.digits + string.punctuation if c not in VOCABULARY]
VOCABULARY += [f"##{c}" for c in string.ascii_lowercase + string.digits if f"##{c}" not in VOCABULARY]

POOLINGS = {
    "cls": "pooling_mode_cls_token",
    "mean": "pooling_mode_mean_tokens",
    "max": "pooling_mode_max_tokens",
    "mean_sqrt_len": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}


def make(
    directory: Path,
    *,
    pooling: str = "mean",
    dense: tuple[int, str] | None = None,
    normalize: bool = True,
    modules: bool = True,
    prompts: Mapping[str, str] | None = None,
    default_prompt: str | None = None,
    truncate_dim: int | None = None,
    max_seq_length: int | None = 64,
    positions: int = 128,
    hidden: int = 32,
    layers: int = 2,
    heads: int = 2,
    prefix: str = "",
    seed: int = 7,
    config: Mapping[str, Any] | None = None,
) -> Path:
    """`directory`, made where it is absent, with the model's files.

    `dense` is (out_features, activation) as in torch: "Tanh", "Identity"; its tensors are in 2_Dense. `modules=False`
    leaves out modules.json and what it names. `prefix` comes before the tensors' names ("bert."). `config` changes
    config.json without changing the tensors. The tokenizer truncates and pads to 8 tokens unless told otherwise, as
    published ones do to 128.
    """
    directory.mkdir(parents=True, exist_ok=True)
    shape = _shape(hidden, layers, heads, positions)
    _write(directory / "config.json", shape | dict(config or {}))
    write_safetensors(directory / "model.safetensors", {f"{prefix}{k}": v for k, v in tensors(shape, seed).items()})
    _write_tokenizer(directory)
    _write(directory / "sentence_bert_config.json", {"max_seq_length": max_seq_length, "do_lower_case": False})
    if prompts is not None or truncate_dim is not None:
        _write(
            directory / "config_sentence_transformers.json",
            {"prompts": dict(prompts or {}), "default_prompt_name": default_prompt, "truncate_dim": truncate_dim},
        )
    if modules:
        _write_modules(directory, hidden, pooling, dense, normalize, seed)
    return directory


def tensors(shape: Mapping[str, Any], seed: int) -> Tensors:
    """Random tensors of a BERT of this shape, with names as upstream writes them."""
    rng, hidden, inner = np.random.default_rng(seed), shape["hidden_size"], shape["intermediate_size"]
    made: Tensors = {}

    def draw(name: str, *size: int, around: float = 0.0, spread: float = 0.3) -> None:
        made[name] = rng.normal(around, spread, size).astype(np.float32)

    def linear(name: str, inputs: int, outputs: int) -> None:
        draw(f"{name}.weight", outputs, inputs)
        draw(f"{name}.bias", outputs)

    def norm(name: str) -> None:
        draw(f"{name}.weight", hidden, around=1.0)
        draw(f"{name}.bias", hidden)

    for table, rows in (
        ("word", "vocab_size"),
        ("position", "max_position_embeddings"),
        ("token_type", "type_vocab_size"),
    ):
        draw(f"embeddings.{table}_embeddings.weight", shape[rows], hidden, spread=1.0)
    norm("embeddings.LayerNorm")
    for layer in range(shape["num_hidden_layers"]):
        at = f"encoder.layer.{layer}"
        for part in ("query", "key", "value"):
            linear(f"{at}.attention.self.{part}", hidden, hidden)
        linear(f"{at}.attention.output.dense", hidden, hidden)
        norm(f"{at}.attention.output.LayerNorm")
        linear(f"{at}.intermediate.dense", hidden, inner)
        linear(f"{at}.output.dense", inner, hidden)
        norm(f"{at}.output.LayerNorm")
    linear("pooler.dense", hidden, hidden)
    return made


def write_safetensors(path: Path, named: Tensors) -> None:
    """F32 tensors one after another behind a header padded to 8 bytes."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    start = 0
    for name, tensor in named.items():
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [start, start + tensor.nbytes]}
        start += tensor.nbytes
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    path.write_bytes(
        len(head).to_bytes(8, "little") + head + b"".join(t.astype("<f4").tobytes() for t in named.values())
    )


def _shape(hidden: int, layers: int, heads: int, positions: int) -> dict[str, Any]:
    return {
        "_name_or_path": "example/tiny-bert",
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": hidden,
        "intermediate_size": 2 * hidden,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": positions,
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "pad_token_id": 0,
        "position_embedding_type": "absolute",
        "type_vocab_size": 2,
        "vocab_size": len(VOCABULARY),
    }


def _write_tokenizer(directory: Path) -> None:
    ids = {token: at for at, token in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(token, ids[token]) for token in ("[CLS]", "[SEP]")]
    )
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    tokenizer.save(str(directory / "tokenizer.json"))
    _write(directory / "tokenizer_config.json", {"model_max_length": 512, "tokenizer_class": "BertTokenizer"})


def _write_modules(
    directory: Path, hidden: int, pooling: str, dense: tuple[int, str] | None, normalize: bool, seed: int
) -> None:
    chain = [("", "Transformer"), ("1_Pooling", "Pooling")]
    flags = {flag: mode == pooling for mode, flag in POOLINGS.items()}
    _write(directory / "1_Pooling" / "config.json", {"word_embedding_dimension": hidden} | flags)
    if dense:
        chain.append(("2_Dense", "Dense"))
        _write_dense(directory / "2_Dense", hidden, *dense, seed=seed)
    if normalize:
        chain.append((f"{len(chain)}_Normalize", "Normalize"))
    listed = [
        {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (path, kind) in enumerate(chain)
    ]
    _write(directory / "modules.json", listed)


def _write_dense(directory: Path, inputs: int, outputs: int, activation: str, *, seed: int) -> None:
    module = "torch.nn.modules.linear" if activation == "Identity" else "torch.nn.modules.activation"
    _write(
        directory / "config.json",
        {
            "in_features": inputs,
            "out_features": outputs,
            "bias": True,
            "activation_function": f"{module}.{activation}",
        },
    )
    rng = np.random.default_rng(seed + 1)
    weight, bias = rng.normal(0, 0.3, (outputs, inputs)), rng.normal(0, 0.3, outputs)
    write_safetensors(
        directory / "model.safetensors",
        {"linear.weight": weight.astype(np.float32), "linear.bias": bias.astype(np.float32)},
    )


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
