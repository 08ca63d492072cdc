// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	badger "github.com/dgraph-io/badger/v4"

	"kvdyno/adapter"
)

type database struct {
	badger   *badger.DB
	path     string
	workers  int
	prefetch int
	syncer   *adapter.Syncer
}

// logger keeps Badger from writing of its progress to standard error; errors it may tell there, where the lab keeps
// them.
type logger struct{}

func (logger) Errorf(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "badger: "+format+"\n", values...)
}
func (logger) Warningf(string, ...any) {}
func (logger) Infof(string, ...any)    {}
func (logger) Debugf(string, ...any)   {}

func open(config *adapter.Config) (adapter.Database, error) {
	if err := asExpected(filepath.Join(config.Path, badger.ManifestFilename), config.Create); err != nil {
		return nil, err
	}
	opened, err := badger.Open(engineOptions(config))
	if err != nil {
		return nil, fmt.Errorf("badger.Open: %w", err)
	}
	database := &database{
		badger:   opened,
		path:     config.Path,
		workers:  int(config.Int("num_compactors")),
		prefetch: int(config.Int("prefetch_size")),
	}
	if config.Durability == adapter.Periodic {
		database.syncer = adapter.StartSyncer(config.SyncPeriodMs, database.Flush)
	}
	return database, nil
}

// asExpected is an error unless there is a file where one is to be opened: Badger makes what is not there.
func asExpected(path string, create bool) error {
	_, err := os.Stat(path)
	switch {
	case err == nil && create:
		return fmt.Errorf("%s is there already", path)
	case err != nil && !create:
		return err
	}
	return nil
}

// Close writes the memtables out.
func (database *database) Close() error {
	return errors.Join(database.syncer.Stop(), database.badger.Close())
}

// Flush syncs the logs. DB.Sync leaves out those of memtables that wait to be written out: they are synced as files.
func (database *database) Flush() error {
	logs, err := filepath.Glob(filepath.Join(database.path, "*.mem"))
	if err != nil {
		return err
	}
	for _, log := range logs[:max(len(logs)-1, 0)] {
		if err := syncFile(log); err != nil {
			return err
		}
	}
	return database.badger.Sync()
}

// syncFile also reaches what was written to the file through a map. It may just have been removed.
func syncFile(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// Compact brings all tables onto one level, then collects the value log's garbage as long as there is a file of which
// half is garbage.
func (database *database) Compact() error {
	if err := database.badger.Flatten(database.workers); err != nil {
		return fmt.Errorf("DB.Flatten: %w", err)
	}
	for {
		err := database.badger.RunValueLogGC(0.5)
		if errors.Is(err, badger.ErrNoRewrite) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("DB.RunValueLogGC: %w", err)
		}
	}
}
