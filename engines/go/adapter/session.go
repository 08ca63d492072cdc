// SPDX-License-Identifier: Apache-2.0 OR MIT

package adapter

// #include "shim.h"
import "C"

import (
	"bytes"
	"errors"
	"unsafe"
)

// session is what the package keeps for a session of the engine's.
type session struct {
	database *openDatabase
	engine   Session
	value    Bytes
	values   []Bytes // of a multi-get
	entries  []BatchEntry
	begun    transaction
	cursors  map[*cursor]struct{}
	err      error
}

type transaction int

const (
	noTransaction transaction = iota
	reading
	writing
)

var sessions handles[session]

func sessionAt(handle C.uintptr_t) *session { return sessions.at(uintptr(handle)) }

var (
	errReadOnly = Unsupported("a read-only transaction is open on this session")
	errNested   = errors.New("a transaction is open already: they do not nest")
	errNotBegun = errors.New("no transaction is open")
)

// rescue makes an error of a panic, after which nothing more is asked of the database.
func (session *session) rescue(status *C.kvdyno_status) {
	if cause := recover(); cause != nil {
		*status = session.answer(session.database.panicked(cause))
	}
}

// answer is an error's status. The error is kept for session_error.
func (session *session) answer(err error) C.kvdyno_status {
	if err == nil {
		return C.KVDYNO_OK
	}
	session.err = err
	return statusOf(err)
}

//export kvdynoSessionOpen
func kvdynoSessionOpen(of C.uintptr_t, handle *C.uintptr_t, text *C.kvdyno_text) C.kvdyno_status {
	database := databaseAt(of)
	return answer(database.caught(func() error {
		engine, err := database.engine.Session()
		if err == nil {
			opened := &session{database: database, engine: engine, cursors: map[*cursor]struct{}{}}
			*handle = C.uintptr_t(sessions.add(opened))
		}
		return err
	}), text)
}

//export kvdynoSessionClose
func kvdynoSessionClose(handle C.uintptr_t) {
	session := sessionAt(handle)
	_ = session.database.caught(func() error {
		session.resetCursors()
		session.engine.Close()
		return nil
	})
	session.value.free()
	for index := range session.values {
		session.values[index].free()
	}
	sessions.remove(uintptr(handle))
}

//export kvdynoSessionError
func kvdynoSessionError(handle C.uintptr_t, text *C.kvdyno_text) {
	if err := sessionAt(handle).err; err != nil {
		tell(text, err.Error())
	}
}

// ---- reading ----

//export kvdynoGet
func kvdynoGet(handle C.uintptr_t, key unsafe.Pointer, size C.size_t, value *C.kvdyno_bytes) (status C.kvdyno_status) {
	session := sessionAt(handle)
	defer session.rescue(&status)
	if err := session.database.failed(); err != nil {
		return session.answer(err)
	}
	found, err := session.engine.Get(hosts(key, int(size)), &session.value)
	return session.found(found, err, &session.value, value)
}

//export kvdynoContains
func kvdynoContains(handle C.uintptr_t, key unsafe.Pointer, size C.size_t) (status C.kvdyno_status) {
	session := sessionAt(handle)
	defer session.rescue(&status)
	if err := session.database.failed(); err != nil {
		return session.answer(err)
	}
	there, err := session.engine.(Looker).Contains(hosts(key, int(size)))
	if err == nil && !there {
		return C.KVDYNO_MISS
	}
	return session.answer(err)
}

// found hands out what was found, or says that nothing was.
func (session *session) found(found bool, err error, from *Bytes, value *C.kvdyno_bytes) C.kvdyno_status {
	if err != nil {
		return session.answer(err)
	}
	if !found {
		return C.KVDYNO_MISS
	}
	value.data, value.size = from.data, C.size_t(from.size)
	return C.KVDYNO_OK
}

// kvdynoMultiGet crosses once for all keys, and looks into one state: the begun transaction's, or that of now.
//
//export kvdynoMultiGet
func kvdynoMultiGet(handle C.uintptr_t, keys *C.kvdyno_bytes, count C.size_t, values *C.kvdyno_bytes,
	statuses *C.kvdyno_status) (status C.kvdyno_status) {
	session := sessionAt(handle)
	defer session.rescue(&status)
	if err := session.database.failed(); err != nil {
		return session.answer(err)
	}
	for len(session.values) < int(count) {
		session.values = append(session.values, Bytes{copies: true})
	}
	ownState := session.begun == noTransaction
	if ownState {
		if err := session.engine.Begin(false); err != nil {
			return session.answer(err)
		}
	}
	answers, lent := unsafe.Slice(statuses, count), unsafe.Slice(values, count)
	for index, key := range unsafe.Slice(keys, count) {
		into := &session.values[index]
		found, err := session.engine.Get(hosts(key.data, int(key.size)), into)
		answers[index] = session.found(found, err, into, &lent[index])
		if answers[index] < 0 {
			status = answers[index]
		}
	}
	// Not deferred: after a panic the engine may hold what the end would wait for.
	if ownState {
		if err := session.engine.Abort(); err != nil {
			return session.answer(err)
		}
	}
	return status
}

