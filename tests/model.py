"""The default model, for tests that need the real one: they skip without it, and fail where CI is without it."""

import os

import pytest

from service import config
from service.embedding import weights
from service.embedding.choosing import default_directory

FETCHED = default_directory(config.load())


def require_model() -> None:
    if not weights.present(FETCHED):
        if os.environ.get("CI"):
            pytest.fail("the default model is not fetched")
        pytest.skip("the default model is not fetched: scorewright model fetch")
