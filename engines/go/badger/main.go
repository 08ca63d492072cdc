// SPDX-License-Identifier: Apache-2.0 OR MIT

// Badger behind the engine ABI: a log-structured merge tree that keeps large values in a value log.
package main

import "kvdyno/adapter"

func init() {
	adapter.Export(adapter.Engine{
		Name:    "badger",
		Summary: "log-structured merge tree in Go with a value log, serializable transactions",
		Module:  "github.com/dgraph-io/badger/v4",
		Capabilities: adapter.CanScan | adapter.CanScanReverse | adapter.CanDelete | adapter.CanBatch |
			adapter.CanMultiGet | adapter.CanTransact | adapter.CanSnapshot | adapter.CanReadModifyWrite |
			adapter.CanWriteConcurrently | adapter.IsMapped | adapter.ReadsRepeat | adapter.IsSerializable |
			adapter.CanContain | adapter.CanScanKeys | adapter.CanScanPrefix | adapter.CanCount,
		Durabilities: []adapter.Durability{adapter.None, adapter.Process, adapter.Periodic, adapter.Commit},
		Compressions: []adapter.Compression{adapter.Uncompressed, adapter.Snappy, adapter.Zstd},
		MinKeySize:   1,
		MaxKeySize:   65_000,    // as it checks: lengths are stored in 16 bits, beside its own suffix
		MaxValueSize: 1<<30 - 1, // a value log file
		Options:      options,
		Presets:      presets,
		Settings:     settings,
		Open:         open,
		Compacts:     true,
		Waits:        true,
	})
}

func main() {}
