.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help serve test lint bench bench-judges bench-peers bench-prompts docs openapi lock clean

help:  ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

serve: .venv/run  ## set up what is missing and serve on SCOREWRIGHT_HOST:SCOREWRIGHT_PORT
	-$(BIN)/scorewright model fetch
	exec $(BIN)/scorewright serve

test: .venv/dev  ## set up what is missing and run every test
	-$(BIN)/scorewright model fetch
	$(BIN)/python -m pytest

lint: .venv/dev  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy service benchmarks

bench: .venv-bench/run  ## speed against a bare application and against peers, as ratios; exits 1 under a target
	.venv-bench/bin/python -m benchmarks

bench-judges: .venv-bench/run  ## judges under load beside what their server allows; exits 1 under a target
	.venv-bench/bin/python -m benchmarks.judges

.venv-bench/run: requirements/bench.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

bench-peers: .venv-peers/run  ## speed of the embedded model against peers (1.6 GB of disk the first time); exits 1 under a target
	.venv-peers/bin/python -m benchmarks.embedding

.venv-peers/run: requirements/peers.txt requirements/torch.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/torch.txt
	@touch $@

bench-prompts: .venv-prompts/run  ## prompt metrics beside Fair Forge's package; exits 1 under a target
	.venv-prompts/bin/python -m benchmarks.prompts

.venv-prompts/run: requirements/prompts.txt
	$(PYTHON) -m venv .venv-prompts
	.venv-prompts/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

docs: .venv/run  ## rewrite what is derived from the code in README.md and docs/
	$(BIN)/python -m docs.build

openapi: .venv/run  ## rewrite openapi/openapi.yaml
	$(BIN)/scorewright openapi > openapi/openapi.yaml

lock:  ## rewrite requirements/*.txt from pyproject.toml (needs uv)
	requirements/lock

clean:  ## remove the virtual environment and caches
	rm -rf .venv .venv-bench .venv-peers .venv-prompts .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/run: requirements/run.txt requirements/build.txt pyproject.toml | .venv/bin/python
	$(PIP) --require-hashes -r requirements/build.txt -r requirements/run.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/dev: requirements/dev.txt .venv/run
	$(PIP) --require-hashes -r requirements/dev.txt
	@touch $@
