// SPDX-License-Identifier: Apache-2.0 OR MIT

package adapter

import (
	"bytes"
	"testing"
	"unsafe"
)

func lent(from *Bytes) []byte { return unsafe.Slice((*byte)(from.data), from.size) }

func TestCopiesAreKeptInMemoryThatIsUsedAgain(t *testing.T) {
	var value Bytes
	defer value.free()
	for _, size := range []int{5, 0, 300, 256, 1 << 20, 1, 0} {
		from := bytes.Repeat([]byte{byte(size + 1)}, size)
		value.Copy(from)
		if value.data == nil || !bytes.Equal(lent(&value), from) {
			t.Fatalf("%d bytes were not copied", size)
		}
		if size > 0 && value.data == unsafe.Pointer(&from[0]) {
			t.Fatal("Go's own memory is lent")
		}
	}
	memory := value.memory
	value.Copy(make([]byte, 1<<20))
	if value.memory != memory {
		t.Error("there was memory enough, and more was made")
	}
}

func TestWhatIsLentIsNotCopiedUnlessItMustBe(t *testing.T) {
	from := []byte("in a map")
	var value Bytes
	defer value.free()
	value.Lend(from)
	if value.data != unsafe.Pointer(&from[0]) {
		t.Error("it was copied")
	}
	value.copies = true
	value.Lend(from)
	if value.data == unsafe.Pointer(&from[0]) || !bytes.Equal(lent(&value), from) {
		t.Error("it was not copied")
	}
	value.copies = false
	value.Lend(nil)
	if value.data == nil || value.size != 0 {
		t.Error("nothing, lent, has no address")
	}
}
