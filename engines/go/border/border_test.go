// SPDX-License-Identifier: Apache-2.0 OR MIT

// Package border tests an adapter in Go from where the host stands: a program in C that knows the header alone.
package border

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// built is the host and the library of the wayward engine.
func built(t *testing.T) (host, library string) {
	t.Helper()
	folder := t.TempDir()
	host, library = filepath.Join(folder, "host"), filepath.Join(folder, "libwayward.so")
	run(t, "go", "build", "-buildmode=c-shared", "-o", library, "./engine")
	flags := append(strings.Fields(os.Getenv("CGO_CFLAGS")), "-std=gnu11", "-Wall", "-Wextra", "-Werror")
	run(t, "cc", append(flags, "-o", host, "host/host.c", "-ldl")...)
	return host, library
}

func run(t *testing.T, name string, arguments ...string) {
	t.Helper()
	if said, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, said)
	}
}

func TestWhatGoesWrongInGoIsAnErrorAndWhatIsLentStays(t *testing.T) {
	host, library := built(t)
	run(t, host, library)
}

func TestACrashOfTheHostEndsItByItsSignal(t *testing.T) {
	host, library := built(t)
	err := exec.Command(host, library, "crash").Run()
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		t.Fatalf("it did not end by itself: %v", err)
	}
	if status := ended.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGSEGV {
		t.Fatalf("it ended by %v, not by a segmentation fault", ended)
	}
}
