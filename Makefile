# A thin front of CMake + Ninja: the presets are in CMakePresets.json, the work of the longer targets in tools/.
# `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
# How many random cases the oracle compares with the sanitized, slower program.
ASAN_RANDOM ?= 60

export DESTDIR

.DEFAULT_GOAL := all
.PHONY: all deps demo check check-asan check-valgrind check-real check-explored check-browser check-sarif check-recipes install uninstall deb check-deb papers doc-site lint bench bench-real fuzz clean help
# Prerequisites run in the order they are written; Ninja does the parallel work.
.NOTPARALLEL:

# $(call compile,PRESET,FOLDER,TARGET): brings TARGET of a preset up to date. Configuring talks only when it fails.
define compile
@command -v cmake >/dev/null && command -v ninja >/dev/null || { echo "cmake or ninja is missing: run 'make deps'" >&2; exit 1; }
@if [ ! -e $(2)/build.ninja ] || [ CMakePresets.json -nt $(2)/build.ninja ]; then \
	echo "configuring $(2)/ ($(1))"; \
	out=$$(cmake --preset $(1) 2>&1) || { printf '%s\n' "$$out" >&2; echo "configuring failed; is something missing? try 'make deps'" >&2; exit 1; }; \
	touch $(2)/build.ninja; \
fi
@echo "building $(2)/ ($(1))"
@ninja -C $(2) --quiet $(3)
endef

all: ## build everything; the program is build/bin/portent and works in place
	$(call compile,release,build,all)

deps: ## install what is missing (apt-get, with sudo where not root)
	@tools/deps build

# The demo's run passes; that a violation is predicted from it (exit status 66) is the point.
DEMO_BUILD := build/bin/portent cc -O2 -pthread examples/water/water.c -o build/water
DEMO_RUN := build/bin/portent run -s examples/water/water.prop -- build/water
demo: deps all ## compile the water tank, run it, and predict its violation from a run that passed
	@echo '$$ $(DEMO_BUILD)'
	@$(DEMO_BUILD)
	@echo '$$ $(DEMO_RUN)'
	@status=0; $(DEMO_RUN) || status=$$?; \
	if [ $$status -ne 66 ]; then echo "expected exit status 66 (a violation is found), got $$status" >&2; exit 1; fi

check: deps all ## run every test; CHECK_RANDOM=N: that many random cases of each oracle instead of its own number
	@tools/deps check
	@tools/run-tests build $(if $(CHECK_RANDOM),--random $(CHECK_RANDOM))

check-asan: deps ## run every test with AddressSanitizer and UBSan
	$(call compile,asan,build-asan,all)
	@# The runtime lives in other people's processes and is never sanitized: its own suites run in 'check' alone, and so do those
	@# that look at what programs do and find by themselves. What cc and cfront run is run by other suites as well.
	@tools/run-tests build-asan --random $(ASAN_RANDOM) --skip rt --skip wire --skip behaviour --skip stores --skip catalogue --skip race-programs --skip live-races \
	    --skip deadlocks-run --skip names --skip local --skip fills --skip recorded-races --skip kernel \
	    --skip confirm --skip std --skip watched --skip cc --skip cfront --skip race-free --skip lifetimes --skip life-programs --skip examples --skip places --skip wrappers --skip explore --skip explore-cli --skip explore-rr --skip explore-runtime --skip protocols --skip gdb --skip ci --skip recipes --skip papers --skip mpi

check-valgrind: deps all ## run the runtime's small programs under valgrind (apt-get install valgrind)
	@python3 tests/programs/run_rt.py build --valgrind

# Sources come from Debian into build/real; nothing of the system is touched but for the libraries both need (tools/deps).
REAL := lmdb libzstd leveldb memcached pbzip2 sqlite3
check-real: deps all ## build real programs, unmodified, and run them under load, beside ThreadSanitizer
	@tests/real/fetch build/real $(REAL)
	@tools/deps real
	@tests/real/check_real.py build/bin/portent build/real

check-explored: deps all ## run real programs under controlled schedules, a hundred of each
	@tests/real/fetch build/real lmdb memcached pbzip2 libuv1
	@tools/deps real
	@tests/real/check_explored.py build/bin/portent build/real

check-browser: deps all ## look at the HTML report with a headless Chromium
	@tools/deps browser site || true
	@PYTHONDONTWRITEBYTECODE=1 tests/browser/run_browser.py build/bin/portent

# Not in .ci/run: the schema comes from outside, and npm is a large thing to install for one file.
check-sarif: deps all ## hold SARIF reports and the CI recipes against the published schemas, which npm has
	@tools/deps sarif
	@schema=$$(tests/reports/fetch_schema build/sarif) && \
		PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 tests/reports/run_reports.py build/bin/portent "$$schema" && \
		/usr/bin/python3 tests/reports/check_recipes.py build/sarif/package

check-recipes: deps all ## do the recipes of docs/ci.md with all tools, which it installs
	@tools/deps recipes
	@PYTHONDONTWRITEBYTECODE=1 tests/ci/run_recipes.py build/bin/portent --all

install: all ## install under PREFIX (default /usr/local), staged in DESTDIR
	@cmake --install build --prefix $(PREFIX)

uninstall: ## remove what 'make install' put under PREFIX
	@test -e build/build.ninja || { echo "build/ is needed, to know what was installed: run 'make'" >&2; exit 1; }
	@tools/uninstall build $(PREFIX)

deb: ## build the Debian packages in build/deb
	@tools/deps build deb
	@tools/deb build/deb

# Not in .ci/run: two builds and a debootstrap, half an hour of two cores. Needs root.
check-deb: deb ## build the packages again and compare; install them on a bare Debian 12 and use them there
	@tools/check-deb build/deb

papers: deps all ## do again what the four papers show, beside what they print (docs/papers.md)
	@PYTHONDONTWRITEBYTECODE=1 tests/papers/run_papers.py build/bin/portent

doc-site: ## make documents, man pages and examples into a static site with a search: build/site
	@tools/deps site
	@mkdir -p build
	@tools/doc-site build/site

lint: ## layout, static analysis, include direction
	@tools/deps build lint
	$(call compile,release,build,all)
	@tools/lint build

bench: deps all ## build bench/ and measure
	$(call compile,release,build,benches)
	@if [ -x bench/run.sh ]; then bench/run.sh; fi

bench-real: deps all ## measure real programs: plain, ThreadSanitizer, and Portent in several ways
	@tests/real/fetch build/real $(REAL)
	@tools/deps real
	@bench/real.py

fuzz: ## run each libFuzzer target for FUZZ_SECONDS (default 60)
	@tools/deps build fuzz
	$(call compile,fuzz,build-fuzz,fuzzers)
	@tools/fuzz build-fuzz $(FUZZ_SECONDS)

clean: ## remove every build folder
	@rm -rf build build-*/

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile
