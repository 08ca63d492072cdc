// SPDX-License-Identifier: Apache-2.0 OR MIT

package adapter

// #include <stdlib.h>
import "C"

import "unsafe"

// Bytes is what an engine lends the host until the next call: a key or a value. Memory of Go's may not stay in the
// hands of C, so it is copied into memory of C's, which is kept and used again.
type Bytes struct {
	data     unsafe.Pointer
	size     int
	memory   unsafe.Pointer // of C's
	capacity int
	copies   bool // Lend copies too
}

// Copy lends a copy.
func (bytes *Bytes) Copy(from []byte) {
	if len(from) > bytes.capacity || bytes.memory == nil {
		bytes.grow(len(from))
	}
	copy(unsafe.Slice((*byte)(bytes.memory), bytes.capacity), from)
	bytes.data, bytes.size = bytes.memory, len(from)
}

// Lend lends the bytes themselves. They must lie outside of Go's heap, in a map for instance, and stay as they are
// until the session's next call.
func (bytes *Bytes) Lend(from []byte) {
	if bytes.copies || len(from) == 0 {
		bytes.Copy(from)
		return
	}
	bytes.data, bytes.size = unsafe.Pointer(unsafe.SliceData(from)), len(from)
}

func (bytes *Bytes) grow(size int) {
	const least = 256
	C.free(bytes.memory)
	bytes.capacity = max(size+size/4, least)
	bytes.memory = C.malloc(C.size_t(bytes.capacity)) // never NULL: cgo's malloc ends the process instead
}

func (bytes *Bytes) free() {
	C.free(bytes.memory)
	*bytes = Bytes{}
}

var nothing = []byte{}

// hosts is the host's memory as a slice, never nil.
func hosts(data unsafe.Pointer, size int) []byte {
	if size == 0 {
		return nothing
	}
	return unsafe.Slice((*byte)(data), size)
}
