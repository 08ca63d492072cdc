// SPDX-License-Identifier: Apache-2.0 OR MIT

package adapter

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"unsafe"
)

// openDatabase is what the package keeps for a database of the engine's.
type openDatabase struct {
	engine Database
	broken atomic.Pointer[error] // of a panic: locks may be held and state half changed, so nothing asks it again
}

var databases handles[openDatabase]

func databaseAt(handle C.uintptr_t) *openDatabase { return databases.at(uintptr(handle)) }

// failed is why nothing more can be asked of the database, if so.
func (database *openDatabase) failed() error {
	if err := database.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// panicked is the error of a panic, which is that of every later call too, the close among them.
func (database *openDatabase) panicked(cause any) error {
	err := recovered(cause)
	later := fmt.Errorf("nothing more is done after this: %w", err)
	database.broken.CompareAndSwap(nil, &later)
	return err
}

// caught runs a call of the host's, unless the engine panicked before.
func (database *openDatabase) caught(work func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = database.panicked(cause)
		}
	}()
	if err := database.failed(); err != nil {
		return err
	}
	return work()
}

// caught runs a call of the host's that has no database yet. A panic becomes its error.
func caught(work func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = recovered(cause)
		}
	}()
	return work()
}

func noLibrary(library string) error {
	if library == "" {
		return nil
	}
	return failure{C.KVDYNO_NO_LIBRARY,
		exported.Name + " is built into the adapter, which loads no library and so not " + library + " either"}
}

//export kvdynoProbe
func kvdynoProbe(library *C.char, version, text *C.kvdyno_text) C.kvdyno_status {
	if err := noLibrary(C.GoString(library)); err != nil {
		return answer(err, text)
	}
	tell(version, builtIn())
	return C.KVDYNO_OK
}

// listing hands entries to the host.
func listing(emit C.kvdyno_emit, context unsafe.Pointer) Listing {
	return func(topic, name, value string) {
		texts := [3]*C.char{C.CString(topic), C.CString(name), C.CString(value)}
		C.kvdyno_go_emit(emit, context, texts[0], texts[1], texts[2])
		for _, text := range texts {
			C.free(unsafe.Pointer(text))
		}
	}
}

//export kvdynoSettings
func kvdynoSettings(raw *C.kvdyno_config, emit C.kvdyno_emit, context unsafe.Pointer,
	text *C.kvdyno_text) C.kvdyno_status {
	return answer(caught(func() error {
		list, config := listing(emit, context), configOf(raw)
		if err := acceptable(config, list); err != nil {
			return err
		}
		list("options", "crossing", "every call goes from C to Go and back; statistics say what that costs")
		return nil
	}), text)
}

func acceptable(config *Config, list Listing) error {
	if err := noLibrary(config.library); err != nil {
		return err
	}
	if !has(exported.Durabilities, config.Durability) {
		return Unsupported("durability: %s does not know level %d", exported.Name, config.Durability)
	}
	if !has(exported.Compressions, config.Compression) {
		return Unsupported("compression: %s does not know kind %d", exported.Name, config.Compression)
	}
	return exported.Settings(config, list)
}

func has[T comparable](all []T, one T) bool {
	for _, other := range all {
		if other == one {
			return true
		}
	}
	return false
}

//export kvdynoOpen
func kvdynoOpen(raw *C.kvdyno_config, handle *C.uintptr_t, text *C.kvdyno_text) C.kvdyno_status {
	return answer(caught(func() error {
		config := configOf(raw)
		if err := acceptable(config, func(string, string, string) {}); err != nil {
			return err
		}
		setCollector(config)
		database, err := exported.Open(config)
		if err != nil {
			return err
		}
		*handle = C.uintptr_t(databases.add(&openDatabase{engine: database}))
		return nil
	}), text)
}

// kvdynoClose also gives the memory back that the database had: the collector would keep it for later. A database whose
// engine panicked is left as it is, which the error says.
//
//export kvdynoClose
func kvdynoClose(handle C.uintptr_t, text *C.kvdyno_text) C.kvdyno_status {
	database := databaseAt(handle)
	databases.remove(uintptr(handle))
	defer debug.FreeOSMemory()
	return answer(database.caught(database.engine.Close), text)
}

//export kvdynoFlush
func kvdynoFlush(handle C.uintptr_t, text *C.kvdyno_text) C.kvdyno_status {
	database := databaseAt(handle)
	return answer(database.caught(database.engine.Flush), text)
}

//export kvdynoCompact
func kvdynoCompact(handle C.uintptr_t, text *C.kvdyno_text) C.kvdyno_status {
	database := databaseAt(handle)
	return answer(database.caught(database.engine.(Compacter).Compact), text)
}

//export kvdynoWaitIdle
func kvdynoWaitIdle(handle C.uintptr_t, text *C.kvdyno_text) C.kvdyno_status {
	database := databaseAt(handle)
	return answer(database.caught(database.engine.(Waiter).WaitIdle), text)
}

// kvdynoCounters leaves both counters as they are where nothing is counted.
//
//export kvdynoCounters
func kvdynoCounters(handle C.uintptr_t, flushed, compacted *C.uint64_t) C.kvdyno_status {
	database := databaseAt(handle)
	return statusOf(database.caught(func() error {
		counted := database.engine.(Counter).Counters()
		if counted.FlushedBytes != nil {
			*flushed = C.uint64_t(*counted.FlushedBytes)
		}
		if counted.CompactedBytes != nil {
			*compacted = C.uint64_t(*counted.CompactedBytes)
		}
		return nil
	}))
}

//export kvdynoStatistics
func kvdynoStatistics(handle C.uintptr_t, emit C.kvdyno_emit, context unsafe.Pointer) C.kvdyno_status {
	database := databaseAt(handle)
	return statusOf(database.caught(func() error {
		list := listing(emit, context)
		database.engine.Statistics(list)
		runtimeStatistics(list)
		return nil
	}))
}

// kvdynoNothing is what is called to find out what a call costs.
//
//export kvdynoNothing
func kvdynoNothing() {}
