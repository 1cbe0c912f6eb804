# make demo   set up, then audit a trace and certify an exact ratio
# make test   set up, then style, types, proofs and all tests
# make proofs build and check the Rocq proofs;  make bench  the benchmark tables
.PHONY: setup demo test lint proofs bench clean
VENV := .venv
BIN := $(VENV)/bin

setup: $(VENV)/.ready
$(VENV)/.ready: pyproject.toml setup.sh
	sh setup.sh $(VENV)
	touch $@

demo: setup
	sh examples/demo.sh $(BIN)/geosched

test: setup lint
	$(BIN)/python -m pytest -q --numprocesses 2 --dist worksteal

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

proofs: setup
	$(MAKE) -C theory/proofs

bench: setup
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV)
