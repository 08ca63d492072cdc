// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"bytes"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"kvdyno/adapter"
)

// session has a transaction only between begin and end: one that stayed open would keep the writer from using freed
// pages again, and from mapping more.
type session struct {
	database *database
	tx       *bolt.Tx
	records  *bolt.Bucket // of tx
	changes  int          // of tx
}

func (database *database) Session() (adapter.Session, error) {
	return &session{database: database}, nil
}

func (session *session) Close() {
	if session.tx != nil {
		_ = session.end().Rollback()
	}
}

// ---- reading ----

// Get copies the value, unless the transaction stays open: then the host reads it in the map.
func (session *session) Get(key []byte, value *adapter.Bytes) (bool, error) {
	if session.tx != nil {
		found := session.records.Get(key)
		session.lend(value, found)
		return found != nil, nil
	}
	tx, err := session.database.bolt.Begin(false)
	if err != nil {
		return false, err
	}
	found := tx.Bucket(bucket).Get(key)
	value.Copy(found)
	return found != nil, tx.Rollback()
}

// lend hands out what the open transaction found. In one that writes it may lie in Go's heap.
func (session *session) lend(to *adapter.Bytes, found []byte) {
	if session.tx != nil && session.tx.Writable() {
		to.Copy(found)
	} else {
		to.Lend(found)
	}
}

// ---- writing ----

// update changes records in the open transaction, or in one of its own.
func (session *session) update(change func(records *bolt.Bucket) error) error {
	if session.tx != nil {
		session.changes++
		return change(session.records)
	}
	commit := session.database.bolt.Update
	if session.database.joinPuts {
		commit = session.database.bolt.Batch
	}
	return commit(func(tx *bolt.Tx) error { return change(tx.Bucket(bucket)) })
}

// kept is a value as bbolt may keep it: until the end of the transaction.
func (session *session) kept(value []byte) []byte {
	if session.tx != nil {
		return bytes.Clone(value)
	}
	return value
}

func (session *session) Put(key, value []byte) error {
	return session.update(func(records *bolt.Bucket) error { return records.Put(key, session.kept(value)) })
}

func (session *session) Remove(key []byte) error {
	return session.update(func(records *bolt.Bucket) error { return remove(records, key) })
}

// remove refuses the keys that a put refuses. bbolt itself looks for them and finds nothing.
func remove(records *bolt.Bucket, key []byte) error {
	if len(key) > bolt.MaxKeySize {
		return berrors.ErrKeyTooLarge
	}
	return records.Delete(key)
}

func (session *session) Write(entries []adapter.BatchEntry) error {
	return session.update(func(records *bolt.Bucket) error {
		for _, step := range entries {
			if err := session.apply(records, step); err != nil {
				return err
			}
		}
		return nil
	})
}

func (session *session) apply(records *bolt.Bucket, step adapter.BatchEntry) error {
	if step.Delete {
		return remove(records, step.Key)
	}
	return records.Put(step.Key, session.kept(step.Value))
}

func (session *session) ReadModifyWrite(key []byte, change func(old []byte) ([]byte, error)) error {
	return session.update(func(records *bolt.Bucket) error {
		value, err := change(records.Get(key))
		if err != nil {
			return err
		}
		return records.Put(key, session.kept(value))
	})
}

// ---- transactions ----

func (session *session) Begin(writable bool) error {
	tx, err := session.database.bolt.Begin(writable)
	if err == nil {
		session.tx, session.records, session.changes = tx, tx.Bucket(bucket), 0
	}
	return err
}

// end takes the transaction out of the session.
func (session *session) end() *bolt.Tx {
	tx := session.tx
	session.tx, session.records = nil, nil
	return tx
}

func (session *session) Commit() error {
	if tx := session.end(); tx.Writable() {
		return tx.Commit()
	} else {
		return tx.Rollback()
	}
}

func (session *session) Abort() error { return session.end().Rollback() }
