//! The JSON Schema of a report's JSON. It is strict: what is not in it is not in a report.

use kvdyno_results::{Percentile, Phase};
use serde_json::{Map, Value, json};

use crate::figures::columns;

/// The whole schema.
pub(crate) fn schema() -> Value {
    let report = object(vec![
        ("experiment", string("The experiment's name.")),
        ("rankings", list("A ranking for each work.", reference("ranking"))),
        ("verdicts", list("A verdict for each pair of setups that did the same work.", reference("verdict"))),
        ("settings", json!({ "type": "object", "description": SETTINGS, "additionalProperties": { "type": SCALAR } })),
        ("machine", or_null(reference("machine"))),
        ("missing", integer("Trials of the plan that have no result.")),
        ("load", list("The loads, a row a trial.", row(Phase::Load))),
        ("run", list("The runs, a row a trial.", row(Phase::Run))),
        ("cells", list("Trials that repeat each other, together.", reference("cell"))),
        ("relative", list("Variants over the first of them.", reference("relative"))),
        ("doubts", list("Figures that do not fit each other.", reference("remark"))),
        ("notes", list("Remarks of trials.", reference("remark"))),
    ]);
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A report of kvdyno",
        "$defs": definitions(),
    });
    if let (Value::Object(schema), Value::Object(report)) = (&mut schema, report) {
        schema.extend(report);
    }
    schema
}

const SETTINGS: &str = "The requested work, as far as all trials have it in common; sizes in bytes.";
const SCALAR: [&str; 3] = ["string", "number", "boolean"];

fn definitions() -> Value {
    let comparison = || {
        vec![
            ("verdict", one_of(&["faster", "slower", "same", "cannot tell"])),
            ("why", or_null(string("Why it cannot tell."))),
            ("figure", one_of(&["throughput", "CPU time per operation"])),
            (
                "ratio",
                or_null(number("Throughput: the first's over the second's; CPU time: the second's over the first's.")),
            ),
            ("low", or_null(number("The lower end of its 95 % interval."))),
            ("high", or_null(number("The upper end."))),
            ("differs", boolean("Whether the interval excludes 1.")),
            ("repeats", integer("Repeats in which both finished.")),
            ("values", integer("Values that it is made of: repeats, or rounds of set-ups that cross over.")),
            ("detect", number("The least difference that matters.")),
            ("looks", one_of(&["once", "after-each"])),
            ("bias", or_null(number("The duet's bias that the interval was made wider by."))),
            ("by_slices", boolean("Whether slices decided, because the duet said otherwise.")),
            ("pairs", integer("Pairs that the interval is adjusted for.")),
        ]
    };
    let verdict = [
        ("work", string("Workload and clients.")),
        ("one", string("The first's label.")),
        ("other", string("The second's.")),
        ("one_cell", object(cell_key())),
        ("other_cell", object(cell_key())),
        ("side", or_null(string("The side whose throughput it is: `reads` or `writes`."))),
        ("neighbours", boolean("Whether they stand next to each other in the order.")),
        ("not_steady", list("Labels of those that were not steady.", string(""))),
        ("sentence", string("The verdict for people.")),
    ];
    let relative = [
        ("variant", string("Whose rate stands above the line.")),
        ("over", string("Whose rate stands below it.")),
        ("engine", string("As the experiment names it.")),
        ("label", string("As reports name it.")),
        ("workload", string("The workload.")),
        ("threads", integer("Clients above the line.")),
        ("threads_over", integer("Clients below it.")),
        ("relative", or_null(number("Half of the ratio's interval over the ratio."))),
        ("not_steady", boolean("Whether one of the two was not steady.")),
    ];
    json!({
        "ranking": object(vec![
            ("work", string("Workload and clients.")),
            ("order", list("Labels of setups, the highest first.", string(""))),
            ("figure", one_of(&["throughput", "CPU time per operation"])),
            ("side", or_null(string("The side whose throughput it is: `reads` or `writes`."))),
            ("verdicts", list("Of each and the next.", string(""))),
            ("left_out", list("Those of which nothing is said, and why.", json!({
                "type": "array", "prefixItems": [string("Its label."), string("Why.")], "items": false,
            }))),
            ("highest", or_null(string("The one that is faster than every other."))),
            ("adjustment", string("How intervals of neighbours were adjusted for their number.")),
        ]),
        "verdict": object(verdict.into_iter().chain(comparison()).collect()),
        "relative": object(relative.into_iter().chain(comparison()).collect()),
        "remark": object(vec![("trial", string("Which trial.")), ("text", string("The remark."))]),
        "estimate": object(estimate()),
        "label": object(vec![("engine", string("For people.")), ("workload", string("For people."))]),
        "cell": cell(),
        "machine": machine(),
    })
}

fn estimate() -> Vec<(&'static str, Value)> {
    vec![
        ("value", number("The mean.")),
        ("low", or_null(number("The lower end of the 95 % interval."))),
        ("high", or_null(number("The upper end."))),
        ("n", integer("Trials behind it.")),
        ("method", string("The source of the interval.")),
    ]
}

fn cell_key() -> Vec<(&'static str, Value)> {
    vec![
        ("engine", string("As the experiment names it.")),
        ("variant", string("The experiment's variant; may be empty.")),
        ("phase", one_of(&["load", "run"])),
        ("workload", string("The workload.")),
        ("readers", integer("Clients that read.")),
        ("writers", integer("Clients that write.")),
        ("clients", one_of(&["threads", "processes"])),
    ]
}

