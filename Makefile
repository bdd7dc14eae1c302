# Needs Python 3.11 or newer, git and make; everything else goes into $(VENV), and only when it changed.
#
#   make demo       the order scenario, from start to audit; ARGS="--keep DIR" keeps the store
#   make test       the tests; PYTEST_ARGS="tests/store -x" picks some
#   make ci         what a change must pass: lint, types, imports, package, demo, examples, tests
#   make help       every target

VENV ?= .venv
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
ARGS ?=
PYTEST_ARGS ?=
LOCK_ARGS ?=

BIN := $(VENV)/bin
RUNTIME := $(VENV)/.midcourse-runtime
DEV := $(VENV)/.midcourse-dev
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--custom-compile-command 'make lock' $(LOCK_ARGS) pyproject.toml
# An example is a module, or a folder with a __main__.py; a name with a leading underscore is a helper.
EXAMPLES := $(subst /,.,$(patsubst %/__main__.py,%,$(wildcard examples/*/__main__.py)) \
	$(basename $(filter-out examples/_%,$(wildcard examples/*.py))))
BENCHMARKS := $(filter-out benchmarks/_%,$(wildcard benchmarks/*.py))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup demo test lint format types imports examples bench ci lock clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' Makefile | expand -t 12

setup: $(DEV) ## an environment for development in $(VENV)

demo: $(RUNTIME) ## the order scenario, from start to audit
	@$(BIN)/midcourse demo $(ARGS)

test: $(DEV) ## the tests
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(DEV) ## style and likely bugs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(DEV) ## format the code and mend what can be mended without thought
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(DEV) ## static types; the link gives the root its name as a package
	@mkdir -p .typing && ln -sfn .. .typing/midcourse
	$(BIN)/mypy

imports: $(DEV) ## the import contracts
	$(BIN)/lint-imports

examples: $(RUNTIME) ## run every example
	@set -e; for example in $(EXAMPLES); do echo "$$example"; $(BIN)/python -m "midcourse.$$example"; done

bench: $(DEV) ## run every benchmark, one question a file
	@set -e; for benchmark in $(BENCHMARKS); do echo "$$benchmark"; $(BIN)/python "$$benchmark"; done

ci: ## what a change must pass, in environments of its own
	@bash .ci/run

lock: $(DEV) ## pin the dependencies anew; LOCK_ARGS=--upgrade takes newer releases
	$(LOCK) --extra postgres --group dev --output-file requirements/dev.txt
	$(LOCK) --group build --constraint requirements/dev.txt --output-file requirements/runtime.txt

clean: ## remove all that the other targets made
	rm -rf $(VENV) .typing build dist *.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment is a virtual environment with every package of a lock file, and Midcourse itself editable.
# A folder that is already there is kept if its Python fits, and brought up to the lock.
define environment
	@if ! $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		if test -z "$(PYTHON)"; then \
			echo 'Midcourse needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11' >&2; exit 1; fi; \
		"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
			echo 'Midcourse needs Python 3.11 or newer; $(PYTHON) is not. Name one: make PYTHON=...' >&2; exit 1; }; \
		"$(PYTHON)" -m venv --clear $(VENV); fi
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	@echo "Setting up $(VENV) from $(1)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(1)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
endef

$(RUNTIME): pyproject.toml requirements/runtime.txt
	$(call environment,requirements/runtime.txt)
	@touch $@

$(DEV): pyproject.toml requirements/runtime.txt requirements/dev.txt
	$(call environment,requirements/dev.txt)
	@touch $(RUNTIME) $@
