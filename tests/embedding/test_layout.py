"""What a model's directory says, and what it may not say."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.core.errors import ModelUnavailable
from service.embedding.layout import DEFAULTS, Layout, Options, read
from tests.embedding import tiny

Edit = Callable[[Path], object]


def put(name: str, value: object) -> Edit:
    def edit(directory: Path) -> None:
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(value if isinstance(value, str) else json.dumps(value))

    return edit


def drop(name: str) -> Edit:
    return lambda directory: (directory / name).unlink()


def change(name: str, **values: Any) -> Edit:
    def edit(directory: Path) -> None:
        file = directory / name
        file.write_text(json.dumps(json.loads(file.read_text()) | values))

    return edit


def modules(*kinds: str) -> Edit:
    listed = [{"path": "" if at == 0 else f"{at}_{kind}", "type": f"x.y.{kind}"} for at, kind in enumerate(kinds)]
    return put("modules.json", listed)


def layout(tmp_path: Path, *edits: Edit, options: Options = DEFAULTS, **made: Any) -> Layout:
    directory = tiny.make(tmp_path / "tiny", **made)
    for edit in edits:
        edit(directory)
    return read(directory, options)


def test_a_plain_directory(tmp_path: Path) -> None:
    said = layout(tmp_path)
    assert (said.id, said.max_tokens, said.pooling, said.dense, said.prompt) == ("tiny", 64, ("mean",), (), "")
    assert said.file == tmp_path / "tiny" / "model.safetensors"
    assert said.tokenizer == tmp_path / "tiny" / "tokenizer.json"
    assert said.dimensions is None
    assert not said.lowercase


FAULTS: dict[str, tuple[dict[str, Any], list[Edit], str]] = {
    "no config": ({}, [drop("config.json")], "config.json is not in tiny: download"),
    "no tokenizer": ({}, [drop("tokenizer.json")], "tokenizer.json is not in tiny: download"),
    "no weights": ({}, [drop("model.safetensors")], "tiny has none of onnx/model.onnx, model.onnx, model.safetensors"),
    "no pooling": ({}, [drop("1_Pooling/config.json")], "1_Pooling/config.json is not in tiny"),
    "no dense": (
        {"dense": (8, "Tanh")},
        [drop("2_Dense/model.safetensors")],
        "2_Dense/model.safetensors is not in tiny",
    ),
    "broken config": ({}, [put("config.json", '{"a":')], "config.json of tiny cannot be read"),
    "empty config": ({}, [put("config.json", "")], "config.json of tiny cannot be read"),
    "config of a wrong type": (
        {},
        [change("config.json", max_position_embeddings="many")],
        "Expected `int | null`, got `str`",
    ),
    "config that is a list": ({}, [put("config.json", [])], "Expected `object`, got `array`"),
    "modules that are no list": ({}, [put("modules.json", {})], "modules.json of tiny cannot be read"),
    "no modules": ({}, [put("modules.json", [])], "modules.json lists nothing"),
    "another first module": (
        {},
        [modules("StaticEmbedding", "Normalize")],
        "modules.json lists StaticEmbedding, Normalize",
    ),
    "no pooling listed": ({}, [modules("Transformer", "Normalize")], "modules.json lists Transformer, Normalize"),
    "unknown module": ({}, [modules("Transformer", "Pooling", "LSTM")], "a module LSTM at place 3"),
    "normalize before dense": (
        {"dense": (8, "Tanh")},
        [modules("Transformer", "Pooling", "Normalize", "Dense")],
        "a module Normalize at place 3",
    ),
    "a module elsewhere": (
        {},
        [put("modules.json", [{"type": "Transformer", "path": "../other"}, {"type": "Pooling", "path": "/pooling"}])],
        "../other is not inside",
    ),
    "unknown pooling": ({}, [put("1_Pooling/config.json", {"pooling_mode": "median"})], "the pooling median is not"),
    "empty pooling": ({}, [put("1_Pooling/config.json", {"pooling_mode": []})], "the pooling [] is not"),
    "unknown activation": ({"dense": (8, "Softsign")}, [], "this one has torch.nn.modules.activation.Softsign"),
    "residual dense": (
        {"dense": (8, "Tanh")},
        [change("2_Dense/config.json", use_residual=True)],
        "without a residual",
    ),
    "dense of tokens": (
        {"dense": (8, "Tanh")},
        [change("2_Dense/config.json", module_input_name="token_embeddings")],
        "only a Dense of the pooled vector",
    ),
    "prompt not pooled": (
        {"prompts": {"sts": "x: "}, "default_prompt": "sts"},
        [change("1_Pooling/config.json", include_prompt=False)],
        "include_prompt",
    ),
    "unknown default prompt": (
        {"prompts": {"sts": "x: "}, "default_prompt": "other"},
        [],
        "default_prompt_name 'other' is not among its prompts ('sts')",
    ),
}


@pytest.mark.parametrize(("made", "edits", "sentence"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_named(tmp_path: Path, made: dict[str, Any], edits: list[Edit], sentence: str) -> None:
    with pytest.raises(ModelUnavailable) as raised:
        layout(tmp_path, *edits, **made)
    assert sentence in raised.value.detail
    assert str(tmp_path) not in raised.value.detail


OPTIONAL = ["modules.json", "sentence_bert_config.json", "config_sentence_transformers.json", "tokenizer_config.json"]


@pytest.mark.parametrize("name", OPTIONAL)
def test_a_link_to_a_lost_file_is_a_fault_even_where_the_file_need_not_be(tmp_path: Path, name: str) -> None:
    def lose(directory: Path) -> None:
        (directory / name).unlink(missing_ok=True)
        (directory / name).symlink_to(tmp_path / "blobs" / "lost")

    with pytest.raises(ModelUnavailable, match=f"{name} is not in tiny: download"):
        layout(tmp_path, lose, pooling="cls")


@pytest.mark.parametrize("name", ["absent", "file"])
def test_what_is_no_directory(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelUnavailable, match=f"There is no directory '{name}' that can be read"):
        read(tmp_path / name)


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"onnx/model_fp16.onnx is not in tiny"):
        layout(tmp_path, options=Options(model_file="onnx/model_fp16.onnx"))


@pytest.mark.parametrize("name", ["/model.onnx", "../model.onnx", "onnx/../../model.onnx"])
def test_a_named_file_must_be_inside(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelUnavailable, match=f"{name} is not inside"):
        layout(tmp_path, options=Options(model_file=name))


@pytest.mark.parametrize(
    ("files", "options", "chosen"),
    [
        (["onnx/model.onnx", "model.onnx"], Options(), "onnx/model.onnx"),
        (["model.onnx"], Options(), "model.onnx"),
        (["onnx/model.onnx", "onnx/other.onnx"], Options(model_file="onnx/other.onnx"), "onnx/other.onnx"),
    ],
)
def test_which_graph(tmp_path: Path, files: list[str], options: Options, chosen: str) -> None:
    said = layout(tmp_path, *(put(file, "x") for file in files), options=options)
    assert said.file == tmp_path / "tiny" / chosen


POOLINGS: dict[str, tuple[object, tuple[str, ...]]] = {
    "old flag": ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, ("cls",)),
    "several flags": (
        {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True, "pooling_mode_lasttoken": True},
        ("cls", "mean", "lasttoken"),
    ),
    "no flag": ({"word_embedding_dimension": 32}, ("mean",)),
    "new name": ({"embedding_dimension": 32, "pooling_mode": "lasttoken"}, ("lasttoken",)),
    "new names": ({"pooling_mode": ["max", "cls"]}, ("max", "cls")),
}


@pytest.mark.parametrize(("config", "pooling"), POOLINGS.values(), ids=POOLINGS)
def test_poolings(tmp_path: Path, config: object, pooling: tuple[str, ...]) -> None:
    assert layout(tmp_path, put("1_Pooling/config.json", config)).pooling == pooling


LENGTHS: dict[str, tuple[dict[str, Any], list[Edit], int | None, int]] = {
    "the setting": ({}, [], 16, 16),
    "a setting above": ({}, [], 1000, 64),
    "max_seq_length": ({"max_seq_length": 32}, [], None, 32),
    "positions": ({"max_seq_length": None}, [], None, 128),
    "the tokenizer": ({"max_seq_length": None}, [put("tokenizer_config.json", {"model_max_length": 100})], None, 100),
    "no sane tokenizer": (
        {"max_seq_length": None},
        [put("tokenizer_config.json", '{"model_max_length": 1000000000000000019884624838656}')],
        None,
        128,
    ),
    "roberta": ({"max_seq_length": None}, [change("config.json", model_type="roberta", pad_token_id=1)], None, 126),
    "another file's name": (
        {},
        [drop("sentence_bert_config.json"), put("sentence_xlm-roberta_config.json", {"max_seq_length": 48})],
        None,
        48,
    ),
    "nobody says": (
        {"max_seq_length": None},
        [change("config.json", max_position_embeddings=None), drop("tokenizer_config.json")],
        None,
        512,
    ),
}


@pytest.mark.parametrize(("made", "edits", "setting", "tokens"), LENGTHS.values(), ids=LENGTHS)
def test_max_tokens(tmp_path: Path, made: dict[str, Any], edits: list[Edit], setting: int | None, tokens: int) -> None:
    assert layout(tmp_path, *edits, options=Options(max_tokens=setting), **made).max_tokens == tokens


@pytest.mark.parametrize(
    ("made", "setting", "prompt"),
    [
        ({"prompts": {"sts": "task: "}, "default_prompt": "sts"}, None, "task: "),
        ({"prompts": {"sts": "task: "}}, None, ""),
        ({"prompts": {"sts": "task: "}, "default_prompt": "sts"}, "", ""),
        ({"prompts": {"sts": "task: ", "query": "query: "}, "default_prompt": "sts"}, "query", "query: "),
    ],
)
def test_prompts(tmp_path: Path, made: dict[str, Any], setting: str | None, prompt: str) -> None:
    assert layout(tmp_path, options=Options(prompt=setting), **made).prompt == prompt


@pytest.mark.parametrize("prompts", [{}, {"sts": "task: "}])
def test_a_prompt_is_asked_for_by_its_name(tmp_path: Path, prompts: dict[str, str]) -> None:
    with pytest.raises(ModelUnavailable, match="'task: ' is not among its prompts") as refused:
        layout(tmp_path, options=Options(prompt="task: "), prompts=prompts)
    assert all(name in refused.value.detail for name in prompts)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("models--BAAI--bge-small-en-v1.5/snapshots/5c38ec7c", "BAAI/bge-small-en-v1.5"),
        ("models--gpt2/snapshots/607a30d7", "gpt2"),
        ("plain", "plain"),
        ("snapshots/plain", "plain"),
    ],
)
def test_the_name(tmp_path: Path, path: str, name: str) -> None:
    directory = tiny.make(tmp_path / path)
    assert read(directory).id == name
    assert read(directory, Options(id="mine")).id == "mine"


def test_the_rest(tmp_path: Path) -> None:
    said = layout(
        tmp_path,
        change("config.json", matryoshka_dimensions=[8, 16]),
        change("sentence_bert_config.json", do_lower_case=True),
        truncate_dim=16,
        dense=(24, "Identity"),
    )
    assert (said.dimensions, said.sizes, said.lowercase) == (16, (8, 16), True)
    assert [layer.activation for layer in said.dense] == ["Identity"]
    assert read(tmp_path / "tiny", Options(dimensions=8)).dimensions == 8


def test_a_transformer_in_a_folder_of_its_own(tmp_path: Path) -> None:
    directory = tiny.make(tmp_path / "tiny")
    inner = directory / "0_Transformer"
    inner.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json", "sentence_bert_config.json"):
        (directory / name).rename(inner / name)
    listed = json.loads((directory / "modules.json").read_text())
    listed[0]["path"] = "0_Transformer"
    put("modules.json", listed)(directory)
    assert read(directory).file == inner / "model.safetensors"


def test_no_modules(tmp_path: Path) -> None:
    assert layout(tmp_path, modules=False).pooling == ("mean",)
