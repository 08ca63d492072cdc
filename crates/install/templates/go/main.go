// An adapter for kvdyno, over a small engine: a map behind a lock, with a log of its writes (table.go).
// Where it stands, yours will: put your calls where it says ENGINE. Then declare what yours can do beyond this (scans,
// transactions, other durabilities). The package adapter sees to the border; adapter/kvdyno.h says what each call
// owes.
package main

import (
	"errors"
	"path/filepath"

	"kvdyno/adapter"
)

func init() {
	adapter.Export(adapter.Engine{
		Name:         "NAME",
		Summary:      "a map in memory, with a log",         // ENGINE
		Version:      "0.1",                                 // ENGINE: or Module, whose version is read from the build
		Capabilities: adapter.CanDelete,                     // ENGINE: adapter.CanScan and what else it can
		Durabilities: []adapter.Durability{adapter.Process}, // ENGINE: those that it offers
		Compressions: []adapter.Compression{adapter.Uncompressed},
		Settings:     settings,
		Open:         open,
	})
}

func main() {}

// settings puts every setting in the engine's words, or refuses it with adapter.Unsupported.
func settings(config *adapter.Config, list adapter.Listing) error {
	list("durability", "log", "each write goes to the OS at once, and is synced at close")
	list("cache", "map", "the setting bounds nothing: all records are in memory")
	list("write_buffer", "log", "the setting bounds nothing: no write waits")
	list("compression", "log", "none")
	list("files", "log", "NAME.data")
	list.Options(config)
	return nil
}

// database is ENGINE: its handle.
type database struct{ table *table }

func open(config *adapter.Config) (adapter.Database, error) {
	opened := newTable(filepath.Join(config.Path, "NAME.data"))
	if config.Create {
		return database{opened}, opened.save()
	}
	return database{opened}, opened.load()
}

func (database database) Close() error                      { return database.table.close() }
func (database database) Flush() error                      { return database.table.log.Sync() }
func (database database) Statistics(adapter.Listing)        {}
func (database database) Session() (adapter.Session, error) { return &session{database.table}, nil }

// session is what a thread needs to itself. Keys and values that it is given are good until the call returns.
type session struct{ table *table }

func (session *session) Close() {}

// Get copies the value into memory of C's; what lies outside of Go's heap can be lent: value.Lend.
func (session *session) Get(key []byte, value *adapter.Bytes) (bool, error) {
	session.table.lock.RLock()
	defer session.table.lock.RUnlock()
	stored, there := session.table.records[string(key)]
	if there {
		value.Copy(stored)
	}
	return there, nil
}

func (session *session) Put(key, value []byte) error {
	return session.Write([]adapter.BatchEntry{{Key: key, Value: value}})
}

func (session *session) Remove(key []byte) error {
	return session.Write([]adapter.BatchEntry{{Delete: true, Key: key}})
}

// Write applies the entries in order. ENGINE: if it can do all or nothing, declare adapter.CanBatch.
func (session *session) Write(entries []adapter.BatchEntry) error {
	return session.table.write(entries)
}

// What is not declared is never called.
var errUndeclared = errors.New("not declared")

func (session *session) Begin(bool) error                { return errUndeclared }
func (session *session) Commit() error                   { return errUndeclared }
func (session *session) Abort() error                    { return errUndeclared }
func (session *session) Cursor() (adapter.Cursor, error) { return nil, errUndeclared }
