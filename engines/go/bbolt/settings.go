// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"kvdyno/adapter"
)

var options = []adapter.Option{
	adapter.Size("map_size", 0, 0, 1<<46,
		"Bytes mapped at once (InitialMmapSize); 0: 4 times the expected data, from 64 GiB up."),
	adapter.Choice("freelist", "array", "array|hashmap",
		"How free pages are kept (FreelistType); the hash map is the faster one where there are many."),
	adapter.Bool("no_freelist_sync", false,
		"Leaves the list of free pages out of each commit (NoFreelistSync); opening then reads the whole tree."),
	adapter.Bool("no_grow_sync", false,
		"At durability commit too, grows the file without extending and syncing it first (NoGrowSync)."),
	adapter.Bool("join_puts", false,
		"Puts, deletes and batches of several sessions share a commit (DB.Batch), and wait up to 10 ms for one another."),
	adapter.Bool("no_statistics", false,
		"Keeps no statistics (NoStatistics): a transaction then takes one lock less."),
}

var presets = []adapter.Preset{
	{Name: "etcd", Options: "freelist=hashmap,no_freelist_sync=true", Help: "As etcd sets it up."},
}

var durabilities = map[adapter.Durability]string{
	adapter.None:    "NoSync, NoGrowSync: a commit writes to the OS, synced at close",
	adapter.Process: "NoSync, NoGrowSync: a commit writes to the OS, synced at close",
	adapter.Periodic: "NoSync, NoGrowSync: a commit writes to the OS; before it is synced, a loss of power may damage " +
		"the database",
	adapter.Commit: "bbolt's default: a commit syncs its pages, then its meta page",
}

func settings(config *adapter.Config, list adapter.Listing) error {
	list("durability", "flags", durabilities[config.Durability])
	if config.Durability == adapter.None {
		list("stronger", "process", "it has no weaker mode")
	}
	if config.Durability == adapter.Periodic {
		list.Say("durability", "background", "DB.Sync every %d ms", config.SyncPeriodMs)
	}
	list("cache", "cache", "none of its own: the database is mapped, the OS caches it")
	list("write_buffer", "write_buffer", "none: a transaction's changed pages, in Go's heap, written at its commit")
	list("compression", "compression", "none")
	list("checksums", "checksums", "none: pages have none, only the meta pages, whose is checked at opening")
	list("files", "log", "none")
	list.Say("options", "InitialMmapSize", "%d", mapSize(config))
	list.Options(config)
	return nil
}

const (
	gib      = 1 << 30
	least    = 64 * gib
	pageSize = 4096
)

func roundUp(bytes, unit uint64) uint64 { return (bytes + unit - 1) / unit * unit }

// recordBytes is what a record takes at least: an element in a leaf page, or, beyond a page, pages of its own.
func recordBytes(keySize, valueSize uint64) uint64 {
	const pageHead, element = 16, 16
	size := element + keySize + valueSize
	if size <= pageSize-pageHead {
		return size
	}
	return roundUp(pageHead+size, pageSize)
}

// mapSize is generous: what is mapped beyond the file costs nothing, while a file that outgrows its map makes the
// writer wait until no transaction reads, and all that would begin to read wait for the writer.
func mapSize(config *adapter.Config) uint64 {
	const most = 1 << 46
	if requested := uint64(config.Int("map_size")); requested != 0 {
		return requested
	}
	each := 4 * recordBytes(config.KeySize, config.ValueSize)
	if config.Records > most/each {
		return most
	}
	return max(roundUp(config.Records*each, gib), least)
}
