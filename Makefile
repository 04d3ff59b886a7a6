# Everything that is done to this tree often. Needs Go and make; `make test` also wants two Debian packages and says so.
#
# gms_pure_go takes the pure Go regular expressions of the SQL engine, so that nothing needs a C compiler.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

TAGS     := gms_pure_go
PKG      ?= ./...
FUZZTIME ?= 10s
SOAKSECONDS ?= 600
SIMSEEDS    ?= 100000
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

export CGO_ENABLED ?= 0

.PHONY: help build dist demo test race fuzz lint bench soak conformance answers generate clean packages

help: ## show this list
	@echo "make TARGET   (PKG=./kv/... narrows test, race and bench)"
	@sed -nE 's/^([a-z]+):.*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

build: ## build bin/moka
	go build -trimpath -tags $(TAGS) -ldflags "-s -w -X main.version=$(VERSION)" -o bin/moka ./cmd/moka

dist: ## archives for Linux and macOS, Debian packages, bills of materials and checksums, below dist/
	VERSION=$(VERSION) deploy/dist

demo: build ## start, load, run and report in a temporary directory, then go away
	bin/moka demo

packages:
	@.ci/packages

# Packages are tested two at a time: some start servers, and a test that starves proves nothing.
test: packages ## vet and all tests
	go vet -tags $(TAGS) $(PKG)
	go test -tags $(TAGS) -p 2 -timeout 30m $(PKG)
	[ "$(PKG)" != ./... ] || go test -tags $(TAGS),planted -run TestMistakesAreFound ./kv/sim

race: packages ## all tests under the race detector (needs a C compiler)
	@command -v $${CC:-gcc} >/dev/null || { echo "The race detector needs a C compiler, and there is no $${CC:-gcc}. On Debian: apt-get install gcc libc6-dev" >&2; exit 1; }
	CGO_ENABLED=1 go test -race -tags $(TAGS) -p 2 -timeout 30m $(PKG)

fuzz: ## run every fuzz target for FUZZTIME (10s)
	@grep -rlE '^func Fuzz' --include='*_test.go' . | sort | while read -r file; do \
	  sed -nE 's/^func (Fuzz[A-Za-z0-9_]*).*/\1/p' "$$file" | while read -r target; do \
	    echo "== $$(dirname "$$file") $$target"; \
	    go test -tags $(TAGS) -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" </dev/null || exit 1; \
	  done || exit 1; \
	done

lint: ## gofmt, go vet, staticcheck (settings: staticcheck.conf) and the rules of cmd/tidy
	@bad=$$(gofmt -l .); [ -z "$$bad" ] || { echo "not formatted (gofmt -w):"; echo "$$bad"; exit 1; }
	go vet -tags $(TAGS) $(PKG)
	go tool staticcheck -tags $(TAGS) $(PKG)
	go test -tags $(TAGS) ./cmd/tidy

bench: ## all micro-benchmarks once, with allocations
	go test -tags $(TAGS) -p 1 -run '^$$' -bench . -benchmem -timeout 60m $(PKG)

soak: packages ## 100,000 simulated histories each of transactions and of replicas, then the tests of faults again and again for SOAKSECONDS (600)
	MOKA_SIM_SEEDS=$(SIMSEEDS) go test -tags $(TAGS) -count 1 -timeout 60m -run 'TestSimulation$$' -v ./txn
	MOKA_SIM_SEEDS=$(SIMSEEDS) go test -tags $(TAGS) -count 1 -timeout 240m -run 'TestSimulation$$' -v ./kv/sim
	MOKA_CONFORMANCE=all go test -tags $(TAGS) -count 1 -timeout 30m ./sqlfront/engine/conformance
	MOKA_VIEW_HISTORIES=10000 go test -tags $(TAGS) -count 1 -timeout 120m -run 'TestViewsEqualTheirQueries$$' -v ./sqlfront/observer
	MOKA_PLANCACHE_SEEDS=1000 MOKA_PUSH_SEEDS=1000 MOKA_FULLTEXT_SEEDS=100 go test -tags $(TAGS) -count 1 -timeout 60m ./sqlfront ./sqlfront/engine
	@end=$$(( $$(date +%s) + $(SOAKSECONDS) )); round=0; \
	while [ $$(date +%s) -lt $$end ]; do \
	  round=$$((round + 1)); echo "== round $$round"; \
	  MOKA_SOAK=1 go test -tags $(TAGS) -p 2 -count 1 -timeout 90m ./kv/... ./oracle/... ./txn/... ./triggers/... ./cmd/moka/bench ./cmd/itest/...; \
	done

conformance: ## the SQL library's own suite against the engine, all of it (make test runs a third)
	MOKA_CONFORMANCE=all go test -tags $(TAGS) -count 1 -timeout 30m -v ./sqlfront/engine/conformance | grep -E '^ *--- FAIL|entries of the suite|^(ok|FAIL|panic)'

answers: ## ask MariaDB for the answers of the comparison scripts anew, and write them into the scripts
	go test -tags $(TAGS) -count 1 -run TestSameAnswers ./cmd/itest -record

generate: ## write the generated code anew (needs protoc)
	go generate $(PKG)

clean: ## remove what build and tests leave behind
	rm -rf bin dist
	go clean -testcache
