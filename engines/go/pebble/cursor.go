// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"github.com/cockroachdb/pebble/v2"

	"kvdyno/adapter"
)

// cursor opens an iterator at each seek, since one looks into the state at its making. In a snapshot it keeps it.
type cursor struct {
	session  *session
	iterator *pebble.Iterator
	after    []byte // the least key after that which a backward seek asks for
	options  *pebble.IterOptions
	keysOnly bool // values are not looked at: one that lies in a block of its own is not read
}

func (session *session) Cursor() (adapter.Cursor, error) { return &cursor{session: session}, nil }

func (session *session) CursorWith(options adapter.CursorOptions) (adapter.Cursor, error) {
	bounds := &pebble.IterOptions{LowerBound: options.From, UpperBound: options.To}
	return &cursor{session: session, options: bounds, keysOnly: options.KeysOnly}, nil
}

func (cursor *cursor) Close() { cursor.Reset() }

func (cursor *cursor) Reset() {
	if cursor.iterator != nil {
		_ = cursor.iterator.Close() // says again what the last move said
		cursor.iterator = nil
	}
}

func (cursor *cursor) refresh() error {
	if cursor.iterator != nil && cursor.session.snapshot != nil {
		return nil
	}
	cursor.Reset()
	iterator, err := cursor.session.reader().NewIter(cursor.options)
	cursor.iterator = iterator
	return err
}

func (cursor *cursor) Seek(key []byte, backward bool, record *adapter.Record) (bool, error) {
	if err := cursor.refresh(); err != nil {
		return false, err
	}
	return cursor.lend(cursor.search(key, backward), record)
}

func (cursor *cursor) search(key []byte, backward bool) bool {
	switch {
	case key == nil && backward:
		return cursor.iterator.Last()
	case key == nil:
		return cursor.iterator.First()
	case backward:
		cursor.after = append(append(cursor.after[:0], key...), 0)
		return cursor.iterator.SeekLT(cursor.after)
	}
	return cursor.iterator.SeekGE(key)
}

func (cursor *cursor) Next(record *adapter.Record) (bool, error) {
	return cursor.lend(cursor.iterator.Next(), record)
}

func (cursor *cursor) Previous(record *adapter.Record) (bool, error) {
	return cursor.lend(cursor.iterator.Prev(), record)
}

// lend hands out the record that the iterator stands on, if it does.
func (cursor *cursor) lend(there bool, record *adapter.Record) (bool, error) {
	if !there {
		return false, cursor.iterator.Error()
	}
	record.Key.Copy(cursor.iterator.Key())
	if cursor.keysOnly {
		return true, nil
	}
	value, err := cursor.iterator.ValueAndErr()
	if err != nil {
		return false, err
	}
	record.Value.Copy(value)
	return true, nil
}
