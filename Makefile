# Two commands are enough: `make run` and `make test`. Each sets up what it needs first.
.DEFAULT_GOAL := help
PY := .venv/bin/python
SOURCES := src tests functions examples bench

help: ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

.venv/.ready: requirements/dev.txt pyproject.toml
	@python3 -m venv .venv 2>/dev/null || { python3 -m pip install --quiet --user virtualenv && python3 -m virtualenv --quiet .venv; }
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

setup: .venv/.ready ## make the virtual environment in .venv

run: .venv/.ready ## the local cloud with the example app
	@.venv/bin/duetime local --app examples.billing:app

test: .venv/.ready ## the suite: memory back ends and moto
	$(PY) -m pytest -m "not dynamodb_local" -n 2

contract: .venv/.ready ## the contract suite on Amazon's DynamoDB Local (needs Java 17 and npm)
	$(PY) -m pytest -m dynamodb_local tests/contract

check: .venv/.ready ## formatting, lint, types, import rules
	.venv/bin/ruff format --check $(SOURCES)
	.venv/bin/ruff check $(SOURCES)
	.venv/bin/mypy
	.venv/bin/lint-imports

lock: .venv/.ready ## compile requirements/dev.txt anew from pyproject.toml
	$(PY) -m pip install --quiet uv
	.venv/bin/uv pip compile --quiet --universal --no-header --no-emit-index-url --no-annotate --python-version 3.11 \
	    --all-extras --group dev pyproject.toml --output-file requirements/dev.txt

clean: ## remove what was made
	rm -rf .venv .cache .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

.PHONY: help setup run test contract check lock clean
