# SPDX-License-Identifier: Apache-2.0
# Front door. Meson and ninja do the work; every target first makes sure that they are there.
BUILD ?= build
PREFIX ?= /usr/local
PYTHON ?= $(shell test -x /usr/bin/python3 && echo /usr/bin/python3 || echo python3)
FUZZ_SECONDS ?= 20

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

setup:
	@tools/setup

setup-test:
	@tools/setup test

$(BUILD)/build.ninja: | setup
	@meson setup $(BUILD) --prefix=$(PREFIX) -Dtests=false >/dev/null

$(BUILD)/incore: all

demo: all
	@examples/demo $(BUILD)

# Tiers: what is quick, for every save; everything that must hold; the same for hours; the same where nothing is installed.
check: setup-test
	@$(PYTHON) tests/run.py --check $(ONLY)

test: setup-test
	@$(PYTHON) tests/run.py $(ONLY)

soak: setup-test
	@$(PYTHON) tests/run.py --soak $(ONLY)

# By root, in a Debian made for it; ROOT=DIR keeps that and takes it again.
fresh:
	@$(PYTHON) tests/fresh.py $(if $(ROOT),--root $(ROOT)) $(ONLY)

bench: setup-test
	@test -f build-bench/build.ninja || meson setup build-bench --buildtype=release -Dbench=true -Dtests=false >/dev/null
	@ninja -C build-bench --quiet
	@$(PYTHON) bench/run.py build-bench

# The tables of docs/attribution.md, from the captures that are here.
attribution: setup-test all
	@meson configure $(BUILD) -Dtests=true && ninja -C $(BUILD) --quiet tests/attribution
	@$(PYTHON) bench/attribution.py $(BUILD)/tests/attribution --write

fuzz: setup-test
	@$(PYTHON) tests/fuzz/run.py --seconds $(FUZZ_SECONDS) $(ONLY)

# Rewrites tests/data from the generator.
fixtures: setup-test all
	@meson configure $(BUILD) -Dtests=true && ninja -C $(BUILD) --quiet
	@$(BUILD)/examples/make_capture --all tests/data
	@$(BUILD)/tests/sqtt/make_sqtt --all tests/data
	@$(PYTHON) tests/ascend_fixtures.py --write
	@$(BUILD)/tests/sqtt/make_sqtt --fuzz tests/fuzz/corpus

install: all
	@meson install -C $(BUILD)

# A folder and a tar that run on another Linux, with their libraries beside them.
bundle: setup-test all
	@$(PYTHON) tools/portable.py $(BUILD) $(BUILD)/bundle

# The Python package with all that it needs inside.
wheel: setup-test all
	@$(PYTHON) tools/wheel_backend.py $(BUILD) $(BUILD)/wheel

# All files of a release, in build-release/out: static program, Debian packages, wheel, list of parts, checksums.
release: setup-test
	@$(PYTHON) tools/release build-release/out

# Every C file of src/; what passed before and did not change is not looked at again.
lint: setup-test $(BUILD)/build.ninja
	@$(PYTHON) tools/lint.py $(BUILD)

# Lines of src/ that the unit tests, the fuzz corpora and the golden cases reach, by folder.
coverage: setup-test
	@$(PYTHON) tools/coverage.py

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf build build-asan build-bench build-coverage build-fuzz build-release build-tsan

all $(BUILD)/build.ninja: | setup
.PHONY: all setup setup-test demo check test soak fresh attribution bench fuzz fixtures install bundle wheel release lint coverage format clean
