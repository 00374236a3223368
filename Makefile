# `make demo` and `make test` set themselves up: a virtual environment in .venv, locked dependencies, then the job.
# The first Python that is new enough; `make PYTHON=...` names another.
IS_NEW_ENOUGH = import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(or $(firstword $(foreach python,python3 python3.13 python3.12 python3.11, \
	$(shell $(python) -c '$(IS_NEW_ENOUGH)' 2>/dev/null && echo $(python)))),python3)
VENV ?= .venv
BIN := $(VENV)/bin
UV := VIRTUAL_ENV=$(VENV) $(BIN)/uv
COMPILE = $(UV) pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
	--no-emit-index-url --no-emit-find-links --no-annotate

.PHONY: demo test lint types layers tests docs lowest bench lock clean

demo: $(VENV)/.demo
	@$(BIN)/python examples/demo.py

test: lint types layers tests

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.dev
	$(BIN)/basedpyright

layers: $(VENV)/.dev
	$(BIN)/lint-imports --no-cache

tests: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --maxprocesses=8 --cov --cov-report=term -m "not slow"

# The tests again, with the oldest versions that pyproject.toml allows.
lowest:
	@$(MAKE) --no-print-directory VENV=.venv-lowest .venv-lowest/.lowest
	.venv-lowest/bin/python -m pytest -n auto --maxprocesses=8 -m "not slow"

# A link that leads nowhere stops it.
docs: $(VENV)/.dev
	@PYTHONPATH=docs $(BIN)/python -m reference build/docs
	@$(BIN)/zensical build --clean --strict
	@echo "Open site/index.html"

# The peers live in an environment of their own, so that tests never see them.
bench:
	@$(MAKE) --no-print-directory VENV=.venv-bench .venv-bench/.bench
	@for script in bench/*.py; do echo "== $$script"; .venv-bench/bin/python $$script || exit 1; done

lock: $(VENV)/.uv
	$(COMPILE) --group uv -o requirements/uv.txt
	$(COMPILE) pyproject.toml --all-extras -o requirements/demo.txt
	$(COMPILE) pyproject.toml --all-extras --group dev -o requirements/dev.txt
	$(COMPILE) pyproject.toml --all-extras --group dev --resolution lowest-direct -o requirements/lowest.txt
	$(COMPILE) pyproject.toml --all-extras --group dev --group bench -o requirements/bench.txt

clean:
	rm -rf $(VENV) .venv-lowest .venv-bench build site .coverage .pytest_cache .ruff_cache .hypothesis dist

$(VENV)/.uv: requirements/uv.txt
	@$(PYTHON) -c '$(IS_NEW_ENOUGH)' || { echo "Calibrant needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "This Python cannot make virtual environments: install its venv module (Debian: python3-venv)."; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@

$(VENV)/.demo $(VENV)/.dev $(VENV)/.lowest $(VENV)/.bench: $(VENV)/.%: requirements/%.txt pyproject.toml | $(VENV)/.uv
	@echo "Setting up $(VENV) (once) ..."
	@$(UV) pip install --quiet --require-hashes -r $<
	@$(UV) pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@
