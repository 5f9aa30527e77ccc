# A thin front to what scripts/ and CMake do. `make help` lists the targets.
.PHONY: build demo test bench fuzz docs format clean help

build: ## the acre command, its recorder and the examples, optimised, in build/ (the default)
	@scripts/build

demo: ## records a game and sqlite3, prints the advice, and what following it gave
	@scripts/demo

test: ## builds and tests in all configurations; CONFIGS="release asan" for some of them
	@scripts/test $(CONFIGS)

bench: ## measures against other allocators, to the screen and to bench/results/; ARGS="..." to it
	@scripts/bench $(ARGS)

fuzz: ## fuzzes for a long time; SECONDS=N for each fuzzer
	@scripts/fuzz $(SECONDS)

docs: ## checks the links and compiles the code blocks of the documentation
	@scripts/bootstrap build
	@scripts/check-docs

format: ## formats the C++ sources
	@scripts/format

clean: ## removes everything that was built
	rm -rf build build-*/

help: ## this list
	@echo 'make TARGET, where TARGET is one of'
	@sed -nE 's/^([a-z]+): ## (.*)/  \1|\2/p' Makefile | while IFS='|' read -r name what; do printf '  %-7s %s\n' "$$name" "$$what"; done
