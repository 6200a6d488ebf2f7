# Two commands do everything, set-up included: `make book` and `make test`.
# They need make, git and Python >= 3.11 with venv; `make help` lists the rest.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help

# The first Python that is new enough; 3.11 first because the pins were made with it.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
OLDEST ?= build/oldest
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

# Bytecode is kept as modules are first read: compiling all packages at the start takes ten times that.
unexport PYTHONDONTWRITEBYTECODE

# uv does not read pip's settings: hand on the folder of wheels and the index that pip would use.
LINKS := $(or $(PIP_FIND_LINKS),$(if $(PYTHON),$(shell $(PYTHON) -m pip config get global.find-links 2>/dev/null)))
INDEX := $(or $(PIP_INDEX_URL),$(if $(PYTHON),$(shell $(PYTHON) -m pip config get global.index-url 2>/dev/null)))
UV_FLAGS := $(foreach link,$(LINKS),-f $(link)) $(if $(INDEX),--default-index $(INDEX))

# The environment is made again when its description or the interpreter changes, and only then:
# the stamp's name is a hash of their contents (a checkout touches times, not contents).
KEY := $(if $(PYTHON),$(shell $(PYTHON) -c 'import hashlib, sys; \
	parts = [open(name, "rb").read() for name in ("pyproject.toml", "constraints.txt")]; \
	print(hashlib.sha256(b"".join([*parts, sys.version.encode()])).hexdigest()[:16])'))
STAMP := $(VENV)/.installed-$(KEY)

STRIP := --keep-output --keep-count --keep-id --extra-keys "metadata.papermill metadata.widgets \
	metadata.language_info.version cell.metadata.papermill cell.metadata.execution"

.PHONY: help env book lab test lint types notebooks about bench rounding oldest clean

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

env: $(STAMP) ## the environment in .venv (the other targets call it)

$(STAMP):
ifeq ($(PYTHON),)
	@echo "make: no Python >= 3.11 found: install one, or name it with PYTHON=/path/to/python3" >&2; exit 2
endif
	@echo "== environment in $(VENV), with $$($(PYTHON) --version)"
	@want=$$($(PYTHON) -c 'import sys; print(sys.version)'); \
	have=$$($(BIN)/python -c 'import sys, pip; print(sys.version)' 2>/dev/null || true); \
	[ "$$want" = "$$have" ] || $(PYTHON) -m venv --clear $(VENV) || \
	{ echo "make: $(PYTHON) cannot make a virtual environment: install its venv package (Debian: python3-venv)" >&2; exit 2; }
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt uv
	@$(BIN)/uv pip install --quiet --python $(BIN)/python $(UV_FLAGS) \
		--constraint constraints.txt --build-constraint constraints.txt --editable '.[dev]'
	@rm -f $(VENV)/.installed-*
	@touch $@

book: $(STAMP) ## run all notebooks at smoke scale and render the book; last line: the page to open
	@$(BIN)/xlrepro book --profile smoke --jobs $(JOBS)

lab: $(STAMP) ## open the notebooks in JupyterLab
	@$(BIN)/jupyter lab notebooks

test: $(STAMP) ## unit tests, golden numbers, notebooks; nothing to do if nothing changed since they passed
	@$(BIN)/python -m tests.run --jobs $(JOBS)

lint: $(STAMP) ## ruff, its formatter, and the import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports

types: $(STAMP) ## mypy
	@$(BIN)/mypy

# The vector instructions of ATen, MKL, oneDNN and OpenBLAS are turned down to those of any x86-64.
rounding: $(STAMP) ## a golden trial of each kind once more, rounded as another processor does
	@ATEN_CPU_CAPABILITY=default MKL_CBWR=COMPATIBLE ONEDNN_MAX_CPU_ISA=SSE41 OPENBLAS_CORETYPE=Nehalem \
		$(BIN)/python -m tests.rounding

# With the newest of all else. PyPI's torch for Linux brings CUDA, some gigabytes: CI on GitHub runs it.
oldest: ## the oldest torch that pyproject.toml names, in a venv of its own: a smoke trial of two models
	@$(PYTHON) -m venv $(OLDEST)
	@$(OLDEST)/bin/pip install -q -e . "torch==$$(sed -n 's/^ *"torch>=\(.*\)",/\1/p' pyproject.toml).*"
	@$(OLDEST)/bin/python -c 'import torch; print("torch", torch.__version__)'
	@export XLREPRO_BUILD=$$(mktemp -d); run() { $(OLDEST)/bin/xlrepro run "$$1" --systems "$$2" --seeds 0 --device cpu; }; \
		run word_order/table2 word:ORT && run sense_alignment/table2 wsd:SaELMo

# In place, as committed: outputs stay, what differs from run to run goes.
notebooks: $(STAMP) ## run all notebooks at smoke scale and write their outputs into them, to commit
	@OMP_NUM_THREADS=1 TQDM_DISABLE=1 $(BIN)/jupyter-execute --inplace notebooks/*/*.ipynb
	@$(BIN)/nbstripout $(STRIP) notebooks/*/*.ipynb

about: $(STAMP) ## what this machine is, for a bug report or before a long run
	@$(BIN)/python -m xlrepro.machine

bench: $(STAMP) ## speed and memory against peers
	@$(BIN)/python -m benchmarks.run --device auto

clean: ## remove everything that can be made again, the environment included; records stay
	@rm -rf $(VENV) *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name records -exec rm -rf {} +; fi
