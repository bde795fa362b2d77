# Two commands matter to a newcomer: `make run` and `make test`. Everything is installed into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: run test check format bench smoke kill clean

# The last commit of this repository, reviewed without a model; where it has no findings, a shipped change that has some.
run: $(VENV)/.product
	@$(BIN)/ferrule review --commit HEAD --model builtin/checks --no-session --fail-on nit; \
	case $$? in 0|2) echo; $(BIN)/ferrule demo review;; 10) ;; *) exit 1;; esac

test: $(VENV)/.dev $(VENV)/.servers
	$(BIN)/python -m pytest -n 2

check: $(VENV)/.dev
	$(BIN)/ruff format --check src tests bench scripts
	$(BIN)/ruff check src tests bench scripts
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/guard.py
	$(BIN)/python scripts/coverage_check.py

format: $(VENV)/.dev
	$(BIN)/ruff format src tests bench scripts
	$(BIN)/ruff check --fix src tests bench scripts

bench: $(VENV)/.dev
	$(BIN)/python -m bench

smoke: $(VENV)/.dev
	$(BIN)/python scripts/smoke.py

kill: $(VENV)/.dev $(VENV)/.servers
	$(BIN)/python -m pytest -m long tests/e2e tests/engine

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.product: $(VENV)/bin/python pyproject.toml
	$(PIP) install --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(PIP) install --editable '.[dev]'
	@touch $@ $(VENV)/.product

# Servers from npm that tests/mcp speaks with; without npm those tests are skipped, but not where CI is set.
SERVERS := tests/mcp/servers/package.json tests/mcp/servers/package-lock.json
$(VENV)/.servers: $(SERVERS) $(VENV)/bin/python
	@mkdir -p $(VENV)/servers && cp $(SERVERS) $(VENV)/servers/
	@if command -v npm >/dev/null; then cd $(VENV)/servers && npm ci --ignore-scripts --no-audit --no-fund --silent; \
	elif [ -n "$$CI" ]; then echo "npm is missing" >&2; exit 1; fi
	@touch $@
