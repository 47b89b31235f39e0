"""JSONPath with bounded cost: RFC 9535, the Jayway dialect and jsonpath-ng behind one interface."""

from service.primitives.jsonpath.path import DIALECTS, MAX_PATH_CHARS, Path, compile_path
from service.primitives.jsonpath.run import STEP_BUDGET
from service.primitives.jsonpath.scanner import MAX_NESTING

__all__ = ["DIALECTS", "MAX_NESTING", "MAX_PATH_CHARS", "STEP_BUDGET", "Path", "compile_path"]
