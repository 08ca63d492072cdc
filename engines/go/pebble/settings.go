// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"

	"kvdyno/adapter"
)

var options = []adapter.Option{
	adapter.Choice("format", "oldest", "oldest|newest",
		"Format of the files (FormatMajorVersion): the oldest that this Pebble makes, its default, or the newest, with "+
			"columnar blocks."),
	adapter.Bool("log_at_none", false,
		"At durability none keeps a log, written with Sync = false, instead of DisableWAL."),
	adapter.Integer("bloom_bits", 0, 0, 100, "Bits of a Bloom filter for each key; 0: no filter."),
	adapter.Size("block_size", 4096, 1<<10, 1<<20, "Size of a block in a table, before compression (BlockSize)."),
	adapter.Size("index_block_size", 4096, 1<<10, 1<<30, "Size of a block of a table's index (IndexBlockSize)."),
	adapter.Integer("mem_table_stop_writes_threshold", 2, 2, 100, "Write buffers that may be full before writers wait."),
	adapter.Integer("l0_compaction_threshold", 4, 1, 1000, "Sublevels of level 0 that start its compaction."),
	adapter.Integer("l0_stop_writes_threshold", 12, 2, 10_000, "Sublevels of level 0 that make writers wait."),
	adapter.Size("lbase_max_bytes", 64<<20, 1<<20, 1<<40,
		"Size of the level that level 0 is compacted into (LBaseMaxBytes).").Scales(),
	adapter.Size("target_file_size", 2<<20, 64<<10, 1<<30,
		"Size of a table in level 0; each level below has tables twice as large (TargetFileSizes).").Scales(),
	adapter.Integer("max_concurrent_compactions", 1, 1, 64,
		"Compactions that may run at once (CompactionConcurrencyRange)."),
	adapter.Integer("max_open_files", 1000, 50, 1_000_000, "Files that may be open (MaxOpenFiles)."),
	adapter.Size("bytes_per_sync", 512<<10, 4096, 1<<40,
		"Bytes of a table after which it is written back (BytesPerSync)."),
	adapter.Size("wal_bytes_per_sync", 0, 0, 1<<40,
		"Bytes of the log after which it is written back (WALBytesPerSync); 0: never."),
	adapter.Integer("wal_min_sync_interval_us", 0, 0, 1_000_000,
		"Microseconds between syncs of the log, so that more commits share one (WALMinSyncInterval)."),
}

var presets = []adapter.Preset{{
	Name: "cockroach",
	Options: "format=newest,bloom_bits=10,block_size=32KiB,index_block_size=256KiB,l0_compaction_threshold=2," +
		"l0_stop_writes_threshold=1000,mem_table_stop_writes_threshold=4,max_concurrent_compactions=3," +
		"max_open_files=16384",
	Help: "As Pebble's own benchmark sets it up, after CockroachDB, but for its comparer and values in their own files.",
}}

var durabilities = map[adapter.Durability]string{
	adapter.None: "DisableWAL: no log; what is in a memtable alone is gone with the process, close writes it out",
	adapter.Process: "Sync = true on a log whose sync does nothing (Options.FS): acknowledged when it was written to " +
		"the OS; with Sync = false it could still be in the log writer's memory",
	adapter.Periodic: "Sync = true on a log whose sync does nothing (Options.FS): acknowledged when it was written to " +
		"the OS",
	adapter.Commit: "Sync = true: acknowledged when the log was synced; writers that wait together share a sync",
}

func durability(config *adapter.Config) string {
	if config.Durability == adapter.None && config.Bool("log_at_none") {
		return "Sync = false: acknowledged when the log writer has it, which writes its buffers of 32 KiB when they are full"
	}
	return durabilities[config.Durability]
}

var profiles = map[adapter.Compression]*sstable.CompressionProfile{
	adapter.Uncompressed: sstable.NoCompression,
	adapter.Snappy:       sstable.SnappyCompression,
	adapter.Zstd:         sstable.ZstdCompression,
}

func settings(config *adapter.Config, list adapter.Listing) error {
	const most = 4 << 30 // as Pebble checks
	if config.WriteBufferBytes >= most {
		return adapter.Unsupported("write_buffer: Pebble's memtables have to be smaller than 4 GiB")
	}
	list("durability", "WriteOptions", durability(config))
	if config.Durability == adapter.Periodic {
		list.Say("durability", "background", "the log is synced every %d ms, and when it is full", config.SyncPeriodMs)
	}
	list.Say("cache", "CacheSize", "%d, from which memtables take what they hold", config.CacheBytes)
	list.Say("write_buffer", "MemTableSize", "%d", config.WriteBufferBytes)
	list.Say("write_buffer", "MemTableStopWritesThreshold", "%d memtables", config.Int("mem_table_stop_writes_threshold"))
	list("compression", "Compression", profiles[config.Compression].Name)
	list("checksums", "CRC-32C", "that of every block that is read from a file, not of those found in the cache")
	list("files", "log", "*.log")
	list.Options(config)
	return nil
}

func microseconds(number int64) func() time.Duration {
	return func() time.Duration { return time.Duration(number) * time.Microsecond }
}

// engineOptions is what Pebble is opened with, but for what belongs to one database.
func engineOptions(config *adapter.Config) *pebble.Options {
	number := func(name string) int { return int(config.Int(name)) }
	compactions := number("max_concurrent_compactions")
	set := &pebble.Options{
		ErrorIfExists:               config.Create,
		ErrorIfNotExists:            !config.Create,
		CacheSize:                   int64(max(config.CacheBytes, 1)),
		MemTableSize:                config.WriteBufferBytes,
		MemTableStopWritesThreshold: number("mem_table_stop_writes_threshold"),
		L0CompactionThreshold:       number("l0_compaction_threshold"),
		L0StopWritesThreshold:       number("l0_stop_writes_threshold"),
		LBaseMaxBytes:               config.Int("lbase_max_bytes"),
		MaxOpenFiles:                number("max_open_files"),
		BytesPerSync:                number("bytes_per_sync"),
		WALBytesPerSync:             number("wal_bytes_per_sync"),
		WALMinSyncInterval:          microseconds(config.Int("wal_min_sync_interval_us")),
		CompactionConcurrencyRange:  func() (int, int) { return 1, compactions },
		DisableWAL:                  config.Durability == adapter.None && !config.Bool("log_at_none"),
		FormatMajorVersion:          pebble.FormatMinSupported,
	}
	if config.Text("format") == "newest" {
		set.FormatMajorVersion = pebble.FormatNewest
	}
	set.TargetFileSizes[0] = config.Int("target_file_size")
	for index := range set.Levels {
		setLevel(&set.Levels[index], config)
	}
	return set
}

func setLevel(level *pebble.LevelOptions, config *adapter.Config) {
	profile := profiles[config.Compression]
	level.BlockSize = int(config.Int("block_size"))
	level.IndexBlockSize = int(config.Int("index_block_size"))
	level.Compression = func() *sstable.CompressionProfile { return profile }
	if bits := config.Int("bloom_bits"); bits > 0 {
		level.FilterPolicy = bloom.FilterPolicy(bits)
	}
}
