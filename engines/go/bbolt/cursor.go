// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"bytes"

	bolt "go.etcd.io/bbolt"

	"kvdyno/adapter"
)

// cursor looks into the session's transaction, or into one of its own that begins at each seek.
type cursor struct {
	session *session
	own     *bolt.Tx
	bolt    *bolt.Cursor
	at      []byte // in a transaction that writes: the key that it stands on
	changes int    // and how many changes there had been
}

func (session *session) Cursor() (adapter.Cursor, error) { return &cursor{session: session}, nil }

func (cursor *cursor) Close() { cursor.Reset() }

func (cursor *cursor) Reset() {
	cursor.bolt = nil
	if cursor.own != nil {
		_ = cursor.own.Rollback()
		cursor.own = nil
	}
}

// refresh makes the cursor look into the newest state.
func (cursor *cursor) refresh() error {
	cursor.Reset()
	if cursor.session.tx != nil {
		cursor.bolt = cursor.session.records.Cursor()
		return nil
	}
	tx, err := cursor.session.database.bolt.Begin(false)
	if err == nil {
		cursor.own, cursor.bolt = tx, tx.Bucket(bucket).Cursor()
	}
	return err
}

func (cursor *cursor) Seek(key []byte, backward bool, record *adapter.Record) (bool, error) {
	if err := cursor.refresh(); err != nil {
		return false, err
	}
	found, value := cursor.search(key, backward)
	return cursor.lend(found, value, record), nil
}

func (cursor *cursor) search(key []byte, backward bool) (found, value []byte) {
	switch {
	case key == nil && backward:
		return cursor.bolt.Last()
	case key == nil:
		return cursor.bolt.First()
	}
	found, value = cursor.bolt.Seek(key)
	if backward && !bytes.Equal(found, key) {
		return cursor.before(found)
	}
	return found, value
}

// before entries back from where a seek came to, which is nowhere after the last key.
func (cursor *cursor) before(found []byte) (key, value []byte) {
	if found == nil {
		return cursor.bolt.Last()
	}
	return cursor.bolt.Prev()
}

func (cursor *cursor) Next(record *adapter.Record) (bool, error) {
	if cursor.isAstray() {
		if key, value := cursor.bolt.Seek(cursor.at); !bytes.Equal(key, cursor.at) {
			return cursor.lend(key, value, record), nil
		}
	}
	key, value := cursor.bolt.Next()
	return cursor.lend(key, value, record), nil
}

func (cursor *cursor) Previous(record *adapter.Record) (bool, error) {
	if cursor.isAstray() {
		at, _ := cursor.bolt.Seek(cursor.at)
		key, value := cursor.before(at)
		return cursor.lend(key, value, record), nil
	}
	key, value := cursor.bolt.Prev()
	return cursor.lend(key, value, record), nil
}

// isAstray says whether the transaction wrote since the cursor moved: bbolt's cursor must then be placed again.
func (cursor *cursor) isAstray() bool {
	return cursor.own == nil && cursor.changes != cursor.session.changes
}

// lend hands out a record of the tree, if there is one.
func (cursor *cursor) lend(key, value []byte, record *adapter.Record) bool {
	if key == nil {
		return false
	}
	cursor.session.lend(&record.Key, key)
	cursor.session.lend(&record.Value, value)
	if cursor.own == nil {
		cursor.at, cursor.changes = append(cursor.at[:0], key...), cursor.session.changes
	}
	return true
}
