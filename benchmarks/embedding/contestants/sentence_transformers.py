"""sentence-transformers on torch, as it comes, on one thread."""

import torch
from sentence_transformers import SentenceTransformer

from benchmarks.embedding.contestants.asking import answer_asks
from benchmarks.embedding.model import DIRECTORY


def main() -> None:
    """Answer until nobody asks."""
    torch.set_num_threads(1)
    model = SentenceTransformer(str(DIRECTORY), device="cpu", local_files_only=True)
    answer_asks(lambda callers: [model.encode(texts, show_progress_bar=False) for texts in callers])


if __name__ == "__main__":
    main()
