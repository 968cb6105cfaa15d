# Two commands matter: `make report` runs the main job, `make test` the tests.
# Each installs what it needs into .venv; a fresh machine needs Python 3.11 and make.

PYTHON ?= python3
BIN := .venv/bin
REPORT_READY := .venv/.ready-report
READY := .venv/.ready
DOCS_READY := .venv/.ready-docs
# One thread for each process: the processes are the parallelism.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
# Tests start many processes: what one has compiled, the others read, even where Python is told to keep nothing.
COMPILED_ONCE := PYTHONDONTWRITEBYTECODE=
PYTEST := $(ONE_THREAD) $(COMPILED_ONCE) $(BIN)/python -m pytest -n auto --dist worksteal --ignore tests/benchmarks

.PHONY: report test suite test-long test-slow lint rocq counterexamples slack bench docs dist clean

report: $(REPORT_READY)
	$(BIN)/fedtheory report -o site

# Lint takes one core for half a minute: the tests go on beside it.
test: $(READY)
	@$(MAKE) --no-print-directory -j2 lint suite

suite: $(READY)
	$(PYTEST) -m "not long and not slow and not rocq"

# What takes seconds by its nature: searches, browsers, whole sites, all recorded verdicts. Asked before a change lands.
test-long: $(READY)
	$(PYTEST) -m "long and not slow and not rocq"

# The rest, which takes hours: stopped and begun again, it leaves out what has passed on the code as it is.
test-slow: $(READY)
	$(PYTEST) --resume -v -m slow --timeout 10000
	FUZZ=8 $(PYTEST) --resume -v --timeout 10000 $(wildcard tests/cli/test_cli_fuzz_*.py)

lint: $(READY)
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .
	$(BIN)/mypy

# Proved claims as theorems, checked by Rocq (Debian's package coq), and false ones that it refuses; the list of those
# that it accepts is written again.
rocq: $(READY)
	@if command -v coqc > /dev/null; then \
	  $(BIN)/fedtheory rocq -o build/rocq > /dev/null && cd build/rocq && coq_makefile -f _CoqProject -o Makefile \
	  && $(MAKE) --silent -j2 > check.log && cd ../.. && $(BIN)/python -m verify.rocq.accepted build/rocq \
	  && $(BIN)/python -m verify.rocq.unchecked docs/trust.md \
	  && $(PYTEST) -m "rocq and not slow"; \
	else echo "coqc is missing: no theorem is checked"; fi

# The smallest known counterexample of each refuted claim, found and shrunk again.
counterexamples: $(READY)
	$(ONE_THREAD) $(BIN)/python -m verify.counterexamples

# The runs that need most of each proved bound, looked for again.
slack: $(READY)
	$(ONE_THREAD) $(BIN)/python -m verify.slack

# Ratios of costs within one run; they become the table of the documentation.
bench: $(READY)
	$(ONE_THREAD) $(COMPILED_ONCE) $(BIN)/python -m pytest tests/benchmarks -m slow --timeout 10000 --benchmark-json .benchmarks.json
	$(BIN)/python tests/benchmarks/table.py .benchmarks.json docs/explanation/costs.md

# The documentation, with its notebooks executed; build/docs/index.html works without network.
docs: $(DOCS_READY)
	$(ONE_THREAD) $(BIN)/sphinx-build -W --keep-going -b html docs build/docs

# The wheel and the source distribution, checked.
dist: $(DOCS_READY)
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

$(DOCS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

$(READY): $(REPORT_READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[course,dask,data,report,search,sweep,test,worst-case]'
	touch $@

# The report alone needs half of the packages.
$(REPORT_READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[data,report,worst-case]'
	# Modules that are compiled beforehand load in half the time, also where Python may write no bytecode.
	$(BIN)/python -m compileall -q fedtheory verify report
	touch $@

clean:
	rm -rf .venv site build dist .mypy_cache .ruff_cache .pytest_cache
