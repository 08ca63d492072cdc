// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	badger "github.com/dgraph-io/badger/v4"
	compressions "github.com/dgraph-io/badger/v4/options"

	"kvdyno/adapter"
)

var options = []adapter.Option{
	adapter.Size("value_threshold", 1<<20, 32, 1<<20,
		"Values of this size and more go to the value log (ValueThreshold), smaller ones into the tree."),
	adapter.Bool("detect_conflicts", true,
		"Lets transactions conflict (DetectConflicts); without, they count nothing right, and commit faster."),
	adapter.Choice("checksums", "none", "none|table|block|both",
		"When checksums of blocks are verified (ChecksumVerificationMode): never, when a table is opened, on each read."),
	adapter.Bool("verify_values", false, "Verifies the checksum of what is read in the value log (VerifyValueChecksum)."),
	adapter.Size("block_size", 4096, 512, 1<<20, "Size of a block in a table (BlockSize)."),
	adapter.Bool("block_cache_uncompressed", false,
		"Uses the block cache without compression too, where Badger's manual advises against it."),
	adapter.Size("index_cache", 0, 0, 1<<40,
		"Caches indices and Bloom filters in so many bytes more (IndexCacheSize); 0 keeps all of them in memory."),
	adapter.Real("bloom_false_positive", 0.01, "The part of lookups that a Bloom filter lets pass wrongly, 0 to 1."),
	adapter.Integer("num_memtables", 5, 1, 64, "Write buffers that may wait to be written out (NumMemtables)."),
	adapter.Integer("num_compactors", 4, 2, 64, "Goroutines that compact (NumCompactors)."),
	adapter.Integer("num_level_zero_tables", 5, 1, 1000, "Tables in level 0 that start its compaction."),
	adapter.Integer("num_level_zero_tables_stall", 15, 2, 10_000, "Tables in level 0 that make writers wait."),
	adapter.Size("base_table_size", 2<<20, 64<<10, 1<<30,
		"Size of a table in the first level below 0 (BaseTableSize).").Scales(),
	adapter.Size("base_level_size", 10<<20, 1<<20, 1<<40, "Size of the first level below 0 (BaseLevelSize).").Scales(),
	adapter.Integer("level_size_multiplier", 10, 2, 100, "How much larger the next level is."),
	adapter.Integer("zstd_level", 1, 1, 22, "Effort of the compression zstd (ZSTDCompressionLevel)."),
	adapter.Bool("compact_l0_on_close", false, "Compacts level 0 at close (CompactL0OnClose)."),
	adapter.Bool("metrics", true, "Counts what statistics show (MetricsEnabled)."),
	adapter.Integer("prefetch_size", 100, 0, 10_000, "Values that a scan reads ahead, each in a goroutine; 0: none."),
}

var presets = []adapter.Preset{
	{Name: "kvsep", Options: "value_threshold=1KiB", Help: "Keeps values from 1 KiB up in the value log."},
}

var durabilities = map[adapter.Durability]string{
	adapter.None:     "false: copied into the mapped logs, which survive the process",
	adapter.Process:  "false: copied into the mapped logs, which survive the process",
	adapter.Periodic: "false: copied into the mapped logs, which survive the process",
	adapter.Commit:   "true: msync of the logs; transactions that wait together share one",
}

var kinds = map[adapter.Compression]compressions.CompressionType{
	adapter.Uncompressed: compressions.None,
	adapter.Snappy:       compressions.Snappy,
	adapter.Zstd:         compressions.ZSTD,
}

var checksumModes = map[string]compressions.ChecksumVerificationMode{
	"none":  compressions.NoVerification,
	"table": compressions.OnTableRead,
	"block": compressions.OnBlockRead,
	"both":  compressions.OnTableAndBlockRead,
}

var checksumWords = map[string]string{
	"none":  "NoVerification: blocks of tables are read unchecked",
	"table": "OnTableRead: those of a whole table when it is opened",
	"block": "OnBlockRead: that of every block that is read, but for those found in the cache",
	"both":  "OnTableAndBlockRead: those of a table when it is opened, and that of every block that is read",
}

// leastMemtable keeps Badger's own value threshold, and batches of 10,000 records, within 15 % of a memtable: more a
// transaction may not hold.
const leastMemtable = 16 << 20

