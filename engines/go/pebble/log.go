// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"errors"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logFS is a file system in which logs are not synced when Pebble asks for it. A commit with Sync = true then comes
// back when the log writer has written it to the OS: nothing else makes Pebble wait for that, and not for the storage.
type logFS struct {
	vfs.FS
	syncAtClose bool // of a log that is full
	lock        sync.Mutex
	open        map[*logFile]struct{}
}

func newLogFS(syncAtClose bool) *logFS {
	return &logFS{FS: vfs.Default, syncAtClose: syncAtClose, open: map[*logFile]struct{}{}}
}

func (fs *logFS) Unwrap() vfs.FS { return fs.FS }

func (fs *logFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := fs.FS.Create(name, category)
	return fs.wrap(name, file, err)
}

func (fs *logFS) ReuseForWrite(old, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := fs.FS.ReuseForWrite(old, name, category)
	return fs.wrap(name, file, err)
}

func (fs *logFS) wrap(name string, file vfs.File, err error) (vfs.File, error) {
	if err != nil || !strings.HasSuffix(name, ".log") {
		return file, err
	}
	log := &logFile{File: file, fs: fs}
	fs.lock.Lock()
	defer fs.lock.Unlock()
	fs.open[log] = struct{}{}
	return log, nil
}

// syncLogs syncs what was written to the logs that are open.
func (fs *logFS) syncLogs() error {
	fs.lock.Lock()
	defer fs.lock.Unlock()
	var all []error
	for log := range fs.open {
		all = append(all, log.File.SyncData())
	}
	return errors.Join(all...)
}

// logFile is a log of a logFS.
type logFile struct {
	vfs.File
	fs *logFS
}

func (log *logFile) Sync() error { return nil }

func (log *logFile) SyncData() error { return nil }

func (log *logFile) Close() error {
	log.fs.lock.Lock()
	delete(log.fs.open, log)
	log.fs.lock.Unlock()
	var err error
	if log.fs.syncAtClose {
		err = log.File.SyncData()
	}
	return errors.Join(err, log.File.Close())
}
