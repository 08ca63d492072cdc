# make demo    installs what is missing, builds, and compares six setups on 200,000 records
# make gates   all that is told without running kvdyno: formatting, lints, documentation, what files say of each other
# make mend    repairs what a command can repair: formatting, pages that are written, snapshots; see it in `git diff`
# make check   the gates and the tests of the parts; nothing is installed
# make test    the same set-up, then the gates and all tests; what failed is named at the end
# make fuzz    the readers of foreign input under a fuzzer, SECONDS=15 each
# make torment kills, mutated experiment files and damaged results by the thousand: docs/reliability.md
# make fidelity  whether the figures are right, against engines whose truth is known, ROW=accuracy: docs/fidelity.md
# make deny    licences and sources of the dependencies
# make bench   what the driver itself costs, beside bare loops; and the page of 1,008 trials, where there is a browser
# make bench-page  how long that page takes to make and to open, and how large it is (brings Chromium and npm)
# make build   only builds, into target/release
# make engines brings every engine that a registry has, into the user's folder
# make test-engines  brings the optional engines that CI looks after, and checks them
# make sanitize  checks the C adapters under the address, leak, undefined-behaviour and thread sanitizers
# make engine-table  runs every engine that is here in every workload, and writes the table in docs/engines/workloads.md
# make experiment-results NAMES="ycsb…"  runs these experiments for BUDGET=10m each, and writes docs/experiments
# make docs-tables  writes the tables in docs/engines, from the engines that are here
# make test-numa  boots a guest of four NUMA nodes in QEMU, and shows there that each NUMA policy does what it says
# make diff-check  whether `kvdyno diff` finds a slow-down of BURN=100 ns in LMDB's get, and passes without it
# make test-hlog  whether HdrHistogram's readers in Python, JavaScript and Java take a run's latencies
# make test-exports  whether pandas, LibreOffice and Prometheus's parser take what is exported (brings LibreOffice)
# make test-page  drives Chromium over the page of made-up results, of 3 and of 22 engines (brings Chromium and npm)
# make picture  takes the README's picture of the page of the last `make demo` (brings Chromium and npm)
# make gallery FROM="FOLDER…"  docs/gallery, from results of the published experiments: see scripts/gallery.sh
# make test-outside  adapters in C and Go, far from the project, with nothing but kvdyno.h beside them (needs Go)
# make test-slurm  a real Slurm of two nodes runs an experiment in parts, which are struck meanwhile (needs root)
# make package  the last commit as a Debian package and as a tarball, in target/package
# make test-image  builds the image of the Containerfile, and compares two engines in it (needs root)
# make test-package  installs the package into a system that has nothing else, and removes it (needs root)

