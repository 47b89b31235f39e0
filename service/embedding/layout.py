"""A model's directory in the layout of the hub, as sentence-transformers reads and writes it."""

import os
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from service.core.errors import ModelUnavailable

T = TypeVar("T")

POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
"""Flags of an older Pooling config and what newer ones call them, in the order in which several are joined."""

WEIGHTS = "model.safetensors"
MODEL_FILES = ("onnx/model.onnx", "model.onnx", WEIGHTS)

ACTIVATIONS = ("Tanh", "Identity", "ReLU")
POSITIONS_AFTER_PADDING = ("camembert", "data2vec-text", "longformer", "mpnet", "roberta", "xlm-roberta")
"""Model types that count positions from one past the id of the padding token."""
TRANSFORMER_CONFIGS = ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
SANE_TOKENS = 1_000_000
UNSAID_TOKENS = 512


class Options(Struct, frozen=True, kw_only=True):
    """What a setting says against the directory; None leaves it to the directory."""

    id: str | None = None
    model_file: str | None = None
    """An .onnx file in the directory."""
    max_tokens: int | None = None
    prompt: str | None = None
    """The name of one of the model's prompts; empty for none."""
    dimensions: int | None = None
    threads: int = 1
    """Threads of one run."""
    providers: tuple[str, ...] = ("CPUExecutionProvider",)


DEFAULTS = Options()


class DenseLayer(Struct, frozen=True):
    """A Dense module: where its tensors are, and its activation, one of ACTIVATIONS."""

    weights: Path
    activation: str


class Layout(Struct, frozen=True, kw_only=True):
    """What a directory says of its model, the options applied."""

    directory: Path
    id: str
    tokenizer: Path
    file: Path
    """The .onnx file, or else model.safetensors."""
    config: dict[str, Any]
    max_tokens: int
    pooling: tuple[str, ...] = ("mean",)
    """Values of POOLINGS; the vectors of several are joined."""
    dense: tuple[DenseLayer, ...] = ()
    prompt: str = ""
    lowercase: bool = False
    dimensions: int | None = None
    """Leading dimensions that are kept; None for all."""
    sizes: tuple[int, ...] = ()


class _Module(Struct):
    type: str
    path: str = ""


class _Pooling(Struct):
    pooling_mode: str | list[str] | None = None
    include_prompt: bool = True


class _Dense(Struct):
    activation_function: str = "torch.nn.modules.activation.Tanh"
    use_residual: bool = False
    module_input_name: str = "sentence_embedding"


class _Transformer(Struct):
    max_seq_length: int | None = None
    do_lower_case: bool = False


class _Tokenizer(Struct):
    model_max_length: float | None = None


class _Sentences(Struct):
    prompts: dict[str, str] | None = None
    default_prompt_name: str | None = None
    truncate_dim: int | None = None


class _Config(Struct):
    model_type: str | None = None
    max_position_embeddings: int | None = None
    pad_token_id: int | None = None
    matryoshka_dimensions: tuple[int, ...] = ()


class _Chain(Struct):
    """What modules.json lists, in order."""

    transformer: str = ""
    pooling: tuple[str, ...] = ("mean",)
    include_prompt: bool = True
    dense: tuple[DenseLayer, ...] = ()


class _Sources(Struct):
    """The rest of the files."""

    config: _Config
    sentences: _Sentences
    transformer: _Transformer
    tokenizer: _Tokenizer


def read(directory: Path, options: Options = DEFAULTS) -> Layout:
    """What the directory says. ModelUnavailable names a file that is absent, broken or asks for what is not known."""
    if not directory.is_dir() or not os.access(directory, os.R_OK | os.X_OK):
        raise ModelUnavailable(
            f"There is no directory {directory.name!r} that can be read: name the one that holds the model's files."
        )
    chain = _chain(directory)
    root = directory / chain.transformer
    sources = _Sources(
        config=_decode(directory, root / "config.json", _Config),
        sentences=_optional(directory, directory / "config_sentence_transformers.json", _Sentences),
        transformer=_transformer(directory, root),
        tokenizer=_optional(directory, root / "tokenizer_config.json", _Tokenizer),
    )
    prompt = _prompt(sources.sentences, options.prompt)
    if prompt and not chain.include_prompt:
        raise ModelUnavailable("The model's pooling leaves the prompt out (include_prompt), which is not supported.")
    return Layout(
        directory=directory,
        id=options.id or _name(directory),
        tokenizer=_needed(directory, root / "tokenizer.json"),
        file=_model_file(root, options.model_file),
        config=_decode(directory, root / "config.json", dict[str, Any]),
        max_tokens=_max_tokens(sources, options.max_tokens),
        pooling=chain.pooling,
        dense=chain.dense,
        prompt=prompt,
        lowercase=sources.transformer.do_lower_case,
        dimensions=options.dimensions or sources.sentences.truncate_dim,
        sizes=sources.config.matryoshka_dimensions,
    )


