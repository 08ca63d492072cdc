//! Cells and points of the time series as Parquet files, for pandas, DuckDB and the like. Columns are those of CSV.
//!
//! Every column is optional. Those of figures are DOUBLE whatever their values are, so that files of several runs have
//! one schema.

use std::sync::Arc;

use kvdyno_results::{SeriesPoint, TrialKey, TrialResult};
use parquet::basic::{ConvertedType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use serde_json::Value;

use crate::document::Document;
use crate::error::ReportError;
use crate::study::Study;

/// A column: its name, and its values in the order of rows.
struct ParquetColumn {
    name: String,
    values: ColumnValues,
}

enum ColumnValues {
    Texts(Vec<Option<String>>),
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
}

/// The files, each with its name.
pub(crate) fn files(study: &Study<'_>, document: &Document<'_>) -> Result<[(&'static str, Vec<u8>); 2], ReportError> {
    Ok([("cells.parquet", file("cell", &cells(document))?), ("series.parquet", file("point", &series(study))?)])
}

fn cells(document: &Document<'_>) -> Vec<ParquetColumn> {
    let table = &document.cell_table;
    let column = |(nth, (name, kind)): (usize, (&String, &&str))| {
        let values: Vec<&Value> = table.rows.iter().filter_map(|row| row.get(nth)).collect();
        let values = match *kind {
            "string" => ColumnValues::Texts(values.iter().map(|value| value.as_str().map(str::to_owned)).collect()),
            "integer" => ColumnValues::Integers(values.iter().map(|value| value.as_i64()).collect()),
            _ => ColumnValues::Numbers(values.iter().map(|value| value.as_f64()).collect()),
        };
        ParquetColumn { name: name.clone(), values }
    };
    table.columns.iter().zip(&table.kinds).enumerate().map(column).collect()
}

/// A fact of a trial that its points have in common.
type TrialText = fn(&TrialKey) -> String;
type TrialCount = fn(&TrialKey) -> i64;
type PointCount = fn(&SeriesPoint) -> u64;
type PointNumber = fn(&SeriesPoint) -> f64;

/// Every point of every trial, with the trial's names before it.
fn series(study: &Study<'_>) -> Vec<ParquetColumn> {
    let of_trial = |result: &TrialResult| {
        let points = study.series.get(&result.trial).into_iter().flatten();
        points.map(|point| (result.trial.clone(), point.clone())).collect::<Vec<_>>()
    };
    let points: Vec<(TrialKey, SeriesPoint)> = study.results.iter().flat_map(of_trial).collect();
    let texts: [(&str, TrialText); 5] = [
        ("engine", |trial| trial.engine.clone()),
        ("variant", |trial| trial.variant.clone()),
        ("phase", |trial| trial.phase.to_string()),
        ("workload", |trial| trial.workload.clone()),
        ("clients", |trial| trial.clients.to_string()),
    ];
    let counts: [(&str, TrialCount); 4] = [
        ("readers", |trial| trial.readers.into()),
        ("writers", |trial| trial.writers.into()),
        ("repeat", |trial| trial.repeat.into()),
        ("trial", |trial| trial.number.into()),
    ];
    let text = |(name, of): (&str, TrialText)| ParquetColumn {
        name: name.to_owned(),
        values: ColumnValues::Texts(points.iter().map(|(trial, _)| Some(of(trial))).collect()),
    };
    let count = |(name, of): (&str, TrialCount)| ParquetColumn {
        name: name.to_owned(),
        values: ColumnValues::Integers(points.iter().map(|(trial, _)| Some(of(trial))).collect()),
    };
    texts.into_iter().map(text).chain(counts.into_iter().map(count)).chain(of_points(&points)).collect()
}

/// The columns of `series.csv`.
fn of_points(points: &[(TrialKey, SeriesPoint)]) -> Vec<ParquetColumn> {
    let count = |of: PointCount| {
        ColumnValues::Integers(points.iter().map(|(_, point)| i64::try_from(of(point)).ok()).collect())
    };
    let number = |of: PointNumber| ColumnValues::Numbers(points.iter().map(|(_, point)| Some(of(point))).collect());
    let mut columns = vec![
        ("end_s", number(|point| point.end_s)),
        ("seconds", number(|point| point.seconds)),
        ("kind", ColumnValues::Texts(points.iter().map(|(_, point)| Some(point.kind.word().to_owned())).collect())),
        ("operations", count(|point| point.operations)),
        ("records", count(|point| point.records)),
        ("records_per_s", number(|point| point.records_per_s)),
    ];
    columns.extend(kvdyno_results::Percentile::ALL.map(|percentile| {
        let values = points.iter().map(|(_, point)| i64::try_from(point.percentiles[percentile]).ok());
        (percentile.key(), ColumnValues::Integers(values.collect()))
    }));
    columns.push(("max_ns", count(|point| point.max_ns)));
    columns.into_iter().map(|(name, values)| ParquetColumn { name: name.to_owned(), values }).collect()
}

/// One row group of these columns; the same bytes for the same columns.
fn file(name: &str, columns: &[ParquetColumn]) -> Result<Vec<u8>, ReportError> {
    let schema = columns.iter().map(ParquetColumn::declared).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder(name).with_fields(schema).build()?);
    let properties = WriterProperties::builder().set_created_by(format!("kvdyno {}", env!("CARGO_PKG_VERSION")));
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
    let mut group = writer.next_row_group()?;
    for column in columns {
        let mut next = group.next_column()?.ok_or_else(|| ParquetError::General("a column too many".to_owned()))?;
        match &column.values {
            ColumnValues::Texts(values) => {
                let (there, levels) = dense(values, |text| ByteArray::from(text.as_str()));
                next.typed::<ByteArrayType>().write_batch(&there, Some(&levels), None)?;
            }
            ColumnValues::Integers(values) => {
                let (there, levels) = dense(values, |number| *number);
                next.typed::<Int64Type>().write_batch(&there, Some(&levels), None)?;
            }
            ColumnValues::Numbers(values) => {
                let (there, levels) = dense(values, |number| *number);
                next.typed::<DoubleType>().write_batch(&there, Some(&levels), None)?;
            }
        }
        next.close()?;
    }
    group.close()?;
    Ok(writer.into_inner()?)
}

/// The values that are there, and of each row whether it has one.
fn dense<T, U>(values: &[Option<T>], of: impl Fn(&T) -> U) -> (Vec<U>, Vec<i16>) {
    let levels = values.iter().map(|value| i16::from(value.is_some())).collect();
    (values.iter().flatten().map(of).collect(), levels)
}

impl ParquetColumn {
    fn declared(&self) -> Result<TypePtr, ParquetError> {
        let (physical, converted) = match &self.values {
            ColumnValues::Texts(_) => (PhysicalType::BYTE_ARRAY, ConvertedType::UTF8),
            ColumnValues::Integers(_) => (PhysicalType::INT64, ConvertedType::NONE),
            ColumnValues::Numbers(_) => (PhysicalType::DOUBLE, ConvertedType::NONE),
        };
        let declared = Type::primitive_type_builder(&self.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(converted);
        Ok(Arc::new(declared.build()?))
    }
}