// ---- writing ----

// mayWrite is nil unless the session is in a transaction that only reads, or the engine panicked.
func (session *session) mayWrite() error {
	if session.begun == reading {
		return errReadOnly
	}
	return session.database.failed()
}

//export kvdynoPut
func kvdynoPut(handle C.uintptr_t, key unsafe.Pointer, keySize C.size_t, value unsafe.Pointer,
	valueSize C.size_t) (status C.kvdyno_status) {
	session := sessionAt(handle)
	defer session.rescue(&status)
	if err := session.mayWrite(); err != nil {
		return session.answer(err)
	}
	return session.answer(session.engine.Put(hosts(key, int(keySize)), hosts(value, int(valueSize))))
}

//export kvdynoRemove
func kvdynoRemove(handle C.uintptr_t, key unsafe.Pointer, keySize C.size_t) (status C.kvdyno_status) {
	session := sessionAt(handle)
	defer session.rescue(&status)
	if err := session.mayWrite(); err != nil {
		return session.answer(err)
	}
	return session.answer(session.engine.Remove(hosts(key, int(keySize))))
}

//export kvdynoDeleteRange
func kvdynoDeleteRange(handle C.uintptr_t, from unsafe.Pointer, fromSize C.size_t, to unsafe.Pointer,
	toSize C.size_t) (status C.kvdyno_status) {
	session := sessionAt(handle)
	defer session.rescue(&status)
	if err := session.mayWrite(); err != nil {
		return session.answer(err)
	}
	first, end := hosts(from, int(fromSize)), hosts(to, int(toSize))
	if bytes.Compare(first, end) >= 0 {
		return C.KVDYNO_OK
	}
	return session.answer(session.engine.(RangeDeleter).DeleteRange(first, end))
}

//export kvdynoWrite
func kvdynoWrite(handle C.uintptr_t, entries *C.kvdyno_batch_entry, count C.size_t) (status C.kvdyno_status) {
	session := sessionAt(handle)
	defer session.rescue(&status)
	if err := session.mayWrite(); err != nil || count == 0 {
		return session.answer(err)
	}
	session.entries = session.entries[:0]
	for index := range unsafe.Slice(entries, count) {
		step := &unsafe.Slice(entries, count)[index]
		session.entries = append(session.entries, BatchEntry{
			Delete: step.kind == C.KVDYNO_DELETE,
			Key:    hosts(step.key.data, int(step.key.size)),
			Value:  hosts(step.value.data, int(step.value.size)),
		})
	}
	return session.answer(session.engine.Write(session.entries))
}

//export kvdynoReadModifyWrite
func kvdynoReadModifyWrite(handle C.uintptr_t, key unsafe.Pointer, size C.size_t, update C.kvdyno_update_fn,
	context unsafe.Pointer) (status C.kvdyno_status) {
	session := sessionAt(handle)
	defer session.rescue(&status)
	if err := session.mayWrite(); err != nil {
		return session.answer(err)
	}
	change := func(old []byte) ([]byte, error) {
		var value C.kvdyno_bytes
		if old != nil {
			session.value.Copy(old)
		} else {
			session.value.data, session.value.size = nil, 0
		}
		status := C.kvdyno_go_read_modify_write(update, context, session.value.data, C.size_t(session.value.size), &value)
		if status != C.KVDYNO_OK {
			return nil, failure{status, "the change was given up"}
		}
		return hosts(value.data, int(value.size)), nil
	}
	return session.answer(session.engine.(UpdateFn).ReadModifyWrite(hosts(key, int(size)), change))
}

// ---- transactions ----

//export kvdynoBegin
func kvdynoBegin(handle C.uintptr_t, kind C.uint32_t) (status C.kvdyno_status) {
	session := sessionAt(handle)
	defer session.rescue(&status)
	if err := session.database.failed(); err != nil {
		return session.answer(err)
	}
	needs, next := CanSnapshot, reading
	if kind == C.KVDYNO_READ_WRITE {
		needs, next = CanTransact, writing
	}
	switch {
	case exported.Capabilities&needs == 0:
		return session.answer(Unsupported("%s has no such transactions", exported.Name))
	case session.begun != noTransaction:
		return session.answer(errNested)
	}
	err := session.engine.Begin(next == writing)
	if err == nil {
		session.resetCursors()
		session.begun = next
	}
	return session.answer(err)
}

//export kvdynoEnd
func kvdynoEnd(handle C.uintptr_t, commit C.int) (status C.kvdyno_status) {
	session := sessionAt(handle)
	defer session.rescue(&status)
	if err := session.database.failed(); err != nil {
		return session.answer(err)
	}
	if session.begun == noTransaction {
		return session.answer(errNotBegun)
	}
	session.resetCursors()
	session.begun = noTransaction
	if commit != 0 {
		return session.answer(session.engine.Commit())
	}
	return session.answer(session.engine.Abort())
}
