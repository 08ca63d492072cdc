// SPDX-License-Identifier: Apache-2.0 OR MIT

package adapter

// #include <stdlib.h>
// #include "kvdyno.h"
import "C"

import (
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// exported is what this library describes to the host.
var exported Engine

// Export makes an engine the one that this library puts behind the ABI. It is called once, from a main package's init:
// the runtime holds every call of the host's back until that is over.
func Export(engine Engine) {
	engine.Options = append(engine.Options, gogc)
	exported = engine
}

var described sync.Once

//export kvdynoDescribe
func kvdynoDescribe(table *C.kvdyno_engine) {
	described.Do(func() { describe(table) })
}

// describe fills in the table. Its texts and arrays are C's, and stay as long as the process.
func describe(table *C.kvdyno_engine) {
	table.name = C.CString(exported.Name)
	table.summary = C.CString(exported.Summary)
	table.origin = C.CString(origin())
	table.capabilities = C.uint64_t(exported.Capabilities)
	table.durabilities = bits(exported.Durabilities)
	table.compressions = bits(exported.Compressions)
	table.min_key_size = C.uint64_t(exported.MinKeySize)
	table.max_key_size = C.uint64_t(exported.MaxKeySize)
	table.max_value_size = C.uint64_t(exported.MaxValueSize)
	describeOptions(table)
	describePresets(table)
	takeOut(table)
}

// bits has one set for each member.
func bits[T ~uint32](members []T) (set C.uint32_t) {
	for _, member := range members {
		set |= 1 << member
	}
	return set
}

// kvdynoEffectiveCapabilities recovers from nothing: the host asks a process of its own first.
//
//export kvdynoEffectiveCapabilities
func kvdynoEffectiveCapabilities(raw *C.kvdyno_config, left *C.kvdyno_capabilities) {
	declared := Declared{exported.Capabilities, slices.Clone(exported.Durabilities), slices.Clone(exported.Compressions)}
	exported.EffectiveCapabilities(configOf(raw), &declared)
	left.capabilities &= C.uint64_t(declared.Capabilities)
	left.durabilities &= bits(declared.Durabilities)
	left.compressions &= bits(declared.Compressions)
}

func describeOptions(table *C.kvdyno_engine) {
	options := array[C.kvdyno_option](len(exported.Options))
	for index, option := range exported.Options {
		options[index] = C.kvdyno_option{
			name:          C.CString(option.name),
			_type:         option.kind,
			flags:         option.flags,
			default_value: C.CString(option.defaultValue),
			minimum:       C.int64_t(option.minimum),
			maximum:       C.int64_t(option.maximum),
			help:          C.CString(option.help),
		}
		if option.choices != "" {
			options[index].choices = C.CString(option.choices)
		}
	}
	table.options = unsafe.SliceData(options)
	table.option_count = C.size_t(len(options))
}

func describePresets(table *C.kvdyno_engine) {
	if len(exported.Presets) == 0 {
		return
	}
	presets := array[C.kvdyno_preset](len(exported.Presets))
	for index, preset := range exported.Presets {
		presets[index] = C.kvdyno_preset{
			name: C.CString(preset.Name), options: C.CString(preset.Options), help: C.CString(preset.Help),
		}
	}
	table.presets = unsafe.SliceData(presets)
	table.preset_count = C.size_t(len(presets))
}

// array is so many in C's memory.
func array[T any](count int) []T {
	var each T
	return unsafe.Slice((*T)(C.calloc(C.size_t(count), C.size_t(unsafe.Sizeof(each)))), count)
}

// takeOut clears the functions that the engine does not declare.
func takeOut(table *C.kvdyno_engine) {
	can := func(capability uint64) bool { return exported.Capabilities&capability != 0 }
	if !can(CanDelete) {
		table.remove = nil
	}
	if !can(CanMultiGet) {
		table.multi_get = nil
	}
	if !can(CanReadModifyWrite) {
		table.read_modify_write = nil
	}
	if !can(CanTransact) && !can(CanSnapshot) {
		table.begin, table.commit, table.abort = nil, nil, nil
	}
	if !can(CanScan) {
		table.cursor_open, table.cursor_close, table.cursor_seek, table.cursor_next = nil, nil, nil, nil
	}
	if !can(CanScanReverse) {
		table.cursor_previous = nil
	}
	if !exported.Compacts {
		table.compact = nil
	}
	if !exported.Waits {
		table.wait_idle = nil
	}
	if exported.EffectiveCapabilities == nil {
		table.effective_capabilities = nil
	}
	if !can(CanCount) {
		table.counters = nil
	}
	if !can(CanDeleteRange) {
		table.delete_range = nil
	}
	if !can(CanBound) && !can(CanScanKeys) && !can(CanScanPrefix) {
		table.cursor_open_with = nil
	}
	if !can(CanContain) {
		table.contains = nil
	}
}

// origin says where the engine comes from.
func origin() string {
	if exported.Module == "" {
		return "built in"
	}
	return "built into the adapter from the Go module " + exported.Module
}

// builtIn is the version of the engine's module that this library was built with.
func builtIn() string {
	if exported.Version != "" {
		return exported.Version
	}
	build, known := debug.ReadBuildInfo()
	if !known {
		return "unknown"
	}
	for _, module := range build.Deps {
		if module.Path == exported.Module {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return "unknown"
}
