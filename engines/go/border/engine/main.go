// SPDX-License-Identifier: Apache-2.0 OR MIT

// An engine that keeps one record, and goes wrong when a key asks for it.
package main

import (
	"errors"
	"runtime"

	"kvdyno/adapter"
)

func init() {
	adapter.Export(adapter.Engine{
		Name:         "wayward",
		Summary:      "goes wrong on demand",
		Module:       "kvdyno",
		Capabilities: adapter.CanMultiGet | adapter.CanSnapshot,
		Durabilities: []adapter.Durability{adapter.None},
		Compressions: []adapter.Compression{adapter.Uncompressed},
		Options:      []adapter.Option{adapter.Choice("mood", "good", "good|bad", "What it is in.")},
		EffectiveCapabilities: func(config *adapter.Config, declared *adapter.Declared) {
			if config.Text("mood") == "bad" {
				declared.Capabilities &^= adapter.CanSnapshot
				declared.Durabilities = nil
			}
		},
		Settings: func(config *adapter.Config, list adapter.Listing) error {
			if config.Text("mood") == "bad" {
				panic("in a bad mood")
			}
			list.Options(config)
			return nil
		},
		Open: func(*adapter.Config) (adapter.Database, error) { return database{}, nil },
	})
}

func main() {}

type database struct{}

func (database) Session() (adapter.Session, error) { return &session{}, nil }
func (database) Flush() error                      { return nil }
func (database) Close() error                      { panic("closed with a bang") }
func (database) Statistics(list adapter.Listing)   { list("own", "answer", "42") }

type session struct{ value []byte }

func (session *session) Get(key []byte, value *adapter.Bytes) (bool, error) {
	switch string(key) {
	case "index":
		return session.value[len(session.value)] == 0, nil
	case "nil":
		var nowhere *int
		return *nowhere == 0, nil
	case "fatal":
		adapter.Fatal(errors.New("no way on"))
	case "missing":
		return false, nil
	}
	value.Copy(session.value)
	clear(session.value)
	session.value = nil
	runtime.GC()
	return true, nil
}

func (session *session) Put(_, value []byte) error {
	session.value = append([]byte{}, value...)
	return nil
}

func (session *session) Remove([]byte) error              { return nil }
func (session *session) Write([]adapter.BatchEntry) error { return nil }
func (session *session) Begin(bool) error                 { return nil }
func (session *session) Commit() error                    { return nil }
func (session *session) Abort() error                     { return nil }
func (session *session) Cursor() (adapter.Cursor, error)  { return nil, nil }
func (session *session) Close()                           {}
