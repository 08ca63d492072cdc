// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"kvdyno/adapter"
)

// bucket holds all records.
var bucket = []byte("kvdyno")

type database struct {
	bolt     *bolt.DB
	joinPuts bool
	counts   bool
	syncer   *adapter.Syncer
}

func open(config *adapter.Config) (adapter.Database, error) {
	path := filepath.Join(config.Path, "bbolt.db")
	if err := asExpected(path, config.Create); err != nil {
		return nil, err
	}
	opened, err := bolt.Open(path, 0o666, &bolt.Options{
		Timeout:         5 * time.Second, // for the lock of a process that is just being ended
		NoSync:          config.Durability != adapter.Commit,
		NoGrowSync:      config.Durability != adapter.Commit || config.Bool("no_grow_sync"),
		NoFreelistSync:  config.Bool("no_freelist_sync"),
		FreelistType:    bolt.FreelistType(config.Text("freelist")),
		InitialMmapSize: int(mapSize(config)),
		NoStatistics:    config.Bool("no_statistics"),
	})
	if err != nil {
		return nil, fmt.Errorf("bolt.Open: %w", err)
	}
	err = opened.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
	if err != nil {
		opened.Close()
		return nil, fmt.Errorf("making the bucket: %w", err)
	}
	database := &database{bolt: opened, joinPuts: config.Bool("join_puts"), counts: !config.Bool("no_statistics")}
	if config.Durability == adapter.Periodic {
		database.syncer = adapter.StartSyncer(config.SyncPeriodMs, opened.Sync)
	}
	return database, nil
}

// asExpected is an error unless there is a file where one is to be opened: bbolt makes what is not there.
func asExpected(path string, create bool) error {
	_, err := os.Stat(path)
	switch {
	case err == nil && create:
		return fmt.Errorf("%s is there already", path)
	case err != nil && !create:
		return err
	}
	return nil
}

// Close syncs first: bbolt's own Close does not.
func (database *database) Close() error {
	err := database.syncer.Stop()
	for _, step := range []func() error{database.bolt.Sync, database.bolt.Close} {
		if failed := step(); err == nil {
			err = failed
		}
	}
	return err
}

func (database *database) Flush() error { return database.bolt.Sync() }

// Counters are the pages that transactions allocated, each of which is written once: none without statistics.
func (database *database) Counters() adapter.Counters {
	if !database.counts {
		return adapter.Counters{}
	}
	stats := database.bolt.Stats()
	written := uint64(stats.TxStats.GetPageAlloc())
	return adapter.Counters{FlushedBytes: &written}
}

func (database *database) Statistics(list adapter.Listing) {
	stats := database.bolt.Stats()
	pages := stats.TxStats
	list.Say("freelist", "FreePageN", "%d", stats.FreePageN)
	list.Say("freelist", "PendingPageN", "%d", stats.PendingPageN)
	list.Say("freelist", "FreelistInuse", "%d", stats.FreelistInuse)
	list.Say("transactions", "TxN", "%d", stats.TxN)
	list.Say("transactions", "OpenTxN", "%d", stats.OpenTxN)
	list.Say("pages", "PageCount", "%d", pages.GetPageCount())
	list.Say("pages", "PageAlloc", "%d", pages.GetPageAlloc())
	list.Say("pages", "Rebalance", "%d", pages.GetRebalance())
	list.Say("pages", "Split", "%d", pages.GetSplit())
	list.Say("pages", "Spill", "%d", pages.GetSpill())
	list.Say("pages", "SpillTime", "%v", pages.GetSpillTime())
	list.Say("pages", "Write", "%d", pages.GetWrite())
	list.Say("pages", "WriteTime", "%v", pages.GetWriteTime())
}
