// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// countingFS counts the syncs that reach files.
type countingFS struct {
	vfs.FS
	syncs atomic.Int32
}

type countingFile struct {
	vfs.File
	fs *countingFS
}

func (fs *countingFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := fs.FS.Create(name, category)
	if filepath.Ext(name) == ".log" {
		file = &countingFile{file, fs}
	}
	return file, err
}

func (file *countingFile) Sync() error     { file.fs.syncs.Add(1); return file.File.Sync() }
func (file *countingFile) SyncData() error { file.fs.syncs.Add(1); return file.File.SyncData() }

func opened(t *testing.T, syncAtClose bool) (*pebble.DB, *logFS, *countingFS, string) {
	t.Helper()
	counting := &countingFS{FS: vfs.Default}
	logs := newLogFS(syncAtClose)
	logs.FS = counting
	folder := t.TempDir()
	opened, err := pebble.Open(folder, &pebble.Options{FS: logs, Logger: logger{}})
	if err != nil {
		t.Fatal(err)
	}
	return opened, logs, counting, folder
}

// logged is what the logs of a folder hold for whoever reads the files.
func logged(t *testing.T, folder string) []byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	return all
}

func TestAnAcknowledgedWriteIsInTheFileAndNotSynced(t *testing.T) {
	opened, logs, counting, folder := opened(t, true)
	for round := range 200 {
		value := []byte{byte(round), 'v', 'a', 'l', 'u', 'e', byte(round)}
		if err := opened.Set([]byte("key"), value, pebble.Sync); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(logged(t, folder), value) {
			t.Fatalf("write %d was acknowledged and is not in the file", round)
		}
	}
	if syncs := counting.syncs.Load(); syncs != 0 {
		t.Fatalf("the log was synced %d times", syncs)
	}
	if err := logs.syncLogs(); err != nil || counting.syncs.Load() != 1 {
		t.Fatalf("%d syncs of one log, %v", counting.syncs.Load(), err)
	}
	if err := opened.Flush(); err != nil {
		t.Fatal(err)
	}
	if syncs := counting.syncs.Load(); syncs != 2 {
		t.Fatalf("%d syncs after the log was full", syncs)
	}
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
}

// Why durability process cannot be met by Sync = false: the log writer keeps what does not fill its buffer. The day
// this fails, logFS is needed no more.
func TestWithoutSyncAWriteStaysInTheProcess(t *testing.T) {
	opened, _, _, folder := opened(t, false)
	defer opened.Close()
	// The first write wakes the log writer, which may take a few more along.
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		if err := opened.Set([]byte("key"), []byte("the value"), pebble.NoSync); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(logged(t, folder), []byte("the value")) {
			return
		}
	}
	t.Fatal("every write reached the file at once")
}
