"""The frozen description."""

import yaml

from service.api.document import document
from service.primitives.jsontext import compact
from tests.serving import ROOT


def test_the_frozen_description_is_the_one_that_is_served() -> None:
    frozen = yaml.safe_load((ROOT / "openapi/openapi.yaml").read_text())
    assert compact(frozen) == compact(document()), "run `make openapi` and commit what changed"