fn cell() -> Value {
    let mut latency = vec![
        ("kind", string("The kind of operation.")),
        ("operations", integer("Of all trials.")),
        ("merged", boolean("Whether the logs of all trials were merged; if not, figures are medians.")),
        ("min_ns", integer("")),
        ("mean_ns", integer("")),
        ("max_ns", integer("")),
    ];
    latency.extend(Percentile::ALL.map(|percentile| (percentile.key(), reference("estimate"))));
    let steadiness = object(vec![
        ("state", one_of(&["steady", "not steady", "not told"])),
        ("told", integer("Trials of which it can be told.")),
        ("not_steady", integer("Those of them that were not steady.")),
        ("why", list("The findings, or why nothing is told.", string(""))),
    ]);
    let mut fields = cell_key();
    fields.extend([
        ("preset", or_null(string("The preset of the engine's name."))),
        ("version", string("As the library reported it.")),
        ("library", or_null(string("The library that the user chose."))),
        ("label", reference("label")),
        ("finished", integer("Trials that ended well.")),
        ("failed", integer("Trials that did not.")),
        ("reads_per_s", or_null(reference("estimate"))),
        ("writes_per_s", or_null(reference("estimate"))),
        ("wall_s", or_null(reference("estimate"))),
        ("latencies", list("A latency for each kind of operation, nanoseconds.", object(latency))),
        ("steadiness", or_null(steadiness)),
    ]);
    object(fields)
}

/// Null is what the system did not tell. Other fields may come: they say more of the machine.
fn machine() -> Value {
    let text = || or_null(string(""));
    let count = || or_null(integer(""));
    let cpu = [("model", string("")), ("threads", integer("")), ("cores", integer("")), ("sockets", integer(""))];
    json!({
        "type": "object",
        "required": ["cpu", "caches", "memory_kib", "numa", "kernel", "system", "filesystem", "clock", "kvdyno"],
        "properties": {
            "cpu": { "type": "object", "properties": properties(cpu.into_iter().chain([
                ("governor", text()), ("hypervisor", text()),
            ])) },
            "caches": list("", json!({ "type": "object", "properties": properties([
                ("level", integer("")), ("kind", string("")), ("size_kib", integer("")), ("shared_by", integer("")),
            ]) })),
            "memory_kib": integer(""),
            "numa": list("", json!({ "type": "object", "properties": properties([
                ("node", integer("")), ("cpus", string("")), ("memory_kib", integer("")),
                ("distances", list("", integer(""))),
            ]) })),
            "kernel": string(""),
            "system": string(""),
            "filesystem": { "type": "object", "properties": properties([
                ("kind", string("")), ("options", string("")), ("device", text()), ("rotational", or_null(boolean(""))),
                ("read_ahead_kib", count()), ("free_bytes", integer("")),
            ]) },
            "clock": string("The clock that times an operation."),
            "kvdyno": string("Its version."),
            "build": { "type": "object", "properties": properties([
                ("commit", text()), ("profile", string("")), ("rust", string("")),
            ]) },
            "setup": { "type": "object", "properties": properties([
                ("transparent_huge_pages", text()), ("io_scheduler", text()), ("drive", text()), ("microcode", text()),
                ("kernel_command_line", text()),
                ("mitigations", json!({ "type": "object", "additionalProperties": string("") })),
            ]) },
            "driver": or_null(json!({ "type": "object", "properties": properties([
                ("get_ns", number("")), ("get_ns_range", list("", number(""))), ("scaling", number("")),
                ("scaling_threads", integer("")),
            ]) })),
        },
    })
}

/// A trial: the columns of CSV, its label, and figures that only its workload has.
fn row(phase: Phase) -> Value {
    let columns = columns(phase, &[]);
    let mut fields: Map<String, Value> =
        columns.iter().map(|column| (column.name.clone(), or_null(described(column.kind, &column.meaning)))).collect();
    fields.insert("label".to_owned(), or_null(reference("label")));
    let required: Vec<String> = fields.keys().cloned().collect();
    json!({
        "type": "object",
        "properties": fields,
        "required": required,
        "additionalProperties": { "type": ["string", "number", "null"] },
    })
}

/// An object that has these fields and no other.
fn object(fields: Vec<(&'static str, Value)>) -> Value {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    json!({
        "type": "object", "required": names, "properties": properties(fields), "additionalProperties": false,
    })
}

fn properties(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect::<Map<_, _>>().into()
}

fn described(kind: &str, description: &str) -> Value {
    match description {
        "" => json!({ "type": kind }),
        _ => json!({ "type": kind, "description": description }),
    }
}

fn string(description: &str) -> Value {
    described("string", description)
}

fn integer(description: &str) -> Value {
    described("integer", description)
}

fn number(description: &str) -> Value {
    described("number", description)
}

fn boolean(description: &str) -> Value {
    described("boolean", description)
}

fn one_of(words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words })
}

fn list(description: &str, items: Value) -> Value {
    match description {
        "" => json!({ "type": "array", "items": items }),
        _ => json!({ "type": "array", "description": description, "items": items }),
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn or_null(schema: Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}
