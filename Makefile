# Everything a developer does here. `make help` lists it. Needs Python 3.11 or later with pip and venv.

VENV ?= .venv
PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$name && break; done)
BIN := $(VENV)/bin
WORKERS ?= auto
ARGS ?=
PINS ?= --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help run test test-all check format screenshots recording goldens bench peers clients pins release-check clean
.DELETE_ON_ERROR:

help: ## show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  WORKERS=0 runs the tests one after the other"
	@echo "  ARGS=... is handed on, for example: make test ARGS='-k receive -x'"

run: $(VENV)/.installed ## set up, then open the console on a simulated team
	$(BIN)/team-console demo $(ARGS)

test: $(VENV)/.tested ## set up, then run the quick tests
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal -m "not slow" $(ARGS)

test-all: $(VENV)/.tested ## set up, then run every test, the slow ones too
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal $(ARGS)

check: $(VENV)/.checked ## set up, then lint and check types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.checked ## put imports and layout in order
	$(BIN)/ruff check --select I --fix .
	$(BIN)/ruff format .

screenshots: $(VENV)/.installed ## draw the pictures in screenshots/ anew
	$(BIN)/python -m tests.screenshots $(ARGS)

recording: $(VENV)/.tested ## record the demo anew: screenshots/demo.cast and demo.svg
	$(BIN)/python -m tests.recording $(ARGS)

goldens: $(VENV)/.tested ## take over how every mode looks now; review the diff
	$(BIN)/python -m tests.goldens $(ARGS)

bench: $(VENV)/.tested ## measure speed against peers and print the table
	$(BIN)/python -m tests.proofs.benchmarks $(ARGS)

peers: $(VENV)/.tested ## install what `make bench` compares with; without them it leaves them out
	$(BIN)/python -m tests.proofs.benchmarks --set-up

pins: ## take the newest versions that pyproject.toml allows into constraints.txt
	rm -rf .venv-pins
	$(MAKE) .venv-pins/.checked VENV=.venv-pins PINS=
	{ sed -n '/^#/p' constraints.txt; .venv-pins/bin/python -m pip freeze --quiet --exclude-editable; } >constraints.new
	mv constraints.new constraints.txt
	rm -rf .venv-pins

clients: $(VENV)/.tested ## install real clients for `python -m tests.proofs.clients`; without them its tests are skipped
	$(BIN)/python -m tests.proofs.clients --install

release-check: $(VENV)/.tested ## build the release twice, compare, install it apart, try it
	rm -rf dist .venv-release
	$(BIN)/python -m build --outdir dist/first .
	$(BIN)/python -m build --outdir dist/second .
	cmp dist/first/*.tar.gz dist/second/*.tar.gz
	cmp dist/first/*.whl dist/second/*.whl
	$(BIN)/python -m venv .venv-release
	.venv-release/bin/python -m pip install --quiet --disable-pip-version-check $(PINS) dist/first/*.whl
	.venv-release/bin/team-console --version
	.venv-release/bin/team-console demo --headless 5
	MANPATH=.venv-release/share/man man team-console | grep -q "team-console"

clean: ## remove the environment and everything tools left behind
	rm -rf $(VENV) .venv-* build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.python:
	@test -n "$(PYTHON)" || { echo "team-console needs Python 3.11 or later; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "$(PYTHON) cannot make a virtual environment; on Debian: apt install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.installed: $(VENV)/.python pyproject.toml
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet $(PINS) --editable .
	@touch $@

$(VENV)/.tested: $(VENV)/.installed
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet $(PINS) --editable '.[postgresql,mcp,signatures,serve]' --group test
	@touch $@

$(VENV)/.checked: $(VENV)/.tested
	$(BIN)/python -m pip install --quiet $(PINS) --group check
	@touch $@
