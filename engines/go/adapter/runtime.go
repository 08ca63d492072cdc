// SPDX-License-Identifier: Apache-2.0 OR MIT

package adapter

import (
	"fmt"
	"runtime"
	"runtime/metrics"
)

// shown are the figures of the Go runtime that take part in what an engine costs.
var shown = []struct{ name, metric string }{
	{"GOMAXPROCS", "/sched/gomaxprocs:threads"},
	{"GOGC", "/gc/gogc:percent"},
	{"collections", "/gc/cycles/total:gc-cycles"},
	{"collector CPU s", "/cpu/classes/gc/total:cpu-seconds"},
	{"heap bytes", "/memory/classes/heap/objects:bytes"},
	{"allocated bytes", "/gc/heap/allocs:bytes"},
	{"goroutines", "/sched/goroutines:goroutines"},
}

func runtimeStatistics(list Listing) {
	list("go", "version", runtime.Version())
	samples := make([]metrics.Sample, len(shown))
	for index, figure := range shown {
		samples[index].Name = figure.metric
	}
	metrics.Read(samples)
	for index, sample := range samples {
		switch sample.Value.Kind() {
		case metrics.KindUint64:
			list("go", shown[index].name, fmt.Sprint(sample.Value.Uint64()))
		case metrics.KindFloat64:
			list.Say("go", shown[index].name, "%.3f", sample.Value.Float64())
		}
	}
}