def _chain(directory: Path) -> _Chain:
    """Without modules.json it is the mean of the tokens."""
    if not _is_there(directory / "modules.json"):
        return _Chain()
    modules = _decode(directory, directory / "modules.json", list[_Module])
    kinds = [module.type.rpartition(".")[2] for module in modules]
    if kinds[:2] != ["Transformer", "Pooling"]:
        raise ModelUnavailable(
            f"modules.json lists {', '.join(kinds) or 'nothing'}: only Transformer, Pooling, Dense and Normalize, "
            "in this order, are supported."
        )
    for module in modules:
        _inside(directory, module.path)
    chain = _Chain(transformer=modules[0].path)
    chain.pooling, chain.include_prompt = _pooling(directory, modules[1].path)
    for at, (kind, module) in enumerate(zip(kinds[2:], modules[2:], strict=True), 3):
        if kind == "Dense":
            chain.dense += (_dense(directory, module.path),)
        elif kind != "Normalize" or at != len(kinds):
            raise ModelUnavailable(f"modules.json: a module {kind} at place {at} is not supported.")
    return chain


def _pooling(directory: Path, path: str) -> tuple[tuple[str, ...], bool]:
    file = directory / path / "config.json"
    config = _decode(directory, file, _Pooling)
    modes = config.pooling_mode
    if modes is None:
        flags = _decode(directory, file, dict[str, Any])
        modes = [mode for flag, mode in POOLINGS.items() if flags.get(flag)] or ["mean"]
    names = (modes,) if isinstance(modes, str) else tuple(modes)
    unknown = [name for name in names if name not in POOLINGS.values()]
    if unknown or not names:
        raise ModelUnavailable(f"{path}/config.json: the pooling {', '.join(unknown) or '[]'} is not supported.")
    return names, config.include_prompt


def _dense(directory: Path, path: str) -> DenseLayer:
    config = _decode(directory, directory / path / "config.json", _Dense)
    activation = config.activation_function.rpartition(".")[2]
    if activation not in ACTIVATIONS or config.use_residual or config.module_input_name != "sentence_embedding":
        raise ModelUnavailable(
            f"{path}/config.json: only a Dense of the pooled vector without a residual, with {', '.join(ACTIVATIONS)} "
            f"is supported, and this one has {config.activation_function}."
        )
    return DenseLayer(_needed(directory, directory / path / WEIGHTS), activation)


def _transformer(directory: Path, root: Path) -> _Transformer:
    files = (root / f"sentence_{kind}_config.json" for kind in TRANSFORMER_CONFIGS)
    return next((_decode(directory, file, _Transformer) for file in files if _is_there(file)), _Transformer())


def _model_file(root: Path, chosen: str | None) -> Path:
    if chosen is not None:
        return _needed(root, _inside(root, chosen))
    found = next((root / name for name in MODEL_FILES if (root / name).exists()), None)
    if found is None:
        raise ModelUnavailable(
            f"{root.name} has none of {', '.join(MODEL_FILES)}: download one into it, or name another .onnx file "
            "of it in the settings."
        )
    return found


def _max_tokens(sources: _Sources, setting: int | None) -> int:
    config, positions = sources.config, sources.config.max_position_embeddings
    if positions and config.model_type in POSITIONS_AFTER_PADDING:
        positions -= 1 + (1 if config.pad_token_id is None else config.pad_token_id)
    said = (setting, sources.transformer.max_seq_length, sources.tokenizer.model_max_length, positions)
    return min((int(limit) for limit in said if limit and limit < SANE_TOKENS), default=UNSAID_TOKENS)


def _prompt(sentences: _Sentences, asked: str | None) -> str:
    """The text of the prompt asked for by name, or of the model's default; an empty name asks for none."""
    name = sentences.default_prompt_name if asked is None else asked
    prompts = sentences.prompts or {}
    if not name:
        return ""
    if name not in prompts:
        whose = "default_prompt_name" if asked is None else "the prompt"
        known = ", ".join(map(repr, prompts)) or "none"
        raise ModelUnavailable(
            f"config_sentence_transformers.json: {whose} {name!r} is not among its prompts ({known})."
        )
    return prompts[name]


def _name(directory: Path) -> str:
    """The owner/name of a snapshot in the hub's cache, else the folder's name; `_name_or_path` names the base model."""
    path = directory.resolve()
    cached = path.parent.parent.name
    if path.parent.name == "snapshots" and cached.startswith("models--"):
        return cached.removeprefix("models--").replace("--", "/")
    return path.name


def _inside(directory: Path, path: str) -> Path:
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise ModelUnavailable(f"{path} is not inside the model's directory: name a file by its path there.")
    return directory / path


def _needed(directory: Path, file: Path) -> Path:
    if not file.is_file():
        raise ModelUnavailable(
            f"{file.relative_to(directory)} is not in {directory.name}: download the model again, with all its files."
        )
    return file


def _optional(directory: Path, file: Path, kind: type[T]) -> T:
    return _decode(directory, file, kind) if _is_there(file) else kind()


def _is_there(file: Path) -> bool:
    """A link to nowhere is: of a file that is lost, not of one that the model does without."""
    return os.path.lexists(file)


def _decode(directory: Path, file: Path, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(_needed(directory, file).read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise ModelUnavailable(
            f"{file.relative_to(directory)} of {directory.name} cannot be read ({exc}): download it again."
        ) from None
