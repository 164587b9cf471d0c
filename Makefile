# Everything a contributor runs. `make` alone lists it.
# On a fresh clone each target makes what it needs in .venv, from constraints.txt.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests wait for browsers, servers and locks about a third of the time.
WORKERS ?= $(shell $(PYTHON) -c "import os; print(max(2, 3 * (os.cpu_count() or 1) // 2))" 2>/dev/null || echo 2)
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check install

# Pins hold inside isolated builds too: older pips read the first, newer ones the second.
export PIP_CONSTRAINT := constraints.txt
export PIP_BUILD_CONSTRAINT := constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test check format soak bench docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.runtime ## the main job in one minute: no key, no network
	@$(BIN)/foveal demo

test: check ## what CI runs: every check, then every test
	@$(BIN)/python -m compileall -q src # hundreds of tests start processes of their own
	$(BIN)/python -m pytest --quiet --numprocesses=$(WORKERS) --dist=worksteal

check: $(VENV)/.test ## formatting, lint, types, direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.test ## rewrite the code the way `check` wants it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

soak: $(VENV)/.test ## the laws on 20 000 histories each, 200 crashes: takes hours
	FOVEAL_SOAK=1 $(BIN)/python -m pytest --numprocesses=logical -m soak tests

bench: $(VENV)/.bench ## every benchmark; results go to benchmarks/results
	$(BIN)/python benchmarks/run.py

docs: $(VENV)/.runtime ## rewrite the pages that are made from the code
	$(BIN)/python scripts/modules.py
	$(BIN)/python scripts/reference.py
	$(BIN)/python scripts/python_reference.py
	$(BIN)/python scripts/measured.py
	$(BIN)/python scripts/picture.py
	$(BIN)/python scripts/preset_pages.py

clean: ## remove the environment and every cache
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@for python in $(PYTHON) python3.13 python3.12 python3.11; do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    exec $$python -m venv $(VENV); \
	  fi; \
	done; \
	echo 'foveal needs Python 3.11 or newer and found none: name one with `make PYTHON=/path/to/python`' >&2; \
	exit 1

$(VENV)/.runtime: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[serve]'
	@touch $@

$(VENV)/.test: $(VENV)/.runtime
	$(PIP) --editable '.[test]'
	@command -v chromium chromium-browser google-chrome >/dev/null \
	  || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get install --yes --quiet chromium >/dev/null; } \
	  || echo 'no Chromium here: the tests of the dashboard will be skipped'
	@touch $@

$(VENV)/.bench: $(VENV)/.runtime
	$(PIP) --editable '.[bench]'
	@touch $@
