// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"kvdyno/adapter"
)

type session struct {
	database *database
	snapshot *pebble.Snapshot // between begin and end
}

func (database *database) Session() (adapter.Session, error) {
	return &session{database: database}, nil
}

func (session *session) Close() {
	if session.snapshot != nil {
		_ = session.Abort()
	}
}

// reader is what the session looks into.
func (session *session) reader() pebble.Reader {
	if session.snapshot != nil {
		return session.snapshot
	}
	return session.database.pebble
}

// Get copies. A value may lie in the block cache or in a memtable, outside of Go's heap, or within it, in a large batch
// that waits to be written out: Pebble does not tell which.
func (session *session) Get(key []byte, value *adapter.Bytes) (bool, error) {
	found, closer, err := session.reader().Get(key)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			err = nil
		}
		return false, err
	}
	value.Copy(found)
	return true, closer.Close()
}

func (session *session) Put(key, value []byte) error {
	if err := session.database.failed(); err != nil {
		return err
	}
	return session.database.pebble.Set(key, value, session.database.write)
}

func (session *session) Remove(key []byte) error {
	if err := session.database.failed(); err != nil {
		return err
	}
	return session.database.pebble.Delete(key, session.database.write)
}

// DeleteRange writes one tombstone for all keys of the range.
func (session *session) DeleteRange(from, to []byte) error {
	if err := session.database.failed(); err != nil {
		return err
	}
	return session.database.pebble.DeleteRange(from, to, session.database.write)
}

func (session *session) Write(entries []adapter.BatchEntry) error {
	if err := session.database.failed(); err != nil {
		return err
	}
	batch := session.database.pebble.NewBatch()
	defer batch.Close()
	for _, step := range entries {
		if err := gather(batch, step); err != nil {
			return err
		}
	}
	return batch.Commit(session.database.write)
}

func gather(batch *pebble.Batch, step adapter.BatchEntry) error {
	if step.Delete {
		return batch.Delete(step.Key, nil)
	}
	return batch.Set(step.Key, step.Value, nil)
}

// ---- transactions: snapshots, for reading only ----

func (session *session) Begin(bool) error {
	session.snapshot = session.database.pebble.NewSnapshot()
	return nil
}

func (session *session) Commit() error { return session.Abort() }

func (session *session) Abort() error {
	snapshot := session.snapshot
	session.snapshot = nil
	return snapshot.Close()
}
