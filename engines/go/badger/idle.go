// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"expvar"
	"path/filepath"
	"time"
)

// WaitIdle asks until nothing was under way for a while: Badger does not tell when its goroutines come to rest.
func (database *database) WaitIdle() error {
	const pause, enough = 20 * time.Millisecond, 5
	for rests := 0; rests < enough; rests++ {
		time.Sleep(pause)
		if database.isBusy() {
			rests = -1
		}
	}
	return nil
}

// isBusy says whether a memtable waits to be written out, or a level is full or being compacted.
func (database *database) isBusy() bool {
	logs, _ := filepath.Glob(filepath.Join(database.path, "*.mem"))
	if len(logs) > 1 || tablesInCompaction() > 0 {
		return true
	}
	for _, level := range database.badger.Levels() {
		if level.Score >= 1 {
			return true
		}
	}
	return false
}

// tablesInCompaction is of all databases of the process, and 0 where metrics are switched off.
func tablesInCompaction() int64 {
	if tables, known := expvar.Get("badger_compaction_current_num_lsm").(*expvar.Int); known {
		return tables.Value()
	}
	return 0
}
