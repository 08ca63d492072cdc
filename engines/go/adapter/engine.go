// SPDX-License-Identifier: Apache-2.0 OR MIT

// Package adapter puts a storage engine that is written in Go behind kvdyno's engine ABI, kvdyno.h. An adapter is a
// main package that describes its engine to [Export] and is built with -buildmode=c-shared. The package needs nothing
// of kvdyno but the header, whose folder CGO_CFLAGS names.
package adapter

// #include "kvdyno.h"
import "C"

// Capabilities of an engine.
const (
	CanScan              = uint64(C.KVDYNO_CAN_SCAN)
	CanScanReverse       = uint64(C.KVDYNO_CAN_SCAN_REVERSE)
	CanDelete            = uint64(C.KVDYNO_CAN_DELETE)
	CanBatch             = uint64(C.KVDYNO_CAN_BATCH)
	CanMultiGet          = uint64(C.KVDYNO_CAN_MULTI_GET)
	CanTransact          = uint64(C.KVDYNO_CAN_TRANSACT)
	CanSnapshot          = uint64(C.KVDYNO_CAN_SNAPSHOT)
	CanReadModifyWrite   = uint64(C.KVDYNO_CAN_READ_MODIFY_WRITE)
	CanWriteConcurrently = uint64(C.KVDYNO_CAN_WRITE_CONCURRENTLY)
	IsMapped             = uint64(C.KVDYNO_IS_MAPPED)
	CanCount             = uint64(C.KVDYNO_CAN_COUNT)
	ReadsRepeat          = uint64(C.KVDYNO_READS_REPEAT)
	IsSerializable       = uint64(C.KVDYNO_IS_SERIALIZABLE)
	CanDeleteRange       = uint64(C.KVDYNO_CAN_DELETE_RANGE)
	CanContain           = uint64(C.KVDYNO_CAN_CONTAIN)
	CanBound             = uint64(C.KVDYNO_CAN_BOUND)
	CanScanKeys          = uint64(C.KVDYNO_CAN_SCAN_KEYS)
	CanScanPrefix        = uint64(C.KVDYNO_CAN_SCAN_PREFIX)
)

// Durability is a level of the lab's scale.
type Durability uint32

// When a write is acknowledged.
const (
	None     = Durability(C.KVDYNO_DURABILITY_NONE)
	Process  = Durability(C.KVDYNO_DURABILITY_PROCESS)
	Periodic = Durability(C.KVDYNO_DURABILITY_PERIODIC)
	Commit   = Durability(C.KVDYNO_DURABILITY_COMMIT)
)

// Compression of stored blocks.
type Compression uint32

// Kinds of compression.
const (
	Uncompressed = Compression(C.KVDYNO_COMPRESSION_NONE)
	Snappy       = Compression(C.KVDYNO_COMPRESSION_SNAPPY)
	Zstd         = Compression(C.KVDYNO_COMPRESSION_ZSTD)
)

// Engine describes an engine to the host.
type Engine struct {
	// Name is in lower case, Summary one line.
	Name, Summary string
	// Module is the path of the engine's Go module. The version that was built in is read from the build itself.
	Module string
	// Version is for an engine that is no module of its own; otherwise it is empty.
	Version      string
	Capabilities uint64
	Durabilities []Durability
	Compressions []Compression
	// Sizes in bytes; a maximum of 0 is no limit of the engine's own.
	MinKeySize, MaxKeySize, MaxValueSize uint64
	Options                              []Option
	Presets                              []Preset
	// EffectiveCapabilities takes back what does not hold with these options; nothing else of the configuration is set.
	// Nil: all that is declared always holds.
	EffectiveCapabilities func(config *Config, declared *Declared)
	// Settings lists what the configuration comes to in the engine's own words, or refuses it with [Unsupported].
	Settings func(config *Config, list Listing) error
	// Open opens or creates a database, for a configuration that Settings accepts.
	Open func(config *Config) (Database, error)
	// The database is a [Compacter], or a [Waiter].
	Compacts, Waits bool
}

