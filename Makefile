# make demo    installs what is missing, builds, and compares every engine on a million records
# make test    the same set-up, then all tests, formatting and lints
# make bench   what the driver itself costs, beside bare loops
# make build   only builds, into target/release
# make engines brings every engine that a registry has, into the user's folder
# make test-engines  brings the optional engines that CI looks after, and checks them
# make sanitize  checks the C adapters under the address, leak, undefined-behaviour and thread sanitizers
# make docs-tables  writes the tables in docs/engines, from the engines that are here
# make test-numa  boots a guest of four NUMA nodes in QEMU, and shows there that each NUMA policy does what it says
# make test-outside  adapters in C and Go, far from the project, with nothing but kvdyno.h beside them (needs Go)

CARGO ?= cargo
ENGINES = target/release/engines
RUST_ADAPTERS = null faulty
C_ADAPTERS = $(wildcard engines/*/*.c engines/*/*.h engines/*/flags.mk) crates/abi/include/kvdyno.h
DEMO = null lmdb rocksdb leveldb bdb wiredtiger:btree wiredtiger:lsm

.DEFAULT_GOAL := help
.PHONY: help setup build adapters demo test lint bench engines test-engines test-numa test-outside sanitize docs-tables install clean

help:
	@sed -n 's/^# \(make \)/\1/p' Makefile

setup:
	@scripts/setup.sh

build: adapters
	$(CARGO) build --release --locked

adapters:
	$(CARGO) build --release --locked $(RUST_ADAPTERS:%=-p kvdyno-engine-%)
	@mkdir -p $(ENGINES)
	@for name in $(RUST_ADAPTERS); do cp -u target/release/libkvdyno_$$name.so $(ENGINES)/ || exit 1; done
	$(MAKE) -C engines OUT=$(CURDIR)/$(ENGINES)

demo: setup
	$(MAKE) build
	target/release/kvdyno compare $(DEMO) --records 1M --readers 1,2,4 --duration 4s --warmup 500ms --name demo

# Tests that mount a small filesystem need root.
test: export KVDYNO_TEST_MOUNT ?= $(if $(filter 0,$(shell id -u)),run,skip)
# Tests of the environment need root, loop devices, and control groups that limit memory.
test: export KVDYNO_TEST_ENVIRONMENT ?= $(shell scripts/can-set-environment.sh && echo run || echo skip)
test: setup
	@echo "tests that mount: $$KVDYNO_TEST_MOUNT; that make loop devices and control groups: $$KVDYNO_TEST_ENVIRONMENT"
	$(MAKE) build
	$(MAKE) lint
	$(CARGO) test --release --locked --workspace
	target/release/kvdyno-bench --check
	target/release/kvdyno-bench adapters lmdb leveldb rocksdb bdb wiredtiger

# The adapters in Go, and one in C, built and measured with nothing but kvdyno.h beside them.
test-outside: build
	cd engines/go && test -z "$$(gofmt -l .)"
	cd engines/go && CGO_CFLAGS="-O2 -I$(CURDIR)/crates/abi/include" go vet ./...
	cd engines/go && CGO_CFLAGS="-O2 -I$(CURDIR)/crates/abi/include" go test -count=1 ./...
	scripts/outside.sh

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --release --locked --workspace --all-targets -- -D warnings

bench: setup
	$(MAKE) build
	target/release/kvdyno-bench

# Engines that CI brings through every client, and checks, beside those that `make test` has.
TESTED = rocksdb@5.7.3 rocksdb@8.5.4 lmdb@0.9.90 gtm mdbx sqlite redb fjall bbolt
# These lose memory or files at each close, by themselves: docs/engines/hyperleveldb.md, basho-leveldb.md.
LEAKING = hyperleveldb basho-leveldb
test-engines: export XDG_DATA_HOME = $(CURDIR)/target/data
test-engines: setup
	WITH_CLIENTS=yes scripts/setup.sh
	$(MAKE) build
	target/release/kvdyno engines install $(TESTED) $(LEAKING)
	target/release/kvdyno engines check $(TESTED) --timeout 600s
	target/release/kvdyno engines check $(LEAKING) --known open-and-close --timeout 600s
	target/release/kvdyno-bench adapters hyperleveldb basho-leveldb rocksdb@5.7.3 rocksdb@8.5.4 lmdb@0.9.90 mdbx sqlite

# Policies and processors, as a machine of four NUMA nodes with SMT finds them: tests/numa/README.md.
NUMA_GUEST = $(CURDIR)/target/numa
test-numa: setup
	WITH_GUEST=yes scripts/setup.sh
	$(MAKE) build
	tests/numa/run.sh target/release/kvdyno $(ENGINES) $(NUMA_GUEST)
	KVDYNO_NUMA_RESULTS=$(NUMA_GUEST)/results $(CARGO) test --release --locked -p kvdyno --test numa_guest -- --ignored

engines: setup
	WITH_CLIENTS=yes scripts/setup.sh
	$(MAKE) build
	target/release/kvdyno engines install --all

# NAMES="lmdb bdb": only these.
sanitize: setup
	$(MAKE) build
	scripts/sanitize.sh $(NAMES)

docs-tables: setup
	$(MAKE) build
	scripts/docs-tables.sh $(NAMES)

PREFIX ?= /usr/local
install:
	install -D target/release/kvdyno $(DESTDIR)$(PREFIX)/bin/kvdyno
	install -D -t $(DESTDIR)$(PREFIX)/lib/kvdyno/engines $(filter-out %/libkvdyno_faulty.so,$(wildcard $(ENGINES)/libkvdyno_*.so))
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include crates/abi/include/kvdyno.h

clean:
	$(CARGO) clean
