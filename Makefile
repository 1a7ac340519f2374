# Every command makes its own .venv; nothing but Python 3.11 or later is expected on the machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-slow check format bench eval train clean

$(VENV)/core: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "assay needs Python 3.11 or later, this is " + sys.version.split()[0])'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/dev: $(VENV)/core
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: $(VENV)/core  ## check a shipped answer against its evidence and show the report
	@$(BIN)/assay check examples/parental-leave/answer.md --evidence examples/parental-leave/evidence \
		--question @examples/parental-leave/question.txt --policy rag || test $$? -eq 1

test: $(VENV)/dev  ## the tests that every change must pass
	$(BIN)/python -m pytest -m 'not slow'

test-slow: $(VENV)/dev  ## the tests that take minutes
	$(BIN)/python -m pytest -m slow

check: $(VENV)/dev  ## linters, types, layers and tests: what CI runs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -m 'not slow'

format: $(VENV)/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/core  ## speed on this machine
	$(BIN)/assay bench

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
