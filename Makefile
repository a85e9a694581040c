# Two commands do everything on a fresh machine with Python 3.11 or later (with venv), make and git:
#   make play     make test
PYTHON ?= python3
BIN := .venv/bin
SOURCES := src tests tools examples

.PHONY: help play serve test test-all check docs proof screenshots constraints ppo clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

.venv/made:
	@$(PYTHON) -c 'import sys; sys.exit("piste needs Python 3.11 or later; this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@echo "Setting up .venv (once)..."
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/core: .venv/made pyproject.toml
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[fast]'
	@touch $@

.venv/web: .venv/made pyproject.toml
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[fast,web]'
	@touch $@ .venv/core

.venv/dev: .venv/made pyproject.toml
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@ .venv/core .venv/web

play: .venv/core  ## play at the terminal
	@$(BIN)/piste

serve: .venv/web  ## open tables in the browser, for this computer and phones in its network
	@$(BIN)/piste serve

check: .venv/dev  ## formatter check, linter, strict type check
	@$(BIN)/ruff format --check --quiet $(SOURCES) || { $(BIN)/ruff format --diff $(SOURCES); exit 1; }
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/mypy

test: check  ## formatter check, linter, strict type check and the tests that are quick and need nothing else
	@$(BIN)/python -m pytest -n 2 --dist worksteal --quick

test-all: check  ## the same with every test, at its usual size: real browsers and proxies too
	@$(BIN)/python -m pytest -n 2 --dist worksteal

.venv/docs: .venv/dev
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[docs]'
	@touch $@

docs: .venv/docs  ## build the documentation site in build/site; a broken link is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict  # with --quiet a broken link would pass
	@echo "Open build/site/index.html"

proof: .venv/dev  ## the same checks at full size (hours); writes what it found under docs/proof/
	@$(BIN)/python -m tests.full_checks

screenshots: .venv/dev  ## take pictures of every page and phase in Chromium; build/screenshots/index.html shows them
	@$(BIN)/python -m tests.browser.screenshots build/screenshots

constraints: .venv/dev  ## pin what a server is installed with, as it is installed here: constraints.txt
	@$(BIN)/python -m tools.constraints

ppo: .venv/dev  ## train a maskable PPO against a bot (installs torch, some gigabytes)
	@$(BIN)/python -m pip install -q --disable-pip-version-check sb3-contrib
	@$(BIN)/python examples/maskable_ppo.py

clean:  ## remove what the other targets made
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build
