# `make` alone lists what there is. Everything but `help` and `clean` installs missing Debian packages first.
SWIFT ?= swift
RELEASE = $(SWIFT) build -c release --product fanfare

.DEFAULT_GOAL := help
.PHONY: help packages build release test drive fuzz-api demo dev fields lint format bench bench-check chaos soak outage sanitize clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## (.*)/  make \1|\2/' | column -t -s '|'

packages: ## install the packages of Config/packages that are missing
	@Config/install-packages

build: packages ## a debug build of everything
	$(SWIFT) build

release: packages ## an optimised build of the fanfare binary
	$(RELEASE)

test: packages ## build and run all tests
	$(SWIFT) build --build-tests
	@SWIFT="$(SWIFT)" Config/run-tests

drive: release ## random requests to every route of a debug and a release build; DRIVE="--seed 7 --requests 5000" for others
	$(SWIFT) build --build-tests
	@SWIFT="$(SWIFT)" Config/drive $(DRIVE)

fuzz-api: packages ## schemathesis with all its checks against the API of the debug build, bounded to minutes; FUZZ="--seed 7 --seconds 120"
	$(SWIFT) build --product fanfare
	@SWIFT="$(SWIFT)" Config/fuzz-api $(FUZZ)

demo: packages ## 10,000 devices, three providers, faults, and the proof that nothing was lost
	$(SWIFT) build --product fanfare
	@"$$($(SWIFT) build --show-bin-path)/fanfare" demo

dev: packages ## Redis, sandbox and gateway in one command; ctrl-C ends all
	$(SWIFT) build --product fanfare
	@"$$($(SWIFT) build --show-bin-path)/fanfare" dev

fields: packages ## write docs/fields.md anew from the code
	$(SWIFT) build --build-tests
	FANFARE_WRITE_FIELDS=1 $(SWIFT) test --skip-build --filter FieldTests

lint: packages ## format, file length, import graph, documentation of package declarations
	$(SWIFT) format lint --strict --recursive Package.swift Sources Providers Tests
	@python3 Config/lint.py

format: ## rewrite the sources in the agreed format
	$(SWIFT) format --in-place --recursive Package.swift Sources Providers Tests

bench: release ## all scenarios of the dispatch benchmark, on a release build (about 15 minutes)
	@"$$($(SWIFT) build -c release --show-bin-path)/fanfare" bench dispatch --store Benchmarks/last.json

bench-check: release ## the headline again: fails if its ratios are worse than those in Benchmarks/results.json
	@"$$($(SWIFT) build -c release --show-bin-path)/fanfare" bench dispatch --scenario audience --scenario faults \
	  --check Benchmarks/results.json

chaos: release ## break everything while 100,000 deliveries go on; CHAOS="--seed 7" for the same faults again
	@"$$($(SWIFT) build -c release --show-bin-path)/fanfare" chaos $(CHAOS)

soak: release ## half an hour of steady load: memory, descriptors and Redis stay flat; SOAK_MINUTES=3 for a short one
	@"$$($(SWIFT) build -c release --show-bin-path)/fanfare" soak --minutes $(or $(SOAK_MINUTES),30)

outage: release ## an hour without FCM in a campaign of a million; OUTAGE="--minutes 5 --devices 50000" for a short one
	@"$$($(SWIFT) build -c release --show-bin-path)/fanfare" outage $(OUTAGE)

sanitize: packages ## the suite under the thread and address sanitizers
	@Config/sanitize thread
	@Config/sanitize address

clean: ## remove what was built
	rm -rf .build
