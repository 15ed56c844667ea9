# The only entry point. `make help` lists what follows `##`, and `##@` as headings.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ENGINE := $(BIN)/python -m sphinx_recorded_gallery
BUILD := _build
# -n: a link that leads nowhere is a warning; -W: a warning fails the build, after all are shown
SPHINXOPTS ?= -n -W -q
PORT ?= 8000
# -n auto is one process a core, and one more; each takes a file of tests, then the next in order
PYTESTFLAGS ?= -n auto --dist loadfile --no-loadscope-reorder

# BUILD may begin at the root of the disk
BUILD_FOLDER = $(if $(filter /%,$(BUILD)),,$(CURDIR)/)$(BUILD)

# RECIPES names some recipes, MACHINE keeps recordings beside the published ones
RECIPES ?=
# LANGUAGES names some languages of languages.toml; without it all published ones are built
LANGUAGES ?=
# in the environment, it is a variable of gettext
unexport LANGUAGE
BASE ?= main
# RELEASE is another one than pages show, to compare with
RELEASE ?=
NAME ?=
MACHINE ?=
REPLICATES ?=
# WORKERS bounds how many tasks run at the same time, SCHEDULER is one of Dask's for several machines
WORKERS ?=
SCHEDULER ?=
DEVICE ?= gpu
# FORCE=yes would otherwise be taken for no
refuse_words = $(if $(filter-out 0 1,$($(1))),$(error write $(1)=1 instead of $(1)=$($(1))))
# A machine is one folder below recordings/
MACHINE_FOLDER = $(if $(findstring /,$(MACHINE))$(filter .%,$(MACHINE))$(word 2,$(MACHINE)),\
	$(error MACHINE is the name of a folder in recordings/, such as mine, and not $(MACHINE)))recordings/$(MACHINE)
RECORDFLAGS = $(call refuse_words,FORCE)$(call refuse_words,REPLACE_GPU)--device $(DEVICE) $(if $(WORKERS),--workers $(WORKERS)) $(if $(SCHEDULER),--scheduler $(SCHEDULER)) $(if $(filter 1,$(FORCE)),--force) \
	$(if $(filter 1,$(REPLACE_GPU)),--replace-gpu) $(if $(REPLICATES),--replicates $(REPLICATES)) \
	$(if $(MACHINE),--recordings-folder $(MACHINE_FOLDER))

# Which variables of the command line a target reads, besides those of every target
all_read := PYTHON VENV BIN ENGINE BUILD
html_reads := LANGUAGES SPHINXOPTS
serve_reads := LANGUAGES PORT SPHINXOPTS
new-recipe_reads := NAME
record_reads := RECIPES DEVICE FORCE REPLACE_GPU REPLICATES MACHINE WORKERS SCHEDULER
drift_reads := RECIPES BASE RELEASE MACHINE
page_reads := RECIPES SPHINXOPTS
check_reads := LANGUAGES
live_reads := LANGUAGES PORT EDITOR_LINK
check-po_reads := LANGUAGES COMPLETE
update-po_reads := LANGUAGES
new-language_reads := LANGUAGES
test_reads := PYTESTFLAGS
test-fast_reads := PYTESTFLAGS
test-nightly_reads := PYTESTFLAGS

TARGETS := help html serve new-recipe record drift check links test test-fast test-nightly lint lock clean
TARGETS += live check-po update-po new-language page api

# An unknown target is told before anything is built: it may be the value of a variable.
goals := $(or $(MAKECMDGOALS),help)
unknown := $(firstword $(filter-out $(TARGETS) $(VENV)/%,$(goals)))
ifneq ($(unknown),)
goal := $(firstword $(filter $(TARGETS),$(goals)))
taken := $(firstword $(filter RECIPES LANGUAGES NAME,$($(goal)_reads)))
is_value := $(wildcard recipes_source/$(basename $(unknown)).py locale/$(unknown))
near := $(if $(is_value),,$(shell $(PYTHON) -c 'import difflib, sys; \
	print(*difflib.get_close_matches(sys.argv[1], sys.argv[2:], 1, 0.8))' '$(unknown)' $(TARGETS)))
ifneq ($(near),)
$(error there is no target $(unknown); did you mean: $(strip make $(patsubst $(unknown),$(near),$(goals)) $(MAKEOVERRIDES)))
endif
ifneq ($(taken),)
$(error there is no target $(unknown); for $(goal) it is a value: $(strip make $(goal) $(taken)=$(unknown) $(filter-out $(taken)=%,$(MAKEOVERRIDES))))
endif
$(error there is no target $(unknown); they are: $(TARGETS))
endif

