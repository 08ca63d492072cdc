// SPDX-License-Identifier: Apache-2.0 OR MIT

// bbolt behind the engine ABI: a copy-on-write B+tree in one mapped file, with one writer.
package main

import (
	bolt "go.etcd.io/bbolt"

	"kvdyno/adapter"
)

func init() {
	adapter.Export(adapter.Engine{
		Name:    "bbolt",
		Summary: "memory-mapped copy-on-write B+tree in Go, one writer at a time",
		Module:  "go.etcd.io/bbolt",
		Capabilities: adapter.CanScan | adapter.CanScanReverse | adapter.CanDelete | adapter.CanBatch |
			adapter.CanMultiGet | adapter.CanTransact | adapter.CanSnapshot | adapter.CanReadModifyWrite | adapter.IsMapped |
			adapter.ReadsRepeat | adapter.IsSerializable | adapter.CanCount,
		Durabilities: []adapter.Durability{adapter.None, adapter.Process, adapter.Periodic, adapter.Commit},
		Compressions: []adapter.Compression{adapter.Uncompressed},
		MinKeySize:   1,
		MaxKeySize:   bolt.MaxKeySize,
		MaxValueSize: bolt.MaxValueSize,
		Options:      options,
		Presets:      presets,
		Settings:     settings,
		Open:         open,
	})
}

func main() {}
