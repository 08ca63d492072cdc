// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"expvar"
	"strings"

	"github.com/dgraph-io/ristretto/v2"

	"kvdyno/adapter"
)

// Statistics lists the levels, the caches, and Badger's own counters, which are of all databases of the process.
func (database *database) Statistics(list adapter.Listing) {
	for _, level := range database.badger.Levels() {
		list.Say("levels", "level", "%d: %d tables, %d bytes of %d, score %.2f, %d bytes stale",
			level.Level, level.NumTables, level.Size, level.TargetSize, level.Score, level.StaleDatSize)
	}
	tree, values := database.badger.Size()
	list.Say("size", "lsm bytes", "%d", tree)
	list.Say("size", "vlog bytes", "%d", values)
	statisticsOfCache(list, "block cache", database.badger.BlockCacheMetrics())
	statisticsOfCache(list, "index cache", database.badger.IndexCacheMetrics())
	expvar.Do(func(counter expvar.KeyValue) {
		if name, own := strings.CutPrefix(counter.Key, "badger_"); own {
			list("metrics", name, counter.Value.String())
		}
	})
}

// Counters are the bytes of tables that flushes wrote to level 0, and that compactions wrote, of all databases of the
// process. They are absent without metrics.
func (database *database) Counters() adapter.Counters {
	flushed, isInt := expvar.Get("badger_write_bytes_l0").(*expvar.Int)
	byLevel, isMap := expvar.Get("badger_write_bytes_compaction").(*expvar.Map)
	if !isInt || !isMap || !database.badger.Opts().MetricsEnabled {
		return adapter.Counters{}
	}
	bytes, compacted := uint64(flushed.Value()), uint64(0)
	byLevel.Do(func(level expvar.KeyValue) {
		if written, isInt := level.Value.(*expvar.Int); isInt {
			compacted += uint64(written.Value())
		}
	})
	return adapter.Counters{FlushedBytes: &bytes, CompactedBytes: &compacted}
}

func statisticsOfCache(list adapter.Listing, name string, cache *ristretto.Metrics) {
	if cache != nil {
		list.Say(name, "hits", "%d", cache.Hits())
		list.Say(name, "misses", "%d", cache.Misses())
	}
}