# Another variable would change nothing: the same command is told with the right name.
read := $(foreach goal,$(goals),$($(goal)_reads))
given := $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))
unread := $(firstword $(filter-out $(all_read) $(read),$(given)))
ifneq ($(unread),)
capitals := $(shell echo '$(unread)' | tr a-z- A-Z_)
other_word := $(patsubst $(capitals):%,%,$(filter $(capitals):%,NAME:RECIPES RECIPE:NAME RECIPES:NAME LANG:LANGUAGES))
meant := $(firstword $(filter $(capitals) $(capitals)S $(other_word),$(read)))
ifneq ($(meant),)
$(error $(unread) is called $(meant) here: make $(goals) $(patsubst $(unread)=%,$(meant)=%,$(MAKEOVERRIDES)))
endif
ifeq ($(capitals) $(goals),RECIPES check)
$(error check looks at all recipes and takes no RECIPES; for the page of one: make page RECIPES=$($(unread)))
endif
$(error make $(goals) does not read $(unread); it reads: $(sort $(read) BUILD PYTHON))
endif

FORMS := .github/ISSUE_TEMPLATE

.DEFAULT_GOAL := help
.PHONY: $(TARGETS)
# `make record html` records first, also under -j
.NOTPARALLEL:

# Each stamp stands for a set of packages; it is older than its requirements when they change.
$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: $(PYTHON) is older than 3.11; try: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	touch $@
$(VENV)/html: requirements.txt constraints.txt | $(VENV)/python
	@echo "installing packages into $(VENV)/, which takes a minute"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@
$(VENV)/record: requirements-record.txt requirements.txt constraints.txt | $(VENV)/python
	@echo "installing PyTorch and what records into $(VENV)/: about 6 GB, which takes some minutes"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-record.txt
	@touch $@ $(VENV)/html
$(VENV)/test: requirements-test.txt requirements-record.txt requirements.txt constraints.txt | $(VENV)/python
	@echo "installing PyTorch and what tests into $(VENV)/: about 6 GB, which takes some minutes"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-test.txt
	@touch $@ $(VENV)/html $(VENV)/record

##@ Read the site

html: $(VENV)/html ## render the site from the recordings to _build/html/ (LANGUAGES=ko)
	@[ -d $(BUILD)/html ] || echo "the first time, this takes a minute or two"
	@$(ENGINE) html --build $(BUILD) $(LANGUAGES) -- $(SPHINXOPTS)
	@echo "The site is in $(BUILD)/html; to read it: make serve, or open"
	@echo "file://$(BUILD_FOLDER)/html/index.html"

serve: $(VENV)/html ## render the site and serve it on localhost (LANGUAGES=en, PORT=8000)
	@[ -d $(BUILD)/html ] || echo "the first time, this takes a minute or two"
	@$(ENGINE) serve --build $(BUILD) $(LANGUAGES) --port $(PORT) -- $(SPHINXOPTS)

##@ Write and record recipes

new-recipe: $(VENV)/html ## begin a recipe with a skeleton that works (NAME=gradient_accumulation)
	@$(BIN)/python -m second_call.new_recipe "$(NAME)"

# What these refuse is told first: fixing it afterwards would make the recording stale.
record: $(VENV)/record ## run changed recipes (RECIPES=..., DEVICE=cpu, FORCE=1, REPLICATES=5, MACHINE=mine)
	@$(BIN)/python -m second_call.before_recording recipes_source
	@$(BIN)/python -m compileall -q recipes_source
	@$(BIN)/python -m ruff check --quiet recipes_source || \
		{ echo "error: make lint refuses a recipe; fix what stands above before you record it" >&2; exit 1; }
	@$(BIN)/python -m ruff format --check --quiet recipes_source || \
		{ echo "error: make lint refuses the layout of a recipe; before you record it: $(BIN)/ruff format recipes_source" >&2; exit 1; }
	@$(ENGINE) record $(RECORDFLAGS) $(RECIPES)

drift: $(VENV)/html ## tell which new measurements lie outside the published ranges (BASE=HEAD, RELEASE=2.11)
	@$(BIN)/python -m sphinx_recorded_gallery drift --base $(if $(filter file,$(origin BASE)),HEAD,$(BASE)) \
		$(if $(RELEASE),--release $(RELEASE)) \
		$(if $(MACHINE),--recordings-folder $(MACHINE_FOLDER)) $(RECIPES)

