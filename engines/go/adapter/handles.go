// SPDX-License-Identifier: Apache-2.0 OR MIT

package adapter

import (
	"sync"
	"sync/atomic"
)

// handles gives numbers for what C may not point to. A look-up costs two loads: that of runtime/cgo.Handle, in a
// concurrent map, would be a good part of a get.
type handles[T any] struct {
	lock sync.Mutex
	all  atomic.Pointer[[]*T]
	free []uintptr
}

// at is what a number stands for. 0 is the number of nothing.
func (handles *handles[T]) at(number uintptr) *T { return (*handles.all.Load())[number] }

func (handles *handles[T]) add(thing *T) uintptr {
	handles.lock.Lock()
	defer handles.lock.Unlock()
	if len(handles.free) == 0 {
		handles.grow()
	}
	last := len(handles.free) - 1
	number := handles.free[last]
	handles.free = handles.free[:last]
	(*handles.all.Load())[number] = thing
	return number
}

func (handles *handles[T]) remove(number uintptr) {
	handles.lock.Lock()
	defer handles.lock.Unlock()
	(*handles.all.Load())[number] = nil
	handles.free = append(handles.free, number)
}

// grow doubles the table. Who looks up at the same time sees the old one, which has what they look for.
func (handles *handles[T]) grow() {
	old := []*T{nil}
	if all := handles.all.Load(); all != nil {
		old = *all
	}
	larger := make([]*T, max(2*len(old), 64))
	copy(larger, old)
	for number := len(larger) - 1; number >= len(old); number-- {
		handles.free = append(handles.free, uintptr(number))
	}
	handles.all.Store(&larger)
}
