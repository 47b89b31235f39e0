"""A package may call its classes as ours are called: the description still tells them apart."""

from pathlib import Path

import pytest
import yaml

from tests.contract.test_plugins import CLASS, command, put

OURS = ("Batch", "EmbeddingsRequest", "ClustersRequest", "Problem", "Item", "Factuality")


@pytest.mark.parametrize("name", OURS)
def test_a_class_with_a_name_of_ours(name: str, tmp_path: Path) -> None:
    code = CLASS.format(tag=", tag='theirs'", field="").replace("class Own", f"class {name}")
    put(tmp_path, "theirs", f"{code}\nOwn = {name}\n")
    told = command("openapi", tmp_path)
    assert (told.returncode, told.stderr) == (0, "")
    document = yaml.safe_load(told.stdout)
    schemas = document["components"]["schemas"]
    body = document["paths"]["/v1/evaluations"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert schemas[body["$ref"].rpartition("/")[2]]["properties"].keys() >= {"items", "evaluators"}
    problem = document["paths"]["/v1/evaluations"]["post"]["responses"]["422"]["content"]["application/problem+json"]
    assert "errors" in schemas[problem["schema"]["$ref"].rpartition("/")[2]]["properties"]
