// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"kvdyno/adapter"
)

type database struct {
	pebble  *pebble.DB
	write   *pebble.WriteOptions
	flushes bool // at close: the log, if there is one, may not be synced
	syncer  *adapter.Syncer
	refused atomic.Pointer[error] // the first write of the background that the system refused
	stopped chan struct{}         // closed then
}

func open(config *adapter.Config) (adapter.Database, error) {
	set := engineOptions(config)
	database := &database{write: pebble.Sync, flushes: config.Durability != adapter.Commit, stopped: make(chan struct{})}
	set.Logger = logger{}
	set.EventListener = &pebble.EventListener{BackgroundError: database.note}
	var logs *logFS
	switch config.Durability {
	case adapter.None:
		database.write = pebble.NoSync
	case adapter.Process, adapter.Periodic:
		logs = newLogFS(config.Durability == adapter.Periodic)
		set.FS = logs
	}
	set.WithFSDefaults() // the health checks that Pebble adds to its own
	opened, err := pebble.Open(config.Path, set)
	if err != nil {
		return nil, fmt.Errorf("pebble.Open: %w", err)
	}
	database.pebble = opened
	if config.Durability == adapter.Periodic {
		database.syncer = adapter.StartSyncer(config.SyncPeriodMs, logs.syncLogs)
	}
	return database, nil
}

// logger keeps Pebble from writing of its progress to standard error. What it calls fatal would end the process.
type logger struct{}

func (logger) Infof(string, ...any) {}

func (logger) Errorf(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "pebble: "+format+"\n", values...)
}

func (logger) Fatalf(format string, values ...any) { adapter.Fatal(fmt.Errorf(format, values...)) }

// note remembers what the system refused, as on a full disk: flushes are then tried again and again, and whoever waits
// for one would wait for ever.
func (database *database) note(err error) {
	var cause syscall.Errno
	isRefused := errors.As(err, &cause) || adapter.IsNoSpace(err)
	if isRefused && database.refused.CompareAndSwap(nil, &err) {
		close(database.stopped)
	}
}

// failed is why nothing more is written.
func (database *database) failed() error {
	if err := database.refused.Load(); err != nil {
		return *err
	}
	return nil
}

func (database *database) Close() error {
	err := database.syncer.Stop()
	if database.flushes {
		err = errors.Join(err, database.Flush())
	}
	return errors.Join(err, database.pebble.Close())
}

// Flush writes the memtables to tables, which Pebble syncs.
func (database *database) Flush() error {
	if err := database.failed(); err != nil {
		return err
	}
	flushed, err := database.pebble.AsyncFlush()
	if err != nil {
		return err
	}
	select {
	case <-flushed:
		return nil
	case <-database.stopped:
		return database.failed()
	}
}

// Compact brings all tables to the lowest level.
func (database *database) Compact() error {
	last, err := database.lastKey()
	if err != nil || last == nil {
		return err
	}
	return database.pebble.Compact(context.Background(), []byte{}, append(last, 0), false)
}

func (database *database) lastKey() ([]byte, error) {
	iterator, err := database.pebble.NewIter(nil)
	if err != nil {
		return nil, err
	}
	var last []byte
	if iterator.Last() {
		last = append([]byte{}, iterator.Key()...)
	}
	return last, iterator.Close()
}

// WaitIdle asks until nothing was under way for a while: a compaction that ends may start the next.
func (database *database) WaitIdle() error {
	const pause, enough = 10 * time.Millisecond, 5
	for rests := 0; rests < enough; rests++ {
		time.Sleep(pause)
		if err := database.failed(); err != nil {
			return err
		}
		metrics := database.pebble.Metrics()
		if metrics.Flush.NumInProgress > 0 || metrics.Compact.NumInProgress > 0 || metrics.Table.ObsoleteCount > 0 {
			rests = -1
		}
	}
	return nil
}