// engineOptions is what Badger is opened with.
func engineOptions(config *adapter.Config) badger.Options {
	number := func(name string) int { return int(config.Int(name)) }
	return badger.DefaultOptions(config.Path).
		WithLogger(logger{}).
		WithSyncWrites(config.Durability == adapter.Commit).
		WithCompression(kinds[config.Compression]).
		WithZSTDCompressionLevel(number("zstd_level")).
		WithBlockCacheSize(blockCache(config)).
		WithIndexCacheSize(config.Int("index_cache")).
		WithMemTableSize(max(int64(config.WriteBufferBytes), leastMemtable)).
		WithNumMemtables(number("num_memtables")).
		WithValueThreshold(config.Int("value_threshold")).
		WithDetectConflicts(config.Bool("detect_conflicts")).
		WithChecksumVerificationMode(checksumModes[config.Text("checksums")]).
		WithVerifyValueChecksum(config.Bool("verify_values")).
		WithBlockSize(number("block_size")).
		WithBloomFalsePositive(config.Real("bloom_false_positive")).
		WithNumCompactors(number("num_compactors")).
		WithNumLevelZeroTables(number("num_level_zero_tables")).
		WithNumLevelZeroTablesStall(number("num_level_zero_tables_stall")).
		WithBaseTableSize(config.Int("base_table_size")).
		WithBaseLevelSize(config.Int("base_level_size")).
		WithLevelSizeMultiplier(number("level_size_multiplier")).
		WithCompactL0OnClose(config.Bool("compact_l0_on_close")).
		WithMetricsEnabled(config.Bool("metrics"))
}

// blockCache is none without compression, as Badger's manual advises: blocks are then read in the map.
func blockCache(config *adapter.Config) int64 {
	if config.Compression == adapter.Uncompressed && !config.Bool("block_cache_uncompressed") {
		return 0
	}
	return int64(config.CacheBytes)
}

func settings(config *adapter.Config, list adapter.Listing) error {
	if err := acceptable(config); err != nil {
		return err
	}
	list("durability", "SyncWrites", durabilities[config.Durability])
	if config.Durability == adapter.None {
		list("stronger", "process", "it has no weaker mode on a disk")
	}
	if config.Durability == adapter.Periodic {
		list.Say("durability", "background", "DB.Sync and the logs of waiting memtables every %d ms", config.SyncPeriodMs)
	}
	settingsOfMemory(config, list)
	list("compression", "Compression", map[adapter.Compression]string{
		adapter.Uncompressed: "none", adapter.Snappy: "snappy", adapter.Zstd: "zstd",
	}[config.Compression])
	list("checksums", "ChecksumVerificationMode", checksumWords[config.Text("checksums")])
	list("files", "log", "*.mem")
	list.Say("checksums", "VerifyValueChecksum", "%t", config.Bool("verify_values"))
	list.Options(config)
	return nil
}

func settingsOfMemory(config *adapter.Config, list adapter.Listing) {
	set := engineOptions(config)
	if set.BlockCacheSize == 0 {
		list("cache", "BlockCacheSize", "0: blocks that are not compressed are read in the mapped tables, the OS caches them")
	} else {
		list.Say("cache", "BlockCacheSize", "%d", set.BlockCacheSize)
	}
	if set.IndexCacheSize == 0 {
		list("cache", "IndexCacheSize", "0: indices and Bloom filters stay in the mapped tables")
	} else {
		list.Say("cache", "IndexCacheSize", "%d, beside the cache", set.IndexCacheSize)
	}
	why := ""
	if config.WriteBufferBytes < leastMemtable {
		why = ", the least that is set: a transaction may hold 15 % of it"
	}
	list.Say("write_buffer", "MemTableSize", "%d%s", set.MemTableSize, why)
	list.Say("write_buffer", "NumMemtables", "%d may wait to be written out", set.NumMemtables)
}

func acceptable(config *adapter.Config) error {
	const most = 1 << 31 // the log of a memtable is mapped twice as large, and has offsets of 32 bits
	switch falsePositive := config.Real("bloom_false_positive"); {
	case config.WriteBufferBytes >= most:
		return adapter.Unsupported("write_buffer: Badger's memtables have to be smaller than 2 GiB")
	case falsePositive < 0 || falsePositive >= 1:
		return adapter.Unsupported("bloom_false_positive: %g is not from 0 to below 1", falsePositive)
	case config.Int("num_level_zero_tables_stall") <= config.Int("num_level_zero_tables"):
		return adapter.Unsupported("num_level_zero_tables_stall: must be above num_level_zero_tables")
	}
	return nil
}
