//! The data of charts as rows, from what the page's script gets to draw.

use serde_json::Value;

use crate::charts::DrawnChart;
use crate::error::ReportError;

/// The heads of [`rows`].
pub(super) const HEADS: [&str; 8] = ["chart", "figure", "series", "x", "value", "low", "high", "stall"];

/// A row for each point of each line, or each bar, of some charts; where the page can switch to other figures, of those
/// too.
pub(super) fn rows(charts: &[DrawnChart]) -> Result<Vec<Vec<Value>>, ReportError> {
    let mut rows = Vec::new();
    for drawn in charts {
        let chart: Value = serde_json::from_str(&drawn.data)?;
        rows.extend(rows_of(&drawn.caption, &chart, figure(&chart), None));
        for choice in members(&chart["choices"]) {
            rows.extend(rows_of(&drawn.caption, &chart, figure(choice), Some(&choice["figures"])));
        }
    }
    Ok(rows)
}

/// The subject of a chart's figures: lines have it on the axis that goes up, dots and triangles on their only one.
fn figure(chart: &Value) -> &str {
    let titles = [&chart["y"]["title"], &chart["unit"], &chart["x"]["title"]];
    titles.into_iter().find_map(Value::as_str).unwrap_or_default()
}

/// Rows of one figure: of the chart's own, or of `others` at the same places.
fn rows_of(caption: &str, chart: &Value, figure: &str, others: Option<&Value>) -> Vec<Vec<Value>> {
    let row = |name: &Value, (nth, at): (usize, usize), point: &Value| {
        vec![
            caption.into(),
            figure.into(),
            name.clone(),
            x(chart, &point[0]),
            others.map_or(&point[1], |others| &others[nth][at]).clone(),
            point[2][0].clone(),
            point[2][1].clone(),
            // Nothing but a line over time has stalls.
            if point[3] == true { true.into() } else { Value::Null },
        ]
    };
    let of_series = |(nth, series): (usize, &Value)| -> Vec<Vec<Value>> {
        let points = members(&series["points"]).iter().enumerate().filter(|(_, point)| point.is_array());
        points.map(|(at, point)| row(&series["name"], (nth, at), point)).collect()
    };
    members(&chart["series"]).iter().enumerate().flat_map(of_series).collect()
}

fn members(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

/// A point's position: the label of a bar, the words of an axis that has nothing but marks (numbers of threads as
/// numbers), else the figure.
fn x(chart: &Value, coordinate: &Value) -> Value {
    let at = coordinate.as_f64().unwrap_or(f64::NAN);
    let axis = &chart["x"];
    let near = |tick: &&Value| tick[0].as_f64().is_some_and(|mark| (mark - at).abs() <= 1e-5 * (1.0 + mark.abs()));
    let mark = match (chart["labels"].as_array(), axis["words"] == "marks") {
        (Some(labels), _) => coordinate.as_f64().and_then(|nth| labels.get(nth as usize)).cloned(),
        (None, true) => members(&axis["ticks"]).iter().find(near).map(|tick| tick[1].clone()),
        (None, false) => None,
    };
    let figure = || if axis["log"] == true { 10f64.powf(at).into() } else { coordinate.clone() };
    match mark {
        Some(Value::String(words)) => words.parse::<u64>().map_or(Value::String(words), Value::from),
        Some(other) => other,
        None => figure(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows_of(data: Value) -> Vec<Vec<Value>> {
        let caption = "4 readers".to_owned();
        rows(&[DrawnChart {
            stem: caption.clone(),
            caption,
            svg: String::new(),
            further: Vec::new(),
            data: data.to_string(),
        }])
        .unwrap()
    }

    #[test]
    fn lines_are_rows_with_the_words_of_their_marks() {
        let data = json!({
            "kind": "lines", "y": { "title": "reads/s" },
            "x": { "words": "marks", "log": false, "ticks": [[0.0, "1"], [1.584_962_5, "3"]] },
            "series": [{
                "name": "lmdb",
                "points": [[0.0, 10.0, [9.0, 11.0], false], null, [1.58496, 20.0, null, true]],
            }],
        });
        let expected = [
            json!(["4 readers", "reads/s", "lmdb", 1, 10.0, 9.0, 11.0, null]),
            json!(["4 readers", "reads/s", "lmdb", 3, 20.0, null, null, true]),
        ];
        assert_eq!(rows_of(data).into_iter().map(Value::from).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn dots_have_the_title_of_their_axis_and_choices_their_own() {
        let dots = json!({
            "kind": "dots", "x": { "title": "blocks/op", "words": "numbers", "log": true }, "labels": ["lmdb"],
            "series": [{ "name": "inputs", "points": [[0.0, 7.0]] }],
        });
        assert_eq!(
            Value::from(rows_of(dots).remove(0)),
            json!(["4 readers", "blocks/op", "inputs", "lmdb", 7.0, null, null, null])
        );
        let lines = json!({
            "kind": "lines", "y": { "title": "p99 of reads" }, "x": { "words": "numbers", "log": false },
            "series": [{ "name": "lmdb", "points": [[1.0, 10.0], null, [3.0, 20.0, null, true]] }],
            "choices": [{ "name": "p50", "y": { "title": "p50 of reads" }, "figures": [[5.0, null, 6.0]] }],
        });
        let rows: Vec<Value> = rows_of(lines).into_iter().map(Value::from).collect();
        assert_eq!(rows[2], json!(["4 readers", "p50 of reads", "lmdb", 1.0, 5.0, null, null, null]));
        assert_eq!((rows.len(), &rows[3][4], &rows[3][7]), (4, &json!(6.0), &json!(true)));
    }

    #[test]
    fn bars_have_labels() {
        let data = json!({
            "kind": "bars", "unit": "s", "labels": ["lmdb", "rocksdb"],
            "series": [{ "name": "wall", "points": [[0.0, 1.0, null, false], [1.0, 2.0, null, false]] }],
        });
        let rows = rows_of(data);
        assert_eq!((&rows[1][3], &rows[1][4], &rows[0][1]), (&json!("rocksdb"), &json!(2.0), &json!("s")));
    }
}
