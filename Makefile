# Everything runs in .venv, which is made when it is first needed. Mirrors and proxies are pip's
# business: it reads PIP_INDEX_URL and the like from your environment, nothing is set here.
#
#   make consolidate                     the demo
#   make consolidate DB=notes.db         a store of yours; AGENT=name and ARGS="--profile careful"
#   make test ARGS="-k store"            some of the tests
#   make install PYTHON=python3.13       another interpreter

PYTHON ?= python3 python3.13 python3.12 python3.11
VENV ?= .venv
WORKSHOP ?= .venv-models
TORCH_INDEX ?=
ARGS ?=
AGENT ?=
DB ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
INSTALLED := $(VENV)/.installed
DEVELOPED := $(VENV)/.installed-dev

.DEFAULT_GOAL := help
.PHONY: help install consolidate test check format lint typecheck bench eval models models-env bundle bundle-test clean

help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

install: $(INSTALLED) ## Make .venv with the default dependencies and the bundled models

consolidate: $(INSTALLED) ## Consolidate the store DB=path; without it, a demo
ifeq ($(strip $(DB)),)
	@$(BIN)/consolidate demo $(if $(AGENT),--agent "$$AGENT") $(ARGS)
else
	@$(BIN)/consolidate run --db "$$DB" $(if $(AGENT),--agent "$$AGENT") $(ARGS)
endif

test: $(DEVELOPED) ## Run the tests
	@$(BIN)/python -m pytest $(ARGS)

check: $(DEVELOPED) ## All that has to hold before a change goes in: format, lint, types, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

format: $(DEVELOPED) ## Bring the code into form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only --quiet .

lint: $(DEVELOPED) ## Look for mistakes without running anything
	$(BIN)/ruff check .

typecheck: $(DEVELOPED) ## Check the types
	$(BIN)/mypy

bench: $(DEVELOPED) ## Measure speed and memory
	$(BIN)/python -m eval.bench $(ARGS)

eval: $(DEVELOPED) ## Score the bundled models on the labelled sets
	$(BIN)/python -m eval.run $(ARGS)

models: ## Say how the model files are made
	@echo "The model files lie in models/weights; 'make install' installs them and needs no more."
	@echo "Making them anew needs the workshop, about 1.3 GB of libraries, kept out of $(VENV):"
	@echo
	@echo "  make models-env"
	@echo "  $(WORKSHOP)/bin/python -m models.train.judge --help    tune the judge"
	@echo "  $(WORKSHOP)/bin/python -m models.export --help         torch to ONNX"
	@echo "  $(WORKSHOP)/bin/python -m models.quantize --help       8-bit weights"
	@echo "  $(WORKSHOP)/bin/python -m models.verify --help         compare with torch"
	@echo "  $(BIN)/python -m eval.calibrate              thresholds for the new files"
	@echo
	@echo "The cards beside the files name the sources that training starts from."

models-env: $(WORKSHOP)/.installed-workshop ## Make .venv-models: torch, transformers, optimum, gliner (1.3 GB)

bundle: $(INSTALLED) ## Make one archive that installs without a network, in dist/
	@$(BIN)/python -m models.bundle build $(ARGS)

bundle-test: $(INSTALLED) ## Install the newest bundle where no network is, and try it
	@$(BIN)/python -m models.bundle test $(ARGS)

clean: ## Remove .venv, .venv-models, caches and build products; stores are left alone
	rm -rf $(VENV) $(WORKSHOP) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov
	rm -rf *.egg-info models/weights/*.egg-info models/weights/build
	find consolidate eval models tests -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- the environment

$(INSTALLED): $(BIN)/python pyproject.toml consolidate/version.py models/weights/pyproject.toml
	@echo "Installing consolidate and its models into $(VENV) (once, about a minute) ..."
	@$(PIP) -e . -e models/weights
	@touch $@

$(DEVELOPED): $(INSTALLED)
	@echo "Installing what the tests need into $(VENV) ..."
	@$(PIP) -e '.[dev]'
	@touch $@

# torch comes first, by itself: with the others in one go, pip may take another build of it.
$(WORKSHOP)/.installed-workshop: models/requirements.lock pyproject.toml
	@$(MAKE) --no-print-directory VENV=$(WORKSHOP) $(WORKSHOP)/bin/python
	@echo "Installing the workshop into $(WORKSHOP) (1.3 GB, some minutes) ..."
	@$(WORKSHOP)/bin/python -m pip install --quiet --disable-pip-version-check \
	    $(if $(TORCH_INDEX),--index-url "$(TORCH_INDEX)") "$$(grep '^torch==' models/requirements.lock)"
	@$(WORKSHOP)/bin/python -m pip install --quiet --disable-pip-version-check \
	    -r models/requirements.lock
	@$(WORKSHOP)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	    -e . -e models/weights
	@touch $@

# A candidate may be missing, too old, or (Debian without python3-venv) unable to make a venv with
# pip in it. Each is asked before a folder is made, so that nothing half-made is left behind.
$(BIN)/python:
	@seen=; \
	for candidate in $(PYTHON); do \
	    version=$$("$$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue; \
	    if ! "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
	        seen="$$seen; $$candidate is $$version"; \
	    elif ! "$$candidate" -c 'import ensurepip, venv' 2>/dev/null; then \
	        seen="$$seen; $$candidate $$version has no venv (on Debian: apt install python$$version-venv)"; \
	    else \
	        "$$candidate" -m venv $(VENV) && exit 0; \
	        rm -rf $(VENV); \
	        seen="$$seen; $$candidate $$version could not make $(VENV), see above"; \
	    fi; \
	done; \
	echo "consolidate needs Python 3.11 or newer with venv$${seen:-; none of '$(PYTHON)' is there}." >&2; \
	echo "Name another one with: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; \
	exit 1
