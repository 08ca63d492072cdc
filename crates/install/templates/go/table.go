package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"

	"kvdyno/adapter"
)

// table is the engine that stands in for yours: a map in memory, and a file with all writes, its log.
type table struct {
	lock    sync.RWMutex
	records map[string][]byte
	file    string
	log     *os.File
	size    int64 // of the log
}

const deleted = ^uint64(0) // the size of the value in the log

func newTable(file string) *table {
	return &table{records: map[string][]byte{}, file: file}
}

// write changes the log, by all of the entries or by none, and then the map.
func (table *table) write(entries []adapter.BatchEntry) error {
	table.lock.Lock()
	defer table.lock.Unlock()
	if err := table.append(entries); err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Delete {
			delete(table.records, string(entry.Key))
		} else {
			table.records[string(entry.Key)] = bytes.Clone(entry.Value)
		}
	}
	return nil
}

func (table *table) append(entries []adapter.BatchEntry) error {
	var text []byte
	for _, entry := range entries {
		size := uint64(len(entry.Value))
		if entry.Delete {
			size = deleted
		}
		text = binary.LittleEndian.AppendUint64(text, uint64(len(entry.Key)))
		text = binary.LittleEndian.AppendUint64(text, size)
		text = append(append(text, entry.Key...), entry.Value...)
	}
	written, err := table.log.Write(text)
	if err != nil { // what was refused must not be found later
		return errors.Join(err, table.log.Truncate(table.size))
	}
	table.size += int64(written)
	return nil
}

// save writes a new log, and puts it in the old one's place only when it is whole and on the storage.
func (table *table) save() error {
	fresh := table.file + ".new"
	var err error
	if table.log, err = os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o666); err != nil {
		return err
	}
	entries := []adapter.BatchEntry{}
	for key, value := range table.records {
		entries = append(entries, adapter.BatchEntry{Key: []byte(key), Value: value})
	}
	if err = table.append(entries); err == nil {
		err = table.log.Sync()
	}
	if err == nil {
		err = os.Rename(fresh, table.file)
	}
	if err != nil {
		table.log.Close()
	}
	return err
}

// load reads the log up to the write that a death cut short, if one did, and saves what there is.
func (table *table) load() error {
	text, err := os.ReadFile(table.file)
	if err != nil {
		return err
	}
	reader := bytes.NewReader(text)
	for {
		var sizes [2]uint64
		if binary.Read(reader, binary.LittleEndian, &sizes) != nil {
			return table.save()
		}
		isDeleted := sizes[1] == deleted
		if isDeleted {
			sizes[1] = 0
		}
		left := uint64(reader.Len())
		if sizes[0] > left || sizes[1] > left-sizes[0] {
			return table.save()
		}
		record := make([]byte, sizes[0]+sizes[1])
		if _, err := io.ReadFull(reader, record); err != nil {
			return err
		}
		if key := string(record[:sizes[0]]); isDeleted {
			delete(table.records, key)
		} else {
			table.records[key] = record[sizes[0]:]
		}
	}
}

func (table *table) close() error {
	return errors.Join(table.log.Sync(), table.log.Close())
}
