# Every verb has its help after the two signs on its line; `make help` prints them.
.DEFAULT_GOAL := help
.PHONY: help setup setup-test setup-lint run wheel demo test test-long browse check bench ladders plots testdata figures screenshots messages fuzz fuzz-http chaos containers attack walk verify-packages crossed

PYTHON_HERE := .venv/bin/python
# Compiled first, and kept: where Python may not keep what it compiles, each process that a test starts would compile it all
# again, and each worker would rewrite the assertions of all tests and plugins, in ten seconds.
PYTEST = $(PYTHON_HERE) -m compileall -q app checkers games ops solvers tests && \
	PYTHONDONTWRITEBYTECODE= $(PYTHON_HERE) -m pytest -n auto --dist worksteal
KERNELS = .venv/.jurado-kernels
ARGS ?=

help: ## list these verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## make .venv with what serving needs (needs only Python 3.11 or newer)
	@sh scripts/setup.sh

setup-test: ## add what the tests need to .venv
	@sh scripts/setup.sh test browser

setup-lint: ## add what `make check` needs to .venv
	@sh scripts/setup.sh test browser lint

run: setup ## serve http://127.0.0.1:8000 with the bundled problems, data in ./var
	@.venv/bin/jurado serve $(ARGS)

wheel: setup ## build dist/jurado-0.1.0-py3-none-any.whl
	@rm -rf dist && PATH="$$PWD/.tools/uv/bin:$$PATH" uv build --quiet --wheel

demo: setup ## play a whole contest through HTTP in this terminal
	@.venv/bin/jurado demo $(ARGS)

# Once for all: the workers of a test run, and the servers that they start, would each compile the same kernels. Where one
# does not compile, the tests say so.
$(KERNELS): $(shell find checkers games solvers -name '*.py') | setup-test
	-@$(PYTHON_HERE) scripts/warm_kernels.py >/dev/null && touch $@

test: setup-test $(KERNELS) ## run every test, on SQLite and PostgreSQL (ARGS="-k name" for some)
	@sh scripts/test_needs.sh
	@$(PYTEST) -m "not long" $(ARGS)

test-long: setup-test $(KERNELS) ## run all tests but walks of pages: short ladders, everything on PostgreSQL, random play ten times as long
	@sh scripts/test_needs.sh
	@$(PYTEST) -m "not (long and browser)" --hypothesis-profile=long --timeout=3000 $(ARGS)

browse: setup-test ## walk all pages in Chromium as everybody, at all sizes, light and dark, with axe-core
	@sh scripts/test_needs.sh
	@$(PYTEST) -m browser tests/app $(ARGS)

crossed: setup-test ## list the files of app that a submission crosses: upload, grade, show
	@$(PYTHON_HERE) scripts/crossed_files.py $(ARGS)

check: setup-lint ## format, lint, types, imports, templates, scripts and style sheets
	@.venv/bin/ruff format --check .
	@.venv/bin/ruff check .
	@.venv/bin/mypy
	@.venv/bin/lint-imports
	@.venv/bin/djlint app --lint --quiet
	@! LC_ALL=C.UTF-8 grep -rnE '^.{161,}' app --include='*.html' --include='*.css' --exclude-dir=swagger-ui
	@$(PYTHON_HERE) scripts/check_imports.py
	@if [ -x .venv/bin/biome ]; then .venv/bin/biome check app; \
		else echo "JavaScript and CSS are not checked: Biome has no build for this machine"; fi

bench: setup-test ## measure, and print what was measured as tables (ARGS="--list" lists them, ARGS="verdicts" runs one)
	@$(PYTHON_HERE) -m bench $(ARGS)

ladders: setup-test ## climb every problem's whole ladder, record it in docs/ladders (ARGS="comesolo" for one; half an hour)
	@$(PYTHON_HERE) scripts/ladders.py record $(ARGS)

plots: ## draw the recorded ladders and curves as SVG in docs/ladders
	@sh scripts/setup.sh plots
	@$(PYTHON_HERE) scripts/ladders.py draw $(ARGS)

testdata: setup-test ## make every problem's test data again from its generators: the same bytes (ARGS="comesolo" for one)
	@$(PYTHON_HERE) scripts/make_testdata.py $(ARGS)

figures: setup-test ## draw the pictures of the statements again from their samples: the same bytes (ARGS="--check" compares)
	@$(PYTHON_HERE) -m scripts.figures $(ARGS)

screenshots: setup-test ## make the pictures of pages in docs/screenshots again (ARGS="--look DIR" shoots every page at all sizes)
	@$(PYTHON_HERE) scripts/screenshots.py $(ARGS)

messages: setup-test ## bring the catalogues of the pages' languages up to the sources, and say what is not translated (ARGS="--check")
	@$(PYTHON_HERE) scripts/messages.py $(ARGS)

fuzz: setup-test ## throw 100,000 mutated answer files at each checker
	@$(PYTHON_HERE) scripts/fuzz_checkers.py $(ARGS)

fuzz-http: setup-test ## send odd requests to every route as every role (ARGS="--seconds 300" for longer)
	@$(PYTHON_HERE) scripts/fuzz_http.py $(ARGS)

chaos: setup-test ## play faults against a loaded server on both databases, and print what was lost (ARGS="--list")
	@$(PYTHON_HERE) -m ops.chaos $(ARGS)

containers: setup-test ## start deploy/compose.yaml for real, on Docker or on Debian's in namespaces, and do with it what the guides say
	@$(PYTHON_HERE) -m ops.containers $(ARGS)

attack: setup-test ## attack a server on 127.0.0.1 in every known way, and print what each cost (ARGS="--list")
	@$(PYTHON_HERE) -m ops.attacks $(ARGS)

walk: setup-test ## hold the HTTP answers of another checkout against this one's (ARGS="--against DIR")
	@$(PYTHON_HERE) -m ops.walk $(ARGS)

verify-packages: setup-test ## hold the problem packages against independent readers of the format
	@$(PYTHON_HERE) scripts/verify_independent.py $(ARGS)
