# Every target sets up what it needs: a virtual environment in .venv and, where Spark runs, Java.
.DELETE_ON_ERROR:
.PHONY: setup demo test test-slow chaos mutants bench lint docs-check clean help

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JAVA := JAVA_HOME="$$(sh scripts/find-java)" && export JAVA_HOME
PYTEST := $(BIN)/python -m pytest
SPARK_PROCESSES ?= 2
# Whatever the environment says: tests start hundreds of Python processes, and without stored bytecode each of them compiles every source.
export PYTHONDONTWRITEBYTECODE :=

help:
	@echo "make demo        stream a market feed through two queries on a local Spark; results in ./demo-output"
	@echo "make test        all tests but the slow ones (SPARK_PROCESSES=n: those on Spark in n sessions of up to 1 GB beside each other)"
	@echo "make test-slow   the slow ones, and random tests with all their examples"
	@echo "make chaos       streaming jobs that are killed in every micro-batch and go on with other settings (CHAOS_SEED=n: at other moments)"
	@echo "make mutants     plants small changes into the engine, one at a time, and lists those that no test notices (MUTANTS='--seed 7 --count 20 --only kernels/scan')"
	@echo "make lint        ruff, the import rules, and mypy over the package"
	@echo "make bench       all benchmarks; regenerates docs/benchmarks.md"
	@echo "make docs-check  run the examples of README and docs"
	@echo "make clean       remove what the other targets made"

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@python="$$(sh scripts/find-python)" && { [ -x $(BIN)/python ] || "$$python" -m venv $(VENV); }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[spark,plot,dev]' -c constraints.txt
	@touch $@

demo: $(STAMP)
	@$(JAVA) && $(BIN)/ostinato demo --output demo-output

# Kernels are compiled before: else whichever test needs one first waits for it, and so do the tests beside it. On a machine that has
# them this takes a second. Spark's tests follow in processes with a session each: a short job leaves most of a second core idle.
test: $(STAMP)
	@$(BIN)/python -c "from ostinato.kernels._jit import warm_up; warm_up()"
	@$(PYTEST) -m "not slow and not spark" -n auto --maxprocesses 4 --dist worksteal --durations=15
	@$(JAVA) && $(PYTEST) -m "spark and not slow" -n $(SPARK_PROCESSES) --dist worksteal --durations=15

test-slow: $(STAMP)
	@$(PYTEST) -m "not slow and not spark" --all-examples -n auto --maxprocesses 4 --dist worksteal --timeout 1800 --durations=15
	@$(JAVA) && $(PYTEST) -m slow --timeout 1800 --durations=15

chaos: $(STAMP)
	@$(JAVA) && $(PYTEST) tests/recovery/test_chaos.py -m "" -s --timeout 3600

mutants: $(STAMP)
	@$(BIN)/python -m tests.mutants.run $(MUTANTS)

lint: $(STAMP)
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/lint-imports
	$(BIN)/mypy

bench: $(STAMP)
	@$(JAVA) && $(BIN)/python -m benchmarks.run_all

docs-check: $(STAMP)
	@$(JAVA) && $(PYTEST) tests/docs -m ""

clean:
	rm -rf $(VENV) demo-output build dist .pytest_cache .hypothesis .ruff_cache .mypy_cache .import_linter_cache spark-warehouse metastore_db derby.log
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
