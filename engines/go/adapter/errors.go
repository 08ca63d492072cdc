// SPDX-License-Identifier: Apache-2.0 OR MIT

package adapter

// #include "kvdyno.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"unsafe"
)

// failure is an error that has a status of its own.
type failure struct {
	status C.kvdyno_status
	text   string
}

func (failure failure) Error() string { return failure.text }

// Unsupported is the error of what an engine cannot do. For a setting the text begins with its name.
func Unsupported(format string, values ...any) error {
	return failure{C.KVDYNO_UNSUPPORTED, fmt.Sprintf(format, values...)}
}

// Conflict is the error of a transaction that the engine rolled back, and that may be tried again.
func Conflict(err error) error { return failure{C.KVDYNO_CONFLICT, err.Error()} }

// IsNoSpace says whether an error comes of a full disk. Not every engine wraps what the system told it.
func IsNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), syscall.ENOSPC.Error())
}

func statusOf(err error) C.kvdyno_status {
	var own failure
	switch {
	case err == nil:
		return C.KVDYNO_OK
	case errors.As(err, &own):
		return own.status
	case IsNoSpace(err):
		return C.KVDYNO_NO_SPACE
	}
	return C.KVDYNO_ERROR
}

// recovered is a panic as an error. Where it happened goes to standard error, which the lab keeps.
func recovered(cause any) error {
	if fatal, ok := cause.(fatalError); ok {
		return fatal.error
	}
	fmt.Fprintf(os.Stderr, "panic: %v\n%s", cause, debug.Stack())
	return fmt.Errorf("panic in Go: %v", cause)
}

type fatalError struct{ error }

// Fatal ends what an engine says it cannot go on with: the host's call with an error, if the engine runs in one, else
// the process, with the message as its last words.
func Fatal(err error) {
	if withinCall() {
		panic(fatalError{err})
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// withinCall says whether the host called the engine on this goroutine, and so a panic will be caught.
func withinCall() bool {
	callers := make([]uintptr, 100)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for more := true; more; {
		var frame runtime.Frame
		if frame, more = frames.Next(); frame.Function == "runtime.cgocallbackg" {
			return true
		}
	}
	return false
}

// tell writes a text for the host, cut to its capacity.
func tell(text *C.kvdyno_text, words string) {
	if text == nil || text.data == nil || text.capacity == 0 {
		return
	}
	target := unsafe.Slice((*byte)(unsafe.Pointer(text.data)), text.capacity)
	target[copy(target[:len(target)-1], words)] = 0
}

// answer is an error's status, its text written for the host.
func answer(err error, text *C.kvdyno_text) C.kvdyno_status {
	if err != nil {
		tell(text, err.Error())
	}
	return statusOf(err)
}
