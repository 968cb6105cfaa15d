# Two commands matter: `make report` runs the main job, `make test` the tests.
# Each installs what it needs into .venv; a fresh machine needs Python 3.11 and make.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: report test test-slow lint bench clean

report: $(READY)
	$(BIN)/fedtheory report -o site

test: lint
	$(BIN)/python -m pytest -n auto -m "not slow"

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow

lint: $(READY)
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m pytest tests/benchmarks -m slow -s

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[data,report,test]'
	touch $@

clean:
	rm -rf .venv site build dist .mypy_cache .ruff_cache .pytest_cache