page: $(VENV)/html ## render the English pages and tell what is left to do (RECIPES=gradient_accumulation)
	@$(BIN)/python -m second_call.recipe_files recipes_source $(RECIPES)
	@$(ENGINE) check; recordings=$$?; $(ENGINE) html en --build $(BUILD) --after-check -- $(SPHINXOPTS) \
		&& printf "to read it: file://$(BUILD_FOLDER)/html/en/%s\n" \
			$(if $(RECIPES),$(RECIPES:%=recipes/%.html),index.html) \
		&& { [ $$recordings = 0 ] && echo "the English part is done" \
			|| echo "the English part is not done: see what is told above of recordings and texts"; } \
		&& exit $$recordings

check: $(VENV)/html ## tell which recordings are current, and check texts and translations (LANGUAGES=ko)
	@$(if $(filter en,$(LANGUAGES)),echo "error: English has no catalogs; to check its pages: make page" >&2; exit 1)
	@$(BIN)/python -m second_call.recipe_files recipes_source
	@$(ENGINE) check; recordings=$$?; $(ENGINE) check-po $(LANGUAGES) && exit $$recordings

##@ Translate

live: $(VENV)/html ## show a language in the browser after every save (LANGUAGES=ko, PORT=8000)
	@$(ENGINE) live --build $(BUILD)/live --port $(PORT) \
		$(if $(filter undefined,$(origin EDITOR_LINK)),,--editor-link "$(EDITOR_LINK)") "$(LANGUAGES)"

check-po: $(VENV)/html ## tell what is wrong with translations (LANGUAGES=ko; COMPLETE=1: what is left, too)
	@$(ENGINE) check-po $(if $(COMPLETE),--complete) $(LANGUAGES)

update-po: $(VENV)/html ## bring the catalogs up to date with the sources (LANGUAGES=ko)
	@$(ENGINE) update-po --templates $(BUILD)/gettext $(LANGUAGES)

new-language: $(VENV)/html ## prepare a language (LANGUAGES=ja)
	@$(ENGINE) new-language --templates $(BUILD)/gettext "$(LANGUAGES)"

##@ Change the code

# Each process of tests, and each that it starts, would compile engine and tests again.
test test-fast test-nightly: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/test ## run all tests but what test-nightly runs
	$(BIN)/python -m pytest $(PYTESTFLAGS)

test-fast: $(VENV)/test ## run tests without kernels, browsers and the whole site
	$(BIN)/python -m pytest $(PYTESTFLAGS) -m "not slow and not nightly"

test-nightly: $(VENV)/test ## run the tests that take longest
	$(BIN)/python -m pytest $(PYTESTFLAGS) --dist worksteal -m nightly

api: $(VENV)/html ## build the reference of the engine's API to _build/api/
	$(BIN)/python -m sphinx -C -W -q -b html -D project=sphinx-recorded-gallery -D extensions=sphinx.ext.autodoc -d $(BUILD)/doctrees/api sphinx_recorded_gallery/api_reference $(BUILD)/api

lint: $(VENV)/test ## check style, types, directions of imports and what GitHub reads
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python tests/imports.py
	$(BIN)/zizmor --offline --quiet --persona auditor .github
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-config $(FORMS)/config.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms \
		$(filter-out $(FORMS)/config.yml,$(wildcard $(FORMS)/*.yml))

lock: requirements.txt requirements-record.txt requirements-test.txt ## pin all packages anew in constraints.txt (needs uv)
	@command -v uv > /dev/null || { echo "error: uv is missing; install it: pip install uv" >&2; exit 1; }
	mkdir -p $(BUILD)/lock && cp requirements*.txt $(BUILD)/lock && : > $(BUILD)/lock/constraints.txt
	uv pip compile --universal --python-version 3.11 --no-header --no-annotate \
		$(BUILD)/lock/requirements-test.txt -o $(BUILD)/lock/pinned.txt
	{ echo "# Every package at one version, made by \`make lock\`; the requirements files say why each is there."; \
		cat $(BUILD)/lock/pinned.txt; } > constraints.txt

links: $(VENV)/html ## ask other sites whether links to them still lead somewhere
	$(BIN)/python -m sphinx_recorded_gallery.run_sphinx -b linkcheck -q -d $(BUILD)/doctrees/links \
		-D 'recorded_gallery_locale_dirs=["locale"]' . $(BUILD)/linkcheck

help: ## list the targets
	@awk -F ':.*## ' '/^##@ / {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

clean: ## remove what builds made, but not .venv and recordings
	rm -rf $(BUILD) recipes