CARGO ?= cargo
ENGINES = target/release/engines
# `kvdyno report --parquet`, which default builds leave out.
TESTED_FEATURES = --features kvdyno/parquet
RUST_ADAPTERS = null faulty synthetic
C_ADAPTERS = $(wildcard engines/*/*.c engines/*/*.h engines/*/flags.mk) crates/abi/include/kvdyno.h
DEMO = lmdb rocksdb leveldb bdb wiredtiger:btree wiredtiger:lsm

.DEFAULT_GOAL := help
.PHONY: help setup build build-tests adapters demo gates mend check test format lint-rust lint-c tree clippy doc \
	written tests doctests driver tools stated-rust deny fuzz torment slowed fidelity bench bench-page page-driver \
	engines test-engines check-engines test-numa test-hlog test-exports test-outside test-page picture gallery \
	diff-check sanitize engine-table experiment-results docs-tables install package test-image test-package \
	test-slurm clean

help:
	@sed -n 's/^# \(make \)/\1/p' Makefile

setup:
	@scripts/setup.sh

build:
	$(CARGO) build --release --locked
	$(MAKE) adapters

# All that is tested, and the tests, in one build: one set of features, so that nothing is compiled twice. The fuzz
# targets, which `make fuzz` alone needs, are no default members of the workspace.
build-tests: tools
	$(CARGO) build --release --locked --all-targets $(TESTED_FEATURES)
	$(MAKE) adapters

# What needs a build makes it; the stages of `make test` and of CI have `build-tests` before.
BUILT ?= build

adapters:
	@mkdir -p $(ENGINES)
	@for name in $(RUST_ADAPTERS); do cp -u target/release/libkvdyno_$$name.so $(ENGINES)/ || exit 1; done
	$(MAKE) -C engines OUT=$(CURDIR)/$(ENGINES)

demo: setup
	$(MAKE) build
	target/release/kvdyno compare $(DEMO) --records 200k --readers 1,2,4 --write-rate 1000 --repeat 11 \
		--duration 300ms --warmup 100ms --name demo

# ---- the gate: each line of these is a target below

GATES = lint-rust lint-c tree clippy doc
TESTS = build-tests! driver& written tests doctests

gates:
	@scripts/stages.sh $(GATES) build-tests! written

test: export BUILT =
test:
	@scripts/stages.sh setup! $(GATES) $(foreach stage,$(TESTS),"$(stage)")

# What is told in a few minutes. The tests of the binary, of adapters and of the environment are those of `make test`.
check:
	@scripts/stages.sh $(GATES)
	$(CARGO) test --release --locked $(TESTED_FEATURES) --lib --bins

format:
	$(CARGO) fmt --all
	$(CLANG_FORMAT) --style=file -i $(C_FILES)

lint-rust:
	$(CARGO) fmt --all --check

C_FILES = $(wildcard crates/*/include/*.h crates/*/src/*.c scripts/*/*.c \
	$(foreach at,*/* */*/* */*/*/*,engines/$(at).[ch]))
CLANG_FORMAT ?= clang-format-19
lint-c:
	@command -v $(CLANG_FORMAT) >/dev/null || { echo "there is no $(CLANG_FORMAT); scripts/setup.sh has it"; exit 1; }
	$(CLANG_FORMAT) --style=file --dry-run --Werror $(C_FILES)

# What the files say of themselves and of each other: nothing of the workspace is built for it.
tree:
	$(CARGO) test --release --locked -p kvdyno-gates --no-fail-fast

clippy:
	$(CARGO) clippy --release --locked --workspace --all-targets --keep-going -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" \
		$(CARGO) doc --release --locked --workspace --no-deps --document-private-items

# The tests that hold pages, schemas, snapshots and the header against what they are made from.
OF_FILES = columns cycles schema formats screens verdicts
WRITTEN = binary(layout) | binary(generated) | test(/^engine_settings::/) \
	| (package(kvdyno-report) & ($(foreach file,$(OF_FILES),test(/^$(file)::/) |) none()))
TESTS_OF_FILES = --test layout --test generated --test tests
NEXTEST = target/tools/cargo-nextest nextest
written:
	$(NEXTEST) run --release --locked $(TESTED_FEATURES) $(TESTS_OF_FILES) -E '$(WRITTEN)'

mend: tools format
	KVDYNO_REGENERATE=run INSTA_UPDATE=new INSTA_FORCE_PASS=1 \
		$(NEXTEST) run --release --locked $(TESTED_FEATURES) $(TESTS_OF_FILES) \
		-E '$(WRITTEN) | package(kvdyno) & test(/^(environment|bad_input)::/)'
	target/tools/cargo-insta accept
	git --no-pager diff --stat

# Properties are held for the same cases each time; `make torment` draws new ones.
check tests: export PROPTEST_RNG_SEED ?= 1

# Tests that mount a small filesystem need root; tests of the environment need root, loop devices, and control groups
# that limit memory.
tests: export KVDYNO_TEST_MOUNT ?= $(if $(filter 0,$(shell id -u)),run,skip)
tests: export KVDYNO_TEST_ENVIRONMENT ?= $(shell scripts/can-set-environment.sh && echo run || echo skip)
tests:
	@echo "tests that mount: $$KVDYNO_TEST_MOUNT; that make loop devices and control groups: $$KVDYNO_TEST_ENVIRONMENT"
	target/release/kvdyno-gates $(TESTED_FEATURES)

doctests:
	$(CARGO) test --release --locked $(TESTED_FEATURES) --doc --no-fail-fast

driver:
	target/release/kvdyno-bench --check

# Built, at the versions that scripts/tools.txt pins.
tools:
	@scripts/tools.sh target/tools

# ---- more checks

# A slow-down of LMDB that is there, and none: on a machine where nobody else works. The tests of `diff` look for as
# much in the synthetic engine.
BURN ?= 100
diff-check: slowed
	KVDYNO_ENGINES=$(CURDIR)/$(SLOWED_ENGINES):$(CURDIR)/$(ENGINES) \
		scripts/diff-check.sh target/release/kvdyno $(BURN)

test-hlog: setup
	WITH_READERS=yes scripts/setup.sh
	$(MAKE) build
	scripts/hlog.sh

test-exports: setup
	WITH_OFFICE=yes scripts/setup.sh
	$(MAKE) build
	scripts/exports.sh

# The page in a browser. What npm brings is pinned by a lock file, and lies in target/.
TEST_PAGE = $(CURDIR)/target/test-page
test-page: page-driver
	@rm -rf $(TEST_PAGE)/3-engines $(TEST_PAGE)/22-engines
	target/release/examples/demo $(TEST_PAGE)/3-engines 3 3 >$(TEST_PAGE)/3-engines.txt
	target/release/examples/demo $(TEST_PAGE)/22-engines 3 22 - inmem-numa >$(TEST_PAGE)/22-engines.txt
	TEST_PAGE_MODULES=$(TEST_PAGE) node tests/page/check.mjs \
		$(TEST_PAGE)/3-engines/report/index.html $(TEST_PAGE)/22-engines/report/index.html

page-driver:
	WITH_BROWSER=yes scripts/setup.sh
	@mkdir -p $(TEST_PAGE)
	cp tests/page/package.json tests/page/package-lock.json $(TEST_PAGE)/
	cd $(TEST_PAGE) && npm ci --ignore-scripts --no-audit --no-fund
	$(if $(BUILT),$(CARGO) build --release --locked -p kvdyno-report --example demo)

# Of the last demo, or of PAGE=…/report/index.html.
PAGE ?= $(lastword $(sort $(wildcard results/demo-*/report/index.html)))
picture: page-driver
	@test -n "$(PAGE)" || { echo "there is no page in results/demo-*/report: make demo makes one"; exit 1; }
	@mkdir -p docs/images
	TEST_PAGE_MODULES=$(TEST_PAGE) node tests/page/picture.mjs $(PAGE) docs/images/page.png

