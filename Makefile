# make demo    installs what is missing, builds, and compares every engine on a million records
# make test    the same set-up, then all tests, formatting and lints
# make bench   what the driver itself costs, beside bare loops
# make build   only builds, into target/release
# make engines fetches and builds every engine that a registry has, into the user's folder

CARGO ?= cargo
ENGINES = target/release/engines
RUST_ADAPTERS = null faulty
C_ADAPTERS = $(wildcard engines/*/*.c engines/*/*.h engines/*/flags.mk) crates/abi/include/kvdyno.h
DEMO = null lmdb rocksdb leveldb bdb wiredtiger:btree wiredtiger:lsm

.DEFAULT_GOAL := help
.PHONY: help setup build adapters demo test lint bench engines install clean

help:
	@sed -n 's/^# //p' Makefile

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
test: setup
	$(MAKE) build
	$(MAKE) lint
	$(CARGO) test --release --locked --workspace
	target/release/kvdyno-bench --check

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --release --locked --workspace --all-targets -- -D warnings

bench: setup
	$(MAKE) build
	target/release/kvdyno-bench

engines: setup
	$(MAKE) build
	target/release/kvdyno engines install --all

PREFIX ?= /usr/local
install:
	install -D target/release/kvdyno $(DESTDIR)$(PREFIX)/bin/kvdyno
	install -D -t $(DESTDIR)$(PREFIX)/lib/kvdyno/engines $(filter-out %/libkvdyno_faulty.so,$(wildcard $(ENGINES)/libkvdyno_*.so))
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include crates/abi/include/kvdyno.h

clean:
	$(CARGO) clean
