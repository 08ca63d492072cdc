package main

import (
	"encoding/gob"
	"os"
	"sync"
)

// table is the engine that stands in for yours: a map in memory, in one file when it is closed.
type table struct {
	lock    sync.RWMutex
	records map[string][]byte
	file    string
}

func newTable(file string) *table {
	return &table{records: map[string][]byte{}, file: file}
}

// save writes a new file, and puts it in the old one's place only when it is whole and on the storage.
func (table *table) save() error {
	table.lock.RLock()
	defer table.lock.RUnlock()
	file, err := os.Create(table.file + ".new")
	if err != nil {
		return err
	}
	err = gob.NewEncoder(file).Encode(table.records)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(table.file+".new", table.file)
}

func (table *table) load() error {
	file, err := os.Open(table.file)
	if err != nil {
		return err
	}
	defer file.Close()
	return gob.NewDecoder(file).Decode(&table.records)
}
