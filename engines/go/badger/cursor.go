// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"bytes"

	badger "github.com/dgraph-io/badger/v4"

	"kvdyno/adapter"
)

// cursor looks into the session's transaction, or into one of its own that begins at each seek. Badger's iterators know
// one direction: to turn round takes another one.
type cursor struct {
	session  *session
	own      *badger.Txn
	iterator *badger.Iterator
	backward bool
	at       []byte // the key that it stands on
	keysOnly bool
	prefix   []byte // of all keys that it shows, or nil
}

func (session *session) Cursor() (adapter.Cursor, error) { return &cursor{session: session}, nil }

func (session *session) CursorWith(options adapter.CursorOptions) (adapter.Cursor, error) {
	return &cursor{session: session, keysOnly: options.KeysOnly, prefix: options.Prefix}, nil
}

func (cursor *cursor) Close() { cursor.Reset() }

func (cursor *cursor) Reset() {
	cursor.closeIterator()
	if cursor.own != nil {
		cursor.own.Discard()
		cursor.own = nil
	}
}

func (cursor *cursor) closeIterator() {
	if cursor.iterator != nil {
		cursor.iterator.Close()
		cursor.iterator = nil
	}
}

// openIterator opens one in the transaction that the cursor looks into. It sees what that had written by now.
func (cursor *cursor) openIterator(backward bool) {
	cursor.closeIterator()
	txn := cursor.session.txn
	if txn == nil {
		txn = cursor.own
	}
	prefetch := cursor.session.database.prefetch
	cursor.backward = backward
	cursor.iterator = txn.NewIterator(badger.IteratorOptions{
		PrefetchValues: prefetch > 0 && !cursor.keysOnly,
		PrefetchSize:   prefetch,
		Reverse:        backward,
		Prefix:         cursor.prefix, // Rewind goes to it, and tables without it are left alone
	})
}

// refresh makes the cursor look into the newest state. In a snapshot that is still the one it looks into.
func (cursor *cursor) refresh(backward bool) {
	session := cursor.session
	if session.txn != nil && !session.writes && cursor.iterator != nil && cursor.backward == backward {
		return
	}
	cursor.Reset()
	if session.txn == nil {
		cursor.own = session.database.badger.NewTransaction(false)
	}
	cursor.openIterator(backward)
}

func (cursor *cursor) Seek(key []byte, backward bool, record *adapter.Record) (bool, error) {
	cursor.refresh(backward)
	if key == nil {
		cursor.iterator.Rewind()
	} else {
		cursor.iterator.Seek(key)
	}
	return cursor.lend(record)
}

func (cursor *cursor) Next(record *adapter.Record) (bool, error) { return cursor.step(false, record) }

func (cursor *cursor) Previous(record *adapter.Record) (bool, error) {
	return cursor.step(true, record)
}

func (cursor *cursor) step(backward bool, record *adapter.Record) (bool, error) {
	if backward != cursor.backward {
		cursor.openIterator(backward)
		cursor.iterator.Seek(cursor.at)
		if !cursor.iterator.Valid() || !bytes.Equal(cursor.iterator.Item().Key(), cursor.at) {
			return cursor.lend(record)
		}
	}
	cursor.iterator.Next()
	return cursor.lend(record)
}

// lend hands out the record that the iterator stands on, if it does.
func (cursor *cursor) lend(record *adapter.Record) (bool, error) {
	if !cursor.iterator.Valid() {
		return false, nil
	}
	item := cursor.iterator.Item()
	cursor.at = append(cursor.at[:0], item.Key()...)
	record.Key.Copy(cursor.at)
	if cursor.keysOnly {
		return true, nil
	}
	cursor.session.into = &record.Value
	return true, item.Value(cursor.session.copied)
}