// Declared is the part of an [Engine] that may depend on its options.
type Declared struct {
	Capabilities uint64
	Durabilities []Durability
	Compressions []Compression
}

// Database is an open database. Its calls may come from any thread at any time.
type Database interface {
	Session() (Session, error)
	// Flush puts all that was written on the storage.
	Flush() error
	// Statistics lists the engine's own.
	Statistics(list Listing)
	// Close leaves all that was acknowledged on the storage.
	Close() error
}

// Compacter is a database that can compact the whole key range.
type Compacter interface{ Compact() error }

// Waiter is a database that can wait until its background work has come to rest.
type Waiter interface{ WaitIdle() error }

// Counter is a database that counts its own work: what [CanCount] declares.
type Counter interface{ Counters() Counters }

// Counters are what an engine counts of its own work, since it was opened at the latest. What is nil it does not count.
type Counters struct {
	// FlushedBytes are new data that it wrote from its memory to its files, without logs.
	FlushedBytes *uint64
	// CompactedBytes are data that it wrote anew.
	CompactedBytes *uint64
}

// Session is a thread's view of a database. Keys and values that it is given lie in the host's memory: they are good
// until the call returns, and must not be kept.
//
// What is not declared in [Engine.Capabilities] is never called. Transactions do not nest, nothing is written in one
// that only reads, and no cursor stands anywhere when one ends: the package sees to that.
type Session interface {
	// Get leaves the value that it finds in value.
	Get(key []byte, value *Bytes) (bool, error)
	Put(key, value []byte) error
	Remove(key []byte) error
	// Write applies the entries in order: all of them or none.
	Write(entries []BatchEntry) error
	Begin(writable bool) error
	// Commit and Abort end the transaction, whatever they answer.
	Commit() error
	Abort() error
	Cursor() (Cursor, error)
	// Close ends a transaction that is open.
	Close()
}

// UpdateFn is a session that can read, change and write a record in one atomic step.
type UpdateFn interface {
	// ReadModifyWrite asks change for the new value, as often as it must try. The old one is nil where there is none.
	ReadModifyWrite(key []byte, change func(old []byte) ([]byte, error)) error
}

// RangeDeleter is a session that can delete all keys of a range: what [CanDeleteRange] declares.
type RangeDeleter interface {
	// DeleteRange deletes every key from from on that comes before to, as one step. To comes after from.
	DeleteRange(from, to []byte) error
}

// CursorOptions are what a cursor can leave alone. The keys may be kept.
type CursorOptions struct {
	// KeysOnly asks for no values: they stay as they are.
	KeysOnly bool
	// From is the first key that there is for the cursor, To the first that there is not. Nil is no bound.
	From, To []byte
	// Prefix is what all keys begin with that the cursor shows; then it is sent to the first of them, and forward. Nil
	// is none.
	Prefix []byte
}

// Scanner is a session whose cursors can leave something alone: what [CanBound], [CanScanKeys] or [CanScanPrefix]
// declares.
type Scanner interface {
	CursorWith(options CursorOptions) (Cursor, error)
}

// Looker is a session that can say whether a key is there without bringing its value: what [CanContain] declares.
type Looker interface {
	Contains(key []byte) (bool, error)
}

// BatchEntry is one step of a batch.
type BatchEntry struct {
	Delete     bool
	Key, Value []byte
}

// Cursor stands on a record, or nowhere. Each call that moves it leaves the record in its argument, or answers false at
// the end.
type Cursor interface {
	// Seek finds the first key at or after the given one; backward, the last at or before it. A nil key is the end to
	// start from. It looks into the newest state, or into that of the session's transaction.
	Seek(key []byte, backward bool, record *Record) (bool, error)
	// Next and Previous are only called where Seek or they found a record.
	Next(record *Record) (bool, error)
	Previous(record *Record) (bool, error)
	// Reset lets go of the record and of the state that the cursor looks into.
	Reset()
	Close()
}

// Record is what a cursor stands on.
type Record struct{ Key, Value Bytes }
