// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import "testing"

func TestARecordTakesAnElementOrPagesOfItsOwn(t *testing.T) {
	for _, one := range []struct{ key, value, bytes uint64 }{
		{16, 100, 132},
		{16, 4048, 4080}, // the last that fits beside the page's head
		{16, 4049, 8192},
		{8, 1 << 20, 1<<20 + 4096},
	} {
		if bytes := recordBytes(one.key, one.value); bytes != one.bytes {
			t.Errorf("a record of %d + %d bytes takes %d, not %d", one.key, one.value, one.bytes, bytes)
		}
	}
}
