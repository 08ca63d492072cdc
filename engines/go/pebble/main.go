// SPDX-License-Identifier: Apache-2.0 OR MIT

// Pebble behind the engine ABI: the log-structured merge tree of CockroachDB.
package main

import "kvdyno/adapter"

func init() {
	adapter.Export(adapter.Engine{
		Name:    "pebble",
		Summary: "log-structured merge tree in Go, made for CockroachDB",
		Module:  "github.com/cockroachdb/pebble/v2",
		Capabilities: adapter.CanScan | adapter.CanScanReverse | adapter.CanDelete | adapter.CanBatch |
			adapter.CanMultiGet | adapter.CanSnapshot | adapter.CanWriteConcurrently | adapter.CanCount |
			adapter.CanDeleteRange | adapter.CanBound | adapter.CanScanKeys,
		Durabilities: []adapter.Durability{adapter.None, adapter.Process, adapter.Periodic, adapter.Commit},
		Compressions: []adapter.Compression{adapter.Uncompressed, adapter.Snappy, adapter.Zstd},
		Options:      options,
		Presets:      presets,
		Settings:     settings,
		Open:         open,
		Compacts:     true,
		Waits:        true,
	})
}

func main() {}
