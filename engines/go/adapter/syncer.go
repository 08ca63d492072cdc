// SPDX-License-Identifier: Apache-2.0 OR MIT

package adapter

import (
	"sync"
	"time"
)

// Syncer is the goroutine of durability level `periodic`: it calls a function again and again until it is stopped.
type Syncer struct {
	stop chan struct{}
	done sync.WaitGroup
	err  error
}

// StartSyncer begins to call sync every so many milliseconds.
func StartSyncer(everyMs uint32, sync func() error) *Syncer {
	syncer := &Syncer{stop: make(chan struct{})}
	syncer.done.Add(1)
	go func() {
		defer syncer.done.Done()
		ticker := time.NewTicker(time.Duration(everyMs) * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-syncer.stop:
				return
			case <-ticker.C:
				if err := sync(); err != nil && syncer.err == nil {
					syncer.err = err
				}
			}
		}
	}()
	return syncer
}

// Stop waits for the last sync and gives back the first error that any of them met. A nil Syncer has met none.
func (syncer *Syncer) Stop() error {
	if syncer == nil {
		return nil
	}
	close(syncer.stop)
	syncer.done.Wait()
	return syncer.err
}
