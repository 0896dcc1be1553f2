# `make` alone lists the targets. Every target except `help` and `clean` installs missing Debian packages first.
SWIFT ?= swift
# Paths in an optimised build begin at the repository: they tell nothing of the machine that built it.
OPTIMISED = -c release -Xcc -ffile-prefix-map="$(CURDIR)"=. -Xswiftc -file-prefix-map -Xswiftc "$(CURDIR)"=.
RELEASE = $(SWIFT) build $(OPTIMISED) --product fanfare
# The laboratory starts the gateway that stands beside it.
LAB_BUILD = $(SWIFT) build $(1) --product fanfare && $(SWIFT) build $(1) --product fanfare-lab
LAB = "$$($(SWIFT) build -c release --show-bin-path)/fanfare-lab"

.DEFAULT_GOAL := help
.PHONY: help packages build release laboratory test unit drive pictures fuzz fuzz-api check-tls demo dev fields lint format bench bench-check chaos chaos-checked soak outage siege sanitize sbom reproducible clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## (.*)/  make \1|\2/' | column -t -s '|'

packages: ## install the missing packages of Config/packages
	@Config/install-packages

build: packages ## a debug build of everything
	$(SWIFT) build

release: packages ## an optimised build of the fanfare binary
	$(RELEASE)

laboratory: packages ## an optimised build of fanfare and of fanfare-lab, which measures it and breaks it on purpose
	$(call LAB_BUILD,$(OPTIMISED))

test: packages ## build and run all tests: the modules as debug builds, the journeys on the optimised build that ships
	$(SWIFT) build --build-tests
	$(call LAB_BUILD,$(OPTIMISED))
	@SWIFT="$(SWIFT)" Config/run-tests

unit: packages ## build all, and run the tests of the modules alone (a minute and a half)
	$(SWIFT) build --build-tests
	@SWIFT="$(SWIFT)" Config/run-tests unit

pictures: release ## take the pictures of docs/console.md: seeded data, the console in Chromium, light and dark
	$(SWIFT) build --build-tests
	@SWIFT="$(SWIFT)" Config/take-pictures

drive: release ## send random requests to every route of a debug and a release build; DRIVE="--seed 7 --requests 5000" for another run
	$(SWIFT) build --build-tests
	@SWIFT="$(SWIFT)" Config/drive $(DRIVE)

fuzz: packages ## run libFuzzer on each function that strangers' bytes reach, FUZZ_SECONDS (600) each; FUZZ_TARGETS="json cursors" for some
	@SWIFT="$(SWIFT)" FUZZ_SECONDS="$(or $(FUZZ_SECONDS),600)" Config/fuzz $(FUZZ_TARGETS)

fuzz-api: packages ## run schemathesis against the API of the debug build for some minutes; FUZZ="--seed 7 --seconds 120" for another run
	$(SWIFT) build --product fanfare
	@SWIFT="$(SWIFT)" Config/fuzz-api $(FUZZ)

check-tls: packages ## ask a debug build, as testssl does, which versions and ciphers of TLS it takes (half a minute)
	$(SWIFT) build --product fanfare
	@SWIFT="$(SWIFT)" Config/check-tls

demo: packages ## send to 10,000 devices of three providers while faults play, and prove that nothing was lost
	$(call LAB_BUILD)
	@"$$($(SWIFT) build --show-bin-path)/fanfare-lab" demo

dev: packages ## run Redis, the sandbox and the gateway in one command; ctrl-C stops all
	$(SWIFT) build --product fanfare
	@"$$($(SWIFT) build --show-bin-path)/fanfare" dev

fields: packages ## generate docs/fields.md and docs/message.md from the code
	$(SWIFT) build --build-tests
	FANFARE_WRITE_FIELDS=1 $(SWIFT) test --skip-build --filter FieldTests
	FANFARE_WRITE_FIELDS=1 $(SWIFT) test --skip-build --filter MessagePageTests

lint: packages ## check format, file lengths, import graph and doc comments
	@Config/install-packages Config/lint-packages
	$(SWIFT) format lint --strict --recursive Package.swift Sources Providers Tests
	@python3 Config/lint.py

format: ## format the sources
	$(SWIFT) format --in-place --recursive Package.swift Sources Providers Tests

bench: laboratory ## run all scenarios of the dispatch benchmark on a release build (about 15 minutes)
	@$(LAB) bench dispatch --store Benchmarks/last.json

bench-check: laboratory ## run all scenarios again; fail if a ratio is a tenth worse than in Benchmarks/results.json (15 minutes)
	@$(LAB) bench dispatch --check Benchmarks/results.json

chaos: laboratory ## inject every kind of fault during 100,000 deliveries; CHAOS="--seed 7" plays the same faults again
	@$(LAB) chaos $(CHAOS)

chaos-checked: packages ## a short chaos on an optimised build that checks for exclusive access (part of CI)
	@Config/chaos-checked $(CHAOS)

soak: laboratory ## send for half an hour and check that memory, descriptors and Redis stay flat; SOAK_MINUTES=3 for a short run
	@$(LAB) soak --minutes $(or $(SOAK_MINUTES),30)

outage: laboratory ## send a campaign to a million devices while FCM is down for an hour; OUTAGE="--minutes 5 --devices 50000" for a short run
	@$(LAB) outage $(OUTAGE)

siege: laboratory ## attack a gateway from other addresses of this machine while 1,000 messages a second are sent (two minutes)
	@$(LAB) siege $(SIEGE)

sanitize: packages ## run the tests under the thread and address sanitizers
	@Config/sanitize thread
	@Config/sanitize address

sbom: release ## print the packages that an optimised build consists of (CycloneDX)
	@SWIFT="$(SWIFT)" Config/sbom.py "$$($(SWIFT) build -c release --show-bin-path)/fanfare"

reproducible: packages ## build fanfare twice from nothing and compare the digests (10 minutes)
	@SWIFT="$(SWIFT)" Config/reproducible

clean: ## remove the build products
	rm -rf .build
