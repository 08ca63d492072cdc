//! The memory, the device and the engine's counters of a trial over time.

use serde::{Deserialize, Serialize};

/// The memory, the device and the engine's counters of a trial at one point of its time series: a row of
/// `resources.csv`. Figures that nobody reports are absent, and empty fields in the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResourcePoint {
    /// End of the point, seconds into the measured window, as in `series.csv`.
    pub end_s: f64,
    /// Length of the point, seconds.
    pub seconds: f64,
    /// Resident size of the worker at the end of the point, KiB. Absent for several processes, whose shared pages would
    /// count more than once.
    pub resident_kib: Option<u64>,
    /// Bytes that all processes read from the block device below the database within the point. Absent if there is
    /// none, and if other trials work beside this one.
    pub device_read_bytes: Option<u64>,
    /// Bytes that were written to it.
    pub device_write_bytes: Option<u64>,
    /// Bytes of new data that the engine wrote from its memory to the database's files within the point, by its own
    /// count. Absent of an engine without counters, in slices, of several processes, and where the worker was too busy
    /// to answer: then the next point has them.
    #[serde(default)]
    pub flushed_bytes: Option<u64>,
    /// Bytes that it wrote anew to bring data that was in files into another form.
    #[serde(default)]
    pub compacted_bytes: Option<u64>,
    /// Seconds that it held writers back, all together.
    #[serde(default)]
    pub stalled_s: Option<f64>,
}

impl ResourcePoint {
    /// The points of a `resources.csv`, in order.
    ///
    /// # Errors
    /// Says in words what is not as it should be.
    pub fn read_all(content: &[u8]) -> Result<Vec<ResourcePoint>, String> {
        let read: Result<Vec<ResourcePoint>, _> = csv::Reader::from_reader(content).deserialize().collect();
        let points = read.map_err(|error| error.to_string())?;
        points.iter().enumerate().try_for_each(|(nth, point)| point.check(nth + 1))?;
        Ok(points)
    }

    /// Checks that its times can be drawn: the format can also spell what is no number.
    fn check(&self, row: usize) -> Result<(), String> {
        let wrong = |(_, seconds): &(&str, f64)| !(seconds.is_finite() && *seconds >= 0.0);
        let times = [("end_s", Some(self.end_s)), ("seconds", Some(self.seconds)), ("stalled_s", self.stalled_s)];
        match times.into_iter().filter_map(|(column, time)| Some((column, time?))).find(wrong) {
            None => Ok(()),
            Some((column, value)) => {
                Err(format!("row {row}: {column} is {value}; it must be a number of seconds, 0 or more"))
            }
        }
    }

    /// The same points as a file.
    ///
    /// # Errors
    /// Says in words why not.
    pub fn write_all(points: &[ResourcePoint]) -> Result<Vec<u8>, String> {
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        writer.write_record(ResourcePoint::COLUMNS).map_err(|error| error.to_string())?;
        points.iter().try_for_each(|point| writer.serialize(point)).map_err(|error| error.to_string())?;
        writer.into_inner().map_err(|error| error.to_string())
    }

    const COLUMNS: [&str; 8] = [
        "end_s",
        "seconds",
        "resident_kib",
        "device_read_bytes",
        "device_write_bytes",
        "flushed_bytes",
        "compacted_bytes",
        "stalled_s",
    ];
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn points_that_are_written_are_read() {
        let whole = ResourcePoint {
            end_s: 0.30000000000000004,
            seconds: 0.1,
            resident_kib: Some(1 << 40),
            device_read_bytes: Some(0),
            device_write_bytes: Some(u64::MAX),
            flushed_bytes: Some(7),
            compacted_bytes: Some(0),
            stalled_s: Some(0.25),
        };
        let points = [whole, ResourcePoint { end_s: 0.4, ..ResourcePoint::default() }];
        let file = ResourcePoint::write_all(&points).unwrap();
        assert_eq!(String::from_utf8_lossy(&file).lines().nth(2), Some("0.4,0.0,,,,,,"));
        assert_eq!(ResourcePoint::read_all(&file).unwrap(), points);
        assert_eq!(ResourcePoint::read_all(&ResourcePoint::write_all(&[]).unwrap()).unwrap(), []);
        assert!(ResourcePoint::read_all(b"end_s,seconds\n1,x\n").is_err());
        // Of a version that had no counters of engines.
        let older = b"end_s,seconds,resident_kib,device_read_bytes,device_write_bytes\n1,1,9,,\n";
        assert_eq!(ResourcePoint::read_all(older).unwrap()[0].flushed_bytes, None);
    }

    #[test]
    fn times_that_cannot_be_drawn_are_refused() {
        let read = |row: &str| ResourcePoint::read_all(format!("{}\n0,0,,,,,,\n{row}\n", HEAD).as_bytes()).unwrap_err();
        assert_eq!(read("inf,1,,,,,,"), "row 2: end_s is inf; it must be a number of seconds, 0 or more");
        assert!(read("1,NaN,,,,,,").starts_with("row 2: seconds is NaN; "));
        assert!(read("1,-0.5,,,,,,").starts_with("row 2: seconds is -0.5; "));
    }

    const HEAD: &str = "end_s,seconds,resident_kib,device_read_bytes,device_write_bytes,flushed_bytes,\
                        compacted_bytes,stalled_s";

    /// A field of a file that was changed: mostly one that does not belong there.
    fn field() -> impl Strategy<Value = String> {
        prop_oneof![
            Just(String::new()),
            any::<u64>().prop_map(|number| number.to_string()),
            any::<f64>().prop_map(|number| number.to_string()),
            "[-+0-9.eEinfaN\", \n]{0,8}",
        ]
    }

    proptest! {
        #[test]
        fn every_point_that_is_written_is_read(rows in prop::collection::vec(
            (0.0..1e9f64, 0.0..1e3f64, any::<[Option<u64>; 5]>(), prop::option::of(0.0..1e3f64)), 0..20,
        )) {
            let point = |(end_s, seconds, counts, stalled_s)| {
                let [resident_kib, device_read_bytes, device_write_bytes, flushed_bytes, compacted_bytes] = counts;
                ResourcePoint {
                    end_s,
                    seconds,
                    resident_kib,
                    device_read_bytes,
                    device_write_bytes,
                    flushed_bytes,
                    compacted_bytes,
                    stalled_s,
                }
            };
            let points: Vec<ResourcePoint> = rows.into_iter().map(point).collect();
            prop_assert_eq!(ResourcePoint::read_all(&ResourcePoint::write_all(&points).unwrap()).unwrap(), points);
        }

        #[test]
        fn what_is_taken_can_be_drawn_and_is_read_again(rows in prop::collection::vec(
            prop::collection::vec(field(), 7..10), 0..6,
        )) {
            let rows: Vec<String> = rows.into_iter().map(|fields| fields.join(",")).collect();
            if let Ok(points) = ResourcePoint::read_all(format!("{HEAD}\n{}\n", rows.join("\n")).as_bytes()) {
                prop_assert!(points.iter().all(|point| point.end_s >= 0.0 && point.seconds.is_finite()));
                prop_assert_eq!(ResourcePoint::read_all(&ResourcePoint::write_all(&points).unwrap()).unwrap(), points);
            }
        }

        #[test]
        fn no_bytes_bring_the_reader_down(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = ResourcePoint::read_all(&bytes);
        }
    }
}