gallery: build
	scripts/gallery.sh $(FROM)

# 21 engines, 12 repeats of a load and three runs each, 300 points in every series: 1,008 trials.
LARGE = $(TEST_PAGE)/1008-trials
bench-page: page-driver
	@rm -rf $(LARGE) $(LARGE).txt
	@for round in 1 2 3 4 5; do target/release/examples/demo $(LARGE) 12 21 300 >>$(LARGE).txt || exit 1; done
	TEST_PAGE_MODULES=$(TEST_PAGE) node tests/page/bench.mjs $(LARGE)/report/index.html $(LARGE).txt

# The adapters in Go, and one in C, built and measured with nothing but kvdyno.h beside them.
test-outside: build
	cd engines/go && test -z "$$(gofmt -l .)"
	cd engines/go && CGO_CFLAGS="-O2 -I$(CURDIR)/crates/abi/include" go vet ./...
	cd engines/go && CGO_CFLAGS="-O2 -I$(CURDIR)/crates/abi/include" go test -count=1 ./...
	scripts/outside.sh

# Whether the compiler is the one that `rust-version` states: CI builds with no other, so that the statement is true.
stated-rust:
	@stated=$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml); rustc --version | grep -q "^rustc $$stated\." || \
		{ echo "Cargo.toml states Rust $$stated, but this is $$(rustc --version)"; exit 1; }

# Advisories are left out: they need a database from the network, so that the same tree would pass today and fail
# tomorrow.
deny: tools
	target/tools/cargo-deny --locked --all-features check bans licenses sources

# The length of each target's run, in seconds: an hour before a release, with SEED=new.
SECONDS ?= 15
fuzz:
	scripts/fuzz.sh $(SECONDS)

RUNS ?= 100
KILLS ?= 1000
FILES ?= 1000000
FOLDERS ?= 10000
FULL ?= 20
torment: build
	@seed=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); echo "properties: PROPTEST_RNG_SEED=$$seed"; \
		PROPTEST_RNG_SEED=$$seed PROPTEST_CASES=4096 \
		$(CARGO) test --release --locked $(TESTED_FEATURES) --lib
	target/release/kvdyno-torment --runs $(RUNS) --kills $(KILLS) --files $(FILES) --folders $(FOLDERS) --full $(FULL) \
		--kvdyno target/release/kvdyno --state target/torment.json --document docs/reliability.md

# Adapters that make others slower, outside of where adapters are looked for: docs/engines/slow.md.
SLOWED = lmdb leveldb bdb rocksdb
SLOWED_ENGINES = target/release/slow
slowed: $(BUILT)
	@mkdir -p $(SLOWED_ENGINES)
	@for name in $(SLOWED); do \
		cp -u target/release/libkvdyno_slow.so $(SLOWED_ENGINES)/libkvdyno_slow-$$name.so || exit 1; done

# A row ends after FOR, and the same call goes on. The exit code is the program's: 3 where a target is not met, 4 where
# tries are left; `make` prints it as `Error 3` or `Error 4`.
TRIES ?= 5
FOR ?= 60m
FOLDER ?= target/fidelity
fidelity: slowed
	KVDYNO_ENGINES=$(CURDIR)/$(SLOWED_ENGINES):$(CURDIR)/$(ENGINES) \
		target/release/kvdyno-fidelity $(ROW) --tries $(TRIES) --for $(FOR) --folder $(FOLDER) \
		--kvdyno target/release/kvdyno --document docs/fidelity.md

