// SPDX-License-Identifier: Apache-2.0 OR MIT

package adapter

// #include "kvdyno.h"
import "C"

import (
	"errors"
	"unsafe"
)

// cursor is what the package keeps for a cursor of the engine's.
type cursor struct {
	session  *session
	engine   Cursor
	record   Record
	position position
}

// position is where a cursor stands.
type position int

const (
	nowhere position = iota
	onRecord
	beforeFirst
	afterLast
)

var cursors handles[cursor]

func cursorAt(handle C.uintptr_t) *cursor { return cursors.at(uintptr(handle)) }

var errNotPositioned = errors.New("the cursor stands nowhere: seek first")

//export kvdynoCursorOpen
func kvdynoCursorOpen(handle C.uintptr_t, opened *C.uintptr_t) C.kvdyno_status {
	return sessionAt(handle).open(opened, func(engine Session) (Cursor, error) { return engine.Cursor() })
}

//export kvdynoCursorOpenWith
func kvdynoCursorOpenWith(handle C.uintptr_t, options *C.kvdyno_cursor_options, opened *C.uintptr_t) C.kvdyno_status {
	given := CursorOptions{KeysOnly: options.keys_only != 0, From: bound(&options.from), To: bound(&options.to)}
	if C.size_t(options.size) >= C.sizeof_kvdyno_cursor_options {
		given.Prefix = bound(&options.prefix)
	}
	return sessionAt(handle).open(opened, func(engine Session) (Cursor, error) {
		return engine.(Scanner).CursorWith(given)
	})
}

// bound is a copy of a key, and nil where there is none.
func bound(key *C.kvdyno_bytes) []byte {
	if key.size == 0 {
		return nil
	}
	return append([]byte{}, hosts(key.data, int(key.size))...)
}

func (session *session) open(opened *C.uintptr_t, open func(engine Session) (Cursor, error)) (status C.kvdyno_status) {
	defer session.rescue(&status)
	if err := session.database.failed(); err != nil {
		return session.answer(err)
	}
	engine, err := open(session.engine)
	if err != nil {
		return session.answer(err)
	}
	cursor := &cursor{session: session, engine: engine}
	session.cursors[cursor] = struct{}{}
	*opened = C.uintptr_t(cursors.add(cursor))
	return C.KVDYNO_OK
}

//export kvdynoCursorClose
func kvdynoCursorClose(handle C.uintptr_t) {
	cursor := cursorAt(handle)
	_ = cursor.session.database.caught(func() error {
		cursor.engine.Close()
		return nil
	})
	cursor.record.Key.free()
	cursor.record.Value.free()
	delete(cursor.session.cursors, cursor)
	cursors.remove(uintptr(handle))
}

// resetCursors lets go of every record, where a transaction begins or ends: no cursor looks into two states.
func (session *session) resetCursors() {
	for cursor := range session.cursors {
		cursor.position = nowhere
		cursor.engine.Reset()
	}
}

//export kvdynoCursorSeek
func kvdynoCursorSeek(handle C.uintptr_t, key unsafe.Pointer, size C.size_t, direction C.uint32_t,
	found, value *C.kvdyno_bytes) (status C.kvdyno_status) {
	cursor := cursorAt(handle)
	defer cursor.session.rescue(&status)
	if err := cursor.session.database.failed(); err != nil {
		return cursor.session.answer(err)
	}
	from := []byte(nil)
	if key != nil {
		from = hosts(key, int(size))
	}
	return cursor.seek(from, direction == C.KVDYNO_BACKWARD, found, value)
}

func (cursor *cursor) seek(from []byte, backward bool, found, value *C.kvdyno_bytes) C.kvdyno_status {
	cursor.position = nowhere
	there, err := cursor.engine.Seek(from, backward, &cursor.record)
	return cursor.answer(there, err, backward, found, value)
}

//export kvdynoCursorStep
func kvdynoCursorStep(handle C.uintptr_t, direction C.uint32_t, found, value *C.kvdyno_bytes) (status C.kvdyno_status) {
	cursor := cursorAt(handle)
	defer cursor.session.rescue(&status)
	if err := cursor.session.database.failed(); err != nil {
		return cursor.session.answer(err)
	}
	backward := direction == C.KVDYNO_BACKWARD
	switch cursor.position {
	case nowhere:
		return cursor.session.answer(errNotPositioned)
	case beforeFirst, afterLast:
		if backward == (cursor.position == beforeFirst) {
			return C.KVDYNO_MISS
		}
		return cursor.seek(nil, backward, found, value)
	}
	if backward {
		there, err := cursor.engine.Previous(&cursor.record)
		return cursor.answer(there, err, backward, found, value)
	}
	there, err := cursor.engine.Next(&cursor.record)
	return cursor.answer(there, err, backward, found, value)
}

// answer notes where the cursor stands, and hands out the record.
func (cursor *cursor) answer(there bool, err error, backward bool, found, value *C.kvdyno_bytes) C.kvdyno_status {
	switch {
	case err != nil:
		cursor.position = nowhere
		return cursor.session.answer(err)
	case there:
		cursor.position = onRecord
		*found = C.kvdyno_bytes{cursor.record.Key.data, C.size_t(cursor.record.Key.size)}
		*value = C.kvdyno_bytes{cursor.record.Value.data, C.size_t(cursor.record.Value.size)}
		return C.KVDYNO_OK
	case backward:
		cursor.position = beforeFirst
	default:
		cursor.position = afterLast
	}
	return C.KVDYNO_MISS
}
