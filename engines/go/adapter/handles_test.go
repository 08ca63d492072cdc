// SPDX-License-Identifier: Apache-2.0 OR MIT

package adapter

import (
	"sync"
	"testing"
)

func TestNumbersAreUsedAgainAndNoTwoThingsHaveOne(t *testing.T) {
	var handles handles[int]
	first := new(int)
	kept := handles.add(first)
	var threads sync.WaitGroup
	for range 8 {
		threads.Add(1)
		go func() {
			defer threads.Done()
			for round := range 2000 {
				thing := &round
				number := handles.add(thing)
				if number == 0 || number == kept || handles.at(number) != thing || handles.at(kept) != first {
					t.Errorf("number %d stands for something else", number)
					return
				}
				handles.remove(number)
			}
		}()
	}
	threads.Wait()
	if handles.at(0) != nil {
		t.Error("0 stands for something")
	}
	if size := len(*handles.all.Load()); size > 64 {
		t.Errorf("9 things at a time took %d handles", size)
	}
}

func TestTheTableGrows(t *testing.T) {
	var handles handles[int]
	things := map[uintptr]*int{}
	for range 1000 {
		thing := new(int)
		things[handles.add(thing)] = thing
	}
	for number, thing := range things {
		if handles.at(number) != thing {
			t.Fatalf("number %d stands for something else", number)
		}
	}
	if len(things) != 1000 {
		t.Fatalf("1000 things have %d numbers", len(things))
	}
}
