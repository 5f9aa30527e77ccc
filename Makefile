# Short names for the scripts in scripts/. `make help` lists the targets.
.PHONY: build install-headers deb single-header demo test test-all coverage lint bench fuzz docs site format clean help

build: ## the acre command, its recorder, the C library and the examples, optimised, in build/ (the default)
	@scripts/build

install-headers: ## the headers alone, for find_package, pkg-config and Meson: to PREFIX, or /usr/local
	@scripts/install-headers $(PREFIX)

deb: ## a Debian package of the library, the command and its libraries: build/acre_*.deb
	@scripts/deb

single-header: ## the library as one file, and one a folder of it: build/single_include/acre.hpp
	@scripts/single-header

demo: ## records a game and sqlite3, prints the advice, and what following it gave
	@scripts/demo

test: ## the release build, sanitizers over the library, foreign tests; CONFIGS="clang tsan" for others
	@scripts/test $(CONFIGS)

test-all: ## all other configurations: other compilers, targets and sanitizers, a browser, readers of exports, benchmarks, hostile environments
	@scripts/test --rest

coverage: ## which lines of the library its tests run; ARGS="--branches pools/" lists conditions, too
	@scripts/coverage $(ARGS)

lint: ## looks for mistakes with clang-tidy and cppcheck; ARGS="arena.hpp" for some files only
	@scripts/lint $(ARGS)

bench: ## measures against other allocators, to the screen and to bench/results/; ARGS="..." to it
	@scripts/bench $(ARGS)

fuzz: ## each fuzzer for 60 seconds, or SECONDS=N: inputs tried and lines reached
	@scripts/fuzz $(SECONDS)

docs: ## checks links, compiles the code blocks of the documentation and the headers' examples; each public name has a comment
	@scripts/bootstrap build
	@python3 -B site/reference.py --check
	@scripts/check-docs

site: ## the guide for the browser, in build/site/html; scripts/site-tests opens its pages in headless Chromium
	@scripts/site

format: ## formats the C++ sources
	@scripts/format

clean: ## removes everything that was built
	rm -rf build build-*/

help: ## this list
	@echo 'make TARGET, where TARGET is one of'
	@sed -nE 's/^([a-z-]+): ## (.*)/  \1|\2/p' Makefile | while IFS='|' read -r name what; do printf '  %-13s %s\n' "$$name" "$$what"; done
