# Every target builds what it needs: a fresh clone and Python 3.11+ are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.runs
READY := $(VENV)/.ready
WORKERS ?= auto

.DEFAULT_GOAL := help
.PHONY: help setup format lint types imports quick test coverage check bounds lowest test-aws faults kills attack cloud airflow bench docs demo package wheel clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | expand -t 12

setup: $(READY) ## Build the virtual environment

INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Runtime dependencies come first: the demo does not need the test tools.
$(RUNS): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable ".[server]"
	@touch $(RUNS)

$(READY): $(RUNS)
	$(INSTALL) --editable ".[server,holidays,dev]"
	@touch $(READY)

format: $(READY) ## Format the code
	$(BIN)/ruff check --quiet --fix src tests benchmarks
	$(BIN)/ruff format --quiet src tests benchmarks

lint: $(READY) ## Lint the code and check its format
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks

types: $(READY) ## Check the types
	$(BIN)/mypy

imports: $(READY) ## Check that imports point inwards
	$(BIN)/lint-imports

.PHONY: browser screenshots
# The page tests need a browser. Without one they are skipped with a message; in CI they fail.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	    { apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends chromium >/dev/null; }; } || \
	  echo "no chromium found: the page tests will be skipped; to run them, apt-get install chromium"

.PHONY: compiler
# The power-cut test records the server's calls with a small C library. As above.
compiler:
	@command -v cc >/dev/null || command -v gcc >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	    { apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends gcc libc6-dev >/dev/null; }; } || \
	  echo "no C compiler found: the power-cut test will be skipped; to run it, apt-get install gcc libc6-dev"

.PHONY: faketime
# The attack moves the clock of a server with this library; without it, it prints a message and skips that part.
faketime:
	@ls /usr/lib/*/faketime/libfaketimeMT.so.1 >/dev/null 2>&1 || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	    { apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends libfaketime >/dev/null; }; } || \
	  echo "no libfaketime found: the clock will not be moved; to include that, apt-get install libfaketime"

quick: $(READY) ## Check what changed since main: lint, types, and the tests next to it
	$(BIN)/python tests/quick.py

test: $(READY) browser compiler faketime ## Run the whole test suite
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q

coverage: $(READY) ## Check that the tests cover every branch of the domain
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q tests/domain tests/test_conformance.py --ignore=tests/domain/test_time_properties.py
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --include='src/interlock/domain/*' --show-missing --skip-covered --fail-under=100

# The emulator has its own environment: its functions see only what is installed there.
EMULATOR := $(VENV)/emulator

$(EMULATOR)/.ready: tests/emulated/requirements.txt | $(READY)
	$(PYTHON) -m venv --clear $(EMULATOR)
	$(EMULATOR)/bin/python -m pip install --quiet --disable-pip-version-check --requirement tests/emulated/requirements.txt
	@touch $(EMULATOR)/.ready

test-aws: $(EMULATOR)/.ready ## Deploy the AWS backend to an emulator, and test it end to end
	INTERLOCK_TEST_EMULATOR=$(abspath $(EMULATOR))/bin/ministack $(BIN)/python -m pytest -q tests/emulated

# The costliest tests try a sample in `make test`, and all of it here.
check: export INTERLOCK_TEST_BUDGET = full
check: lint types imports coverage lowest test test-aws ## Run every check that must pass before a commit lands

lowest: $(READY) ## Test with the lowest versions of the dependencies that pyproject.toml allows
	cd tests && ../$(BIN)/python -m bounds --set lowest --python ../$(BIN)/python --workers $(WORKERS)

bounds: $(READY) ## Test with the lowest and the newest versions, on each installed Python of 3.11, 3.12 and 3.13
	cd tests && ../$(BIN)/python -m bounds --workers $(WORKERS)

faults: $(READY) ## Play every scenario with every fault
	$(BIN)/interlock simulate --quiet --faults scenarios/*.yaml

cloud: $(READY) ## Play every scenario on the AWS functions
	INTERLOCK_EVERY_SCENARIO=1 $(BIN)/python -m pytest -q -n $(WORKERS) tests/aws/test_scenarios.py

# Airflow has hundreds of dependencies, so it is installed outside the project.
AIRFLOW_VENV ?= $(or $(TMPDIR),/tmp)/interlock-airflow

airflow: $(READY) ## Test jobs against a real Airflow 3, installed in AIRFLOW_VENV
	test -x $(AIRFLOW_VENV)/bin/airflow || { $(PYTHON) -m venv $(AIRFLOW_VENV) && $(AIRFLOW_VENV)/bin/pip install --quiet "apache-airflow>=3,<4"; }
	INTERLOCK_TEST_AIRFLOW=$(AIRFLOW_VENV)/bin/airflow $(BIN)/python -m pytest -q -v tests/adapters/jobs/test_real_airflow.py

kills: $(READY) ## Kill the real server 500 times under load, and audit its records
	cd tests && ../$(BIN)/python -m crash.kill_loop 500

# Duration and random seed: make attack SECONDS=600 SEED=7
SECONDS ?= 3600
SEED ?= $(shell date +%s)

attack: $(READY) faketime ## Inject every fault into the real server for an hour, and audit its records
	cd tests && ../$(BIN)/python -m attack $(SECONDS) --seed $(SEED)

bench: $(READY) ## Run the benchmarks (about 15 minutes) and update benchmarks/results/LATEST.md and the README
	$(BIN)/python -m benchmarks

docs: $(READY) ## Regenerate the reference pages
	$(BIN)/python -m docs.generate
	cd tests && ../$(BIN)/python -m cli.mistakes

screenshots: $(READY) browser ## Retake the screenshots of the pages
	$(BIN)/python -m docs.screenshots

demo: $(RUNS) ## Run live pipelines with simulated sources; stop with Ctrl-C
	$(BIN)/interlock demo || test $$? -eq 130

# The platform of the AWS functions: ARCH=x86_64 for the other architecture, RUNTIME for another Python.
ARCH ?= arm64
RUNTIME ?= 3.13

package: $(READY) ## Build the zip of the AWS functions, for deploy/terraform
	$(BIN)/python deploy/package.py --arch $(ARCH) --python $(RUNTIME)

wheel: $(READY) ## Build the wheel and the source archive
	$(INSTALL) build
	$(BIN)/python -m build --outdir dist

clean: ## Remove build products
	rm -rf $(VENV) dist build .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
