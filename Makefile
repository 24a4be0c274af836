# Two targets do everything on a fresh machine: `make demo` shows it, `make test` proves it. `make help` lists the rest.
SHELL := /bin/sh
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
CHECK := .check
BIN := $(VENV)/bin
# Tests run real programs and terminals: with more processes than processors some of those would be kept waiting too long.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(os.cpu_count() or 1)')

.PHONY: help setup fix check test bench demo docs clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile

$(VENV)/ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "tocsin needs Python 3.11 or later; none was found. Set PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev]'
	@touch $@

setup: $(VENV)/ready ## make .venv with tocsin (editable) and what its tests need

demo: setup ## see the line at work: a scripted agent, a dev server that breaks
	$(BIN)/tocsin demo

fix: setup ## format, and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Everything is checked against the installed wheel, in a venv of its own: that proves the list of packages complete.
$(CHECK)/ready: $(VENV)/ready
	$(PYTHON) -m venv $(CHECK)
	@touch $@

check: setup $(CHECK)/ready ## format, lint and types, against the installed wheel
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	rm -rf build dist
	$(BIN)/python -m build --wheel --outdir dist . >/dev/null
	$(CHECK)/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls $$PWD/dist/*.whl)[dev]"
	$(CHECK)/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps dist/*.whl
	$(CHECK)/bin/mypy -p tocsin --strict

test: check ## check, then every test against the installed wheel
	$(CHECK)/bin/pytest -q -n $(WORKERS) --dist loadfile

bench: setup ## measure, and print figure, goal and what was reached
	$(BIN)/python benchmarks/run.py

docs: setup ## make the generated parts of the documentation again
	$(BIN)/python -m tocsin.edges.sources.catalogue_table > docs/catalogue.md

clean: ## remove what was built
	rm -rf $(VENV) $(CHECK) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
