// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import "kvdyno/adapter"

// Counters are the bytes of tables, and of files of values beside them, that flushes and compactions wrote.
func (database *database) Counters() adapter.Counters {
	var flushed, compacted uint64
	for _, level := range database.pebble.Metrics().Levels {
		flushed += level.TableBytesFlushed + level.BlobBytesFlushed
		compacted += level.TableBytesCompacted + level.BlobBytesCompacted
	}
	return adapter.Counters{FlushedBytes: &flushed, CompactedBytes: &compacted}
}

func (database *database) Statistics(list adapter.Listing) {
	metrics := database.pebble.Metrics()
	for index, level := range metrics.Levels {
		if level.TablesCount > 0 || level.TableBytesIn > 0 {
			list.Say("levels", "level", "%d: %d tables, %d bytes, score %.2f, write amplification %.2f, %d bytes compacted",
				index, level.TablesCount, level.TablesSize, level.Score, level.WriteAmp(), level.TableBytesCompacted)
		}
	}
	list.Say("levels", "read amplification", "%d", metrics.ReadAmp())
	list.Say("block cache", "size", "%d", metrics.BlockCache.Size)
	list.Say("block cache", "hits", "%d", metrics.BlockCache.Hits)
	list.Say("block cache", "misses", "%d", metrics.BlockCache.Misses)
	list.Say("file cache", "hits", "%d", metrics.FileCache.Hits)
	list.Say("file cache", "misses", "%d", metrics.FileCache.Misses)
	list.Say("filter", "hits", "%d", metrics.Filter.Hits)
	list.Say("filter", "misses", "%d", metrics.Filter.Misses)
	list.Say("memtables", "size", "%d", metrics.MemTable.Size)
	list.Say("memtables", "count", "%d", metrics.MemTable.Count)
	list.Say("background", "flushes", "%d", metrics.Flush.Count)
	list.Say("background", "compactions", "%d", metrics.Compact.Count)
	list.Say("background", "compaction time", "%v", metrics.Compact.Duration)
	list.Say("background", "estimated debt", "%d", metrics.Compact.EstimatedDebt)
	list.Say("log", "bytes in", "%d", metrics.WAL.BytesIn)
	list.Say("log", "bytes written", "%d", metrics.WAL.BytesWritten)
	list.Say("log", "physical size", "%d", metrics.WAL.PhysicalSize)
}
