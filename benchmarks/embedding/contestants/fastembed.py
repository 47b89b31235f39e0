"""fastembed on one thread, over the same weights and with the same limit on tokens; all else as it comes."""

import json
import tempfile
from pathlib import Path

import numpy as np
import onnx
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType

from benchmarks.embedding.contestants.asking import answer_asks
from benchmarks.embedding.model import DIRECTORY, MAX_TOKENS
from service.embedding.skeleton import build

NAME = "benchmarks/all-MiniLM-L6-v2"
TOKENIZER_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json")


def main() -> None:
    """Answer until nobody asks."""
    with tempfile.TemporaryDirectory() as folder:
        model = _model(Path(folder))
    answer_asks(lambda callers: [np.array(list(model.embed(texts))) for texts in callers])


def _model(folder: Path) -> TextEmbedding:
    _write_graph(folder / "model.onnx")
    for name in TOKENIZER_FILES:
        (folder / name).write_bytes((DIRECTORY / name).read_bytes())
    _limit(folder / "tokenizer_config.json")
    (folder / "special_tokens_map.json").write_text("{}")
    TextEmbedding.add_custom_model(
        NAME, PoolingType.MEAN, normalization=True, sources=ModelSource(hf=NAME), dim=384, model_file="model.onnx"
    )
    return TextEmbedding(NAME, threads=1, specific_model_path=str(folder))


def _write_graph(file: Path) -> None:
    """The graph of ours, up to the vectors of tokens, with the weights inside."""
    graph = build(
        json.loads((DIRECTORY / "config.json").read_text()), DIRECTORY / "model.safetensors", "last_hidden_state"
    )
    model = onnx.load_model_from_string(graph)
    onnx.external_data_helper.load_external_data_for_model(model, str(DIRECTORY))
    onnx.save_model(model, file)


def _limit(file: Path) -> None:
    config = json.loads(file.read_text())
    file.write_text(json.dumps(config | {"model_max_length": MAX_TOKENS, "max_length": MAX_TOKENS}))


if __name__ == "__main__":
    main()