bench: setup
	$(MAKE) build
	target/release/kvdyno-bench
	@if { command -v npm && { command -v chromium || command -v chromium-browser || command -v google-chrome; }; } \
		>/dev/null; then $(MAKE) bench-page; \
		else echo "the page is not measured: that takes Chromium and npm"; fi

# Engines of others that CI checks: those of the distribution, and some that it brings through every client. What they
# are known to fail is in engines/known-failures.toml.
PACKAGED = leveldb rocksdb rocksdb:pfx bdb wiredtiger:btree wiredtiger:lsm
BROUGHT = rocksdb@5.7.3 rocksdb@8.5.4 lmdb@0.9.90 mdbx sqlite redb fjall bbolt gtm hyperleveldb basho-leveldb
# Those whose adapters are in C, which callgrind can count.
COUNTED = lmdb leveldb rocksdb bdb wiredtiger hyperleveldb basho-leveldb rocksdb@5.7.3 rocksdb@8.5.4 lmdb@0.9.90 mdbx \
	sqlite
test-engines: setup
	$(MAKE) build
	$(MAKE) check-engines

check-engines: export XDG_DATA_HOME = $(CURDIR)/target/data
check-engines:
	WITH_CLIENTS=yes scripts/setup.sh
	target/release/kvdyno engines install $(BROUGHT)
	@# Side by side, because much of it is waiting.
	target/release/kvdyno engines check $(PACKAGED) $(BROUGHT) --kills 5 --flaky 2 --jobs 3 --timeout 180s
	target/release/kvdyno-bench adapters $(COUNTED)

# Policies and processors, as a machine of four NUMA nodes with SMT finds them: tests/numa/README.md.
NUMA_GUEST = $(CURDIR)/target/numa
test-numa: setup
	WITH_GUEST=yes scripts/setup.sh
	$(MAKE) build
	tests/numa/run.sh target/release/kvdyno $(ENGINES) $(NUMA_GUEST)
	KVDYNO_NUMA_RESULTS=$(NUMA_GUEST)/results \
		$(CARGO) test --release --locked -p kvdyno --test tests numa_guest:: -- --ignored

# A controller and two nodes, all on this machine, and STRIKES: requeued tasks, killed ones, a controller that crashes.
# EXPERIMENT: another file than the small one. SLURM_BUDGET: the time that it is scaled to.
STRIKES ?= 20
EXPERIMENT ?= tests/slurm/experiment.toml
SLURM_BUDGET ?= 1m
test-slurm: setup
	WITH_SLURM=yes scripts/setup.sh
	$(MAKE) build
	tests/slurm/run.sh $(CURDIR)/target/release/kvdyno $(CURDIR)/$(ENGINES) target/slurm $(STRIKES) $(EXPERIMENT) \
		$(SLURM_BUDGET)

engines: setup
	WITH_CLIENTS=yes scripts/setup.sh
	$(MAKE) build
	target/release/kvdyno engines install --all

# NAMES="lmdb bdb": only these.
sanitize: setup
	$(MAKE) build
	scripts/sanitize.sh $(NAMES)

engine-table: setup
	$(MAKE) build
	KVDYNO_TABLE_ENGINES="$(NAMES)" \
		$(CARGO) test --release --locked -p kvdyno --test tests engine_table:: -- --ignored

experiment-results: BUDGET = 10m
experiment-results: setup
	$(MAKE) build
	scripts/experiment-results.sh $(BUDGET) $(NAMES)

docs-tables: setup
	$(MAKE) build
	scripts/docs-tables.sh $(NAMES)

PREFIX ?= /usr/local
SHARE = $(DESTDIR)$(PREFIX)/share
install:
	install -D target/release/kvdyno $(DESTDIR)$(PREFIX)/bin/kvdyno
	install -D -t $(DESTDIR)$(PREFIX)/lib/kvdyno/engines \
		$(filter-out %/libkvdyno_faulty.so,$(wildcard $(ENGINES)/libkvdyno_*.so))
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include crates/abi/include/kvdyno.h
	target/release/kvdyno man $(SHARE)/man/man1
	install -d $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	target/release/kvdyno completions bash >$(SHARE)/bash-completion/completions/kvdyno
	target/release/kvdyno completions zsh >$(SHARE)/zsh/site-functions/_kvdyno
	target/release/kvdyno completions fish >$(SHARE)/fish/vendor_completions.d/kvdyno.fish
	install -d $(SHARE)/doc/kvdyno
	cp -R README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT docs $(SHARE)/doc/kvdyno/

package:
	WITH_PACKAGER=yes scripts/setup.sh
	scripts/package.sh

test-package: package
	scripts/test-package.sh

test-image: package
	WITH_IMAGES=yes scripts/setup.sh
	scripts/test-image.sh

clean:
	$(CARGO) clean
