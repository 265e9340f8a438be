# What a contributor needs each day. `make run` and `make test` install their requirements first.
# The other commands are `python -m tools NAME`; CONTRIBUTING.md lists when to run which.
.DEFAULT_GOAL := help
PY := .venv/bin/python
TOOLS := @$(PY) -m tools
SEEDS ?= 20000
PORT ?= 8080

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

.venv/.ready: requirements/dev.txt pyproject.toml contract/pyproject.toml
	@echo "Installing the Python packages of requirements/dev.txt into .venv: about two minutes."
	@python3 -m venv .venv 2>/dev/null || { python3 -m pip install --quiet --user virtualenv && python3 -m virtualenv --quiet .venv; }
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . -e ./contract
	@touch $@

node_modules/.ready: package.json package-lock.json
	@echo "Installing the packages of package-lock.json into node_modules: some seconds."
	@command -v npm >/dev/null || { echo "npm is missing: install Node 20 or later with npm, for example apt-get install nodejs npm" >&2; exit 1; }
	@npm ci --silent
	@touch $@

CONSOLE := src/duetime/console/built/index.html
$(CONSOLE): node_modules/.ready docs/openapi.json $(shell find console -type f ! -name '*.d.ts')
	@node console/build.mjs

setup: .venv/.ready $(CONSOLE) ## install the virtual environment and the CDK's command line, and build the console

run: setup ## run a local cloud with the example app, the admin API and the console (PORT=8080)
	@.venv/bin/duetime local --app examples.shop:app --mail-to ops@acme.example --port $(PORT)

test: setup ## run the suite over memory, SQLite and moto
	$(TOOLS) test

check: setup ## check format, lint, types, import rules, bounds, words and docs, and synthesise the stack
	$(TOOLS) check

proof: setup ## simulate random worlds, remove guards and check the TLA+ models (SEEDS=20000)
	$(TOOLS) proof --seeds $(SEEDS)

contract: setup ## run the contract suite on Amazon's DynamoDB Local
	$(TOOLS) contract

browser: setup ## test the console in a real browser
	$(TOOLS) browser

e2e: setup ## deploy onto an emulator of AWS, and drill restores and failovers
	$(TOOLS) e2e

bench: setup ## measure performance against references and other schedulers
	$(TOOLS) bench

docs: setup ## build the documentation site in site/
	$(TOOLS) docs

release: setup ## release VERSION=x.y.z: changelog, archives, bills of materials, a commit and a tag here
	@$(PY) -m tools.release "$(VERSION)"

clean: ## remove all built files
	rm -rf .venv node_modules cdk.out dist site .cache .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis src/duetime/console/built

.PHONY: help setup run test check proof contract browser e2e bench docs release clean
