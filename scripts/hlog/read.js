// What read.py does, by HdrHistogram's reader in JavaScript, with and without WebAssembly.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const hdr = require("hdr-histogram-js");

function histograms(log, useWebAssembly) {
  const reader = new hdr.HistogramLogReader(fs.readFileSync(log, "utf8"), 64, useWebAssembly);
  const read = new Map();
  for (let next = reader.nextIntervalHistogram(); next; next = reader.nextIntervalHistogram()) read.set(next.tag, next);
  return read;
}

function check(trial, useWebAssembly) {
  const read = histograms(path.join(trial, "latency.hlog"), useWebAssembly);
  const result = JSON.parse(fs.readFileSync(path.join(trial, "result.json"), "utf8"));
  assert.strictEqual(read.size, result.operations.length, trial);
  for (const operation of result.operations) {
    const histogram = read.get(operation.kind);
    assert.ok(histogram, `${trial}: ${operation.kind}`);
    assert.strictEqual(histogram.totalCount, operation.operations, `${trial}: ${operation.kind}`);
    for (const [value, name] of [[histogram.mean, "mean_ns"], [histogram.maxValue, "max_ns"]]) {
      const told = operation.latency[name];
      assert.ok(Math.abs(value - told) <= Math.max(value, told) / 500 + 1, `${trial}: ${name}: ${value}, ${told}`);
    }
  }
  return read.size;
}

hdr.initWebAssembly().then(() => {
  const trials = path.join(process.argv[2], "trials");
  let checked = 0;
  for (const trial of fs.readdirSync(trials)) {
    if (!fs.existsSync(path.join(trials, trial, "latency.hlog"))) continue;
    for (const useWebAssembly of [false, true]) checked += check(path.join(trials, trial), useWebAssembly);
  }
  assert.ok(checked > 0, "there are no operations");
  console.log(`hlog: JavaScript read ${checked} histograms`);
});
