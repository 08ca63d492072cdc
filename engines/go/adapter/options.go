// SPDX-License-Identifier: Apache-2.0 OR MIT

package adapter

// #include "kvdyno.h"
import "C"

import (
	"fmt"
	"runtime/debug"
	"strconv"
	"unsafe"
)

// Option is one option of the engine's own. [Bool], [Integer], [Size] and [Choice] make them.
type Option struct {
	name, defaultValue, choices, help string
	kind, flags                       C.uint32_t
	minimum, maximum                  int64
}

// Preset is a named set of options, "name=value,name=value".
type Preset struct{ Name, Options, Help string }

// Bool makes an option that is true or false.
func Bool(name string, standard bool, help string) Option {
	return Option{name: name, kind: C.KVDYNO_OPTION_BOOL, defaultValue: strconv.FormatBool(standard), help: help}
}

// Integer makes an option that is a number between two others.
func Integer(name string, standard, minimum, maximum int64, help string) Option {
	return Option{name: name, kind: C.KVDYNO_OPTION_INTEGER, defaultValue: strconv.FormatInt(standard, 10),
		minimum: minimum, maximum: maximum, help: help}
}

// Size makes an option that is a number of bytes.
func Size(name string, standard, minimum, maximum int64, help string) Option {
	option := Integer(name, standard, minimum, maximum, help)
	option.kind = C.KVDYNO_OPTION_SIZE
	return option
}

// Scales is the same size as one that shapes the database's files or levels: a smaller database that stands for a
// larger one has a smaller one.
func (option Option) Scales() Option {
	option.flags = C.KVDYNO_OPTION_SCALES
	return option
}

// Real makes an option that is a number with a fraction.
func Real(name string, standard float64, help string) Option {
	return Option{name: name, kind: C.KVDYNO_OPTION_REAL, defaultValue: strconv.FormatFloat(standard, 'g', -1, 64),
		help: help}
}

// Choice makes an option that is one of several words, "a|b|c".
func Choice(name, standard, choices, help string) Option {
	return Option{name: name, kind: C.KVDYNO_OPTION_CHOICE, defaultValue: standard, choices: choices, help: help}
}

// gogc is an option of every engine here: the Go runtime's collector takes part in each figure.
var gogc = Integer("gogc", 0, 0, 100_000,
	"The Go collector's target percentage (GOGC); 0 leaves it to the environment, and to Go's own 100.")

func setCollector(config *Config) {
	if percent := config.Int(gogc.name); percent > 0 {
		debug.SetGCPercent(int(percent))
	}
}

// Config is what a database is opened with.
type Config struct {
	Create                       bool
	Path                         string
	Durability                   Durability
	SyncPeriodMs                 uint32
	Compression                  Compression
	Sessions                     uint32
	CacheBytes, WriteBufferBytes uint64
	Records, KeySize, ValueSize  uint64
	library                      string
	integers                     map[string]int64
	reals                        map[string]float64
	texts                        map[string]string
}

// Bool is the value of such an option.
func (config *Config) Bool(name string) bool { return config.Int(name) != 0 }

// Int is the value of an option that is an integer or a size.
func (config *Config) Int(name string) int64 { return valueOf(config.integers, name) }

// Real is the value of such an option.
func (config *Config) Real(name string) float64 { return valueOf(config.reals, name) }

// Text is the value of an option that is a choice.
func (config *Config) Text(name string) string { return valueOf(config.texts, name) }

func valueOf[T any](values map[string]T, name string) T {
	value, declared := values[name]
	if !declared {
		panic("the adapter declares no such option: " + name)
	}
	return value
}

func configOf(raw *C.kvdyno_config) *Config {
	config := &Config{
		Create:           raw.create != 0,
		Path:             C.GoString(raw.path),
		Durability:       Durability(raw.durability),
		SyncPeriodMs:     max(uint32(raw.sync_period_ms), 1),
		Compression:      Compression(raw.compression),
		Sessions:         uint32(raw.sessions),
		CacheBytes:       uint64(raw.cache_bytes),
		WriteBufferBytes: uint64(raw.write_buffer_bytes),
		Records:          uint64(raw.records),
		KeySize:          uint64(raw.key_size),
		ValueSize:        uint64(raw.value_size),
		library:          C.GoString(raw.library),
		integers:         map[string]int64{},
		reals:            map[string]float64{},
		texts:            map[string]string{},
	}
	for index, value := range unsafe.Slice(raw.options, raw.option_count) {
		option := exported.Options[index]
		switch option.kind {
		case C.KVDYNO_OPTION_CHOICE:
			config.texts[option.name] = C.GoString(*(**C.char)(unsafe.Pointer(&value)))
		case C.KVDYNO_OPTION_REAL:
			config.reals[option.name] = *(*float64)(unsafe.Pointer(&value))
		default:
			config.integers[option.name] = *(*int64)(unsafe.Pointer(&value))
		}
	}
	return config
}

// Listing takes entries of settings or statistics: topic, name, value.
type Listing func(topic, name, value string)

// Say lists an entry whose value is formatted.
func (list Listing) Say(topic, name, format string, values ...any) {
	list(topic, name, fmt.Sprintf(format, values...))
}

// Options lists the values of the engine's own options, by the names that the user knows.
func (list Listing) Options(config *Config) {
	for _, option := range exported.Options {
		switch option.kind {
		case C.KVDYNO_OPTION_CHOICE:
			list("options", option.name, config.Text(option.name))
		case C.KVDYNO_OPTION_REAL:
			list.Say("options", option.name, "%g", config.Real(option.name))
		case C.KVDYNO_OPTION_BOOL:
			list.Say("options", option.name, "%t", config.Bool(option.name))
		default:
			list.Say("options", option.name, "%d", config.Int(option.name))
		}
	}
}
