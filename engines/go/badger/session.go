// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"bytes"
	"errors"

	badger "github.com/dgraph-io/badger/v4"

	"kvdyno/adapter"
)

// session reads and writes in the open transaction, or in one for each call: Badger knows no other way.
type session struct {
	database *database
	txn      *badger.Txn
	writes   bool
	into     *adapter.Bytes
	copied   func(value []byte) error // copies it into `into`
}

func (database *database) Session() (adapter.Session, error) {
	session := &session{database: database}
	session.copied = func(value []byte) error {
		session.into.Copy(value)
		return nil
	}
	return session, nil
}

func (session *session) Close() {
	if session.txn != nil {
		session.end().Discard()
	}
}

// ---- reading ----

func (session *session) Get(key []byte, value *adapter.Bytes) (bool, error) {
	session.into = value
	return session.look(key, func(item *badger.Item) error { return item.Value(session.copied) })
}

// Contains leaves out what brings the value: the key is found without it.
func (session *session) Contains(key []byte) (bool, error) {
	return session.look(key, func(*badger.Item) error { return nil })
}

// look finds a key in the open transaction, or in one of its own.
func (session *session) look(key []byte, found func(item *badger.Item) error) (bool, error) {
	txn := session.txn
	if txn == nil {
		txn = session.database.badger.NewTransaction(false)
		defer txn.Discard()
	}
	item, err := txn.Get(key)
	if err != nil {
		if errors.Is(err, badger.ErrKeyNotFound) {
			err = nil
		}
		return false, err
	}
	return true, found(item)
}

// ---- writing ----

// update changes records in the open transaction, or in one of its own, which nobody can conflict with unless it reads.
func (session *session) update(change func(txn *badger.Txn) error) error {
	if session.txn != nil {
		return explained(change(session.txn))
	}
	return explained(session.database.badger.Update(change))
}

// kept is a key or a value as Badger may keep it: until the end of the transaction.
func (session *session) kept(data []byte) []byte {
	if session.txn != nil {
		return bytes.Clone(data)
	}
	return data
}

func explained(err error) error {
	switch {
	case errors.Is(err, badger.ErrConflict):
		return adapter.Conflict(err)
	case errors.Is(err, badger.ErrTxnTooBig):
		return errors.New("a transaction, or a batch, may hold 15 % of a memtable: raise write_buffer, or write less at once")
	}
	return err
}

func (session *session) Put(key, value []byte) error {
	return session.update(func(txn *badger.Txn) error { return txn.Set(session.kept(key), session.kept(value)) })
}

func (session *session) Remove(key []byte) error {
	return session.update(func(txn *badger.Txn) error { return txn.Delete(session.kept(key)) })
}

func (session *session) Write(entries []adapter.BatchEntry) error {
	return session.update(func(txn *badger.Txn) error {
		for _, step := range entries {
			if err := session.apply(txn, step); err != nil {
				return err
			}
		}
		return nil
	})
}

func (session *session) apply(txn *badger.Txn, step adapter.BatchEntry) error {
	if step.Delete {
		return txn.Delete(session.kept(step.Key))
	}
	return txn.Set(session.kept(step.Key), session.kept(step.Value))
}

// ReadModifyWrite tries again after a conflict, as Badger's manual asks.
func (session *session) ReadModifyWrite(key []byte, change func(old []byte) ([]byte, error)) error {
	attempt := func(txn *badger.Txn) error { return session.readAndWrite(txn, key, change) }
	if session.txn != nil {
		return explained(attempt(session.txn))
	}
	for {
		if err := session.database.badger.Update(attempt); !errors.Is(err, badger.ErrConflict) {
			return explained(err)
		}
	}
}

func (session *session) readAndWrite(txn *badger.Txn, key []byte, change func(old []byte) ([]byte, error)) error {
	var old []byte
	item, err := txn.Get(key)
	switch {
	case err == nil:
		if old, err = item.ValueCopy([]byte{}); err != nil {
			return err
		}
	case !errors.Is(err, badger.ErrKeyNotFound):
		return err
	}
	value, err := change(old)
	if err != nil {
		return err
	}
	return txn.Set(session.kept(key), session.kept(value))
}

// ---- transactions ----

func (session *session) Begin(writable bool) error {
	session.txn, session.writes = session.database.badger.NewTransaction(writable), writable
	return nil
}

// end takes the transaction out of the session.
func (session *session) end() *badger.Txn {
	txn := session.txn
	session.txn = nil
	return txn
}

func (session *session) Commit() error {
	txn := session.end()
	defer txn.Discard()
	if session.writes {
		return explained(txn.Commit())
	}
	return nil
}

func (session *session) Abort() error {
	session.end().Discard()
	return nil
}
