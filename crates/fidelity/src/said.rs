//! The text of `kvdyno report`, read again: sentences of its verdicts, and rates of its tables with their marks.

/// A sentence of a verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// The heading that it stands under: `readrandom, 1 reader, by throughput`.
    pub heading: String,
    /// The whole of it.
    pub text: String,
}

/// The claim of a sentence about two engines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Claim<'a> {
    /// The first does more a second than the second, or uses less CPU time.
    Better(&'a str, &'a str),
    /// They are the same.
    Same(&'a str, &'a str),
    /// It cannot be told.
    CannotTell(&'a str, &'a str),
    /// Nothing is said of some.
    LeftOut,
}

/// A field of a table of rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateField<'a> {
    /// `*`, `≈`, `?` or nothing.
    pub mark: Option<char>,
    /// The figure as it is printed.
    pub text: &'a str,
}

/// The sentences beneath `Verdicts`. Text that is indented is one, text that is indented twice goes on with it, and
/// other lines are headings.
pub fn sentences(report: &str) -> Vec<Sentence> {
    let section = report.lines().skip_while(|line| *line != "Verdicts").skip(1).take_while(|line| !line.is_empty());
    let (mut heading, mut all): (&str, Vec<Sentence>) = ("", Vec::new());
    for line in section {
        match (line.strip_prefix("    "), line.strip_prefix("  "), all.last_mut()) {
            (Some(more), _, Some(sentence)) => sentence.text += &format!(" {more}"),
            (_, Some(text), _) => all.push(Sentence { heading: heading.to_owned(), text: text.to_owned() }),
            (_, None, _) => heading = line,
        }
    }
    all
}

impl Sentence {
    /// Its claim, without all that it adds; absent if it is not understood.
    pub fn claim(&self) -> Option<Claim<'_>> {
        let clause = self.text.split(';').next()?;
        if clause.starts_with("nothing is said of ") {
            return Some(Claim::LeftOut);
        }
        if let Some(rest) = clause.strip_prefix("cannot tell") {
            let (one, other) = rest.split_once(": ")?.1.split(',').next()?.split_once(" and ")?;
            return Some(Claim::CannotTell(one, other));
        }
        if let Some((pair, _)) = clause.split_once(" the same ") {
            let (one, other) = pair.split_once(" and ")?;
            return Some(Claim::Same(one, other.split(' ').next()?));
        }
        let one = clause.split(' ').next()?;
        let after = |words: &str| clause.split_once(words)?.1.split([' ', ',']).next();
        // `uses 4.21 times as much CPU time per operation as`: the second is the better one.
        let dearer = clause.contains(" times as much ").then(|| after(" per operation as ")).flatten();
        let dearer = dearer.or_else(|| clause.contains(" % more ").then(|| after(" per operation than ")).flatten());
        let better =
            || after(" as fast as ").or_else(|| after(" faster than ")).or_else(|| after(" per operation than "));
        match dearer {
            Some(other) => Some(Claim::Better(other, one)),
            None => Some(Claim::Better(one, better()?)),
        }
    }

    /// Whether it is about CPU time.
    pub fn is_of_cpu_time(&self) -> bool {
        self.heading.contains(", by CPU time per operation")
    }

    /// Whether it says that another figure has the opposite verdict.
    pub fn names_the_opposite(&self) -> bool {
        self.text.contains("; but ")
    }

    /// The field of an engine in the table of rates that the sentence is about; absent if there is none.
    pub fn field<'r>(&self, report: &'r str, engine: &str) -> Option<RateField<'r>> {
        let (work, figure) = self.heading.split_once(", by ")?;
        if work.starts_with("Load: ") {
            return field(report, "Load", "records/s", engine);
        }
        let (workload, clients) = work.split_once(", ")?;
        // The number of writers beside readers is the same in all columns.
        let column = clients.split(", ").next()?;
        let of = |rates: &str| field(report, &format!("{workload}: {rates}"), column, engine);
        match figure {
            "throughput of writes" => of("writes/s"),
            "throughput of reads" => of("reads/s"),
            _ => of("reads/s").or_else(|| of("writes/s")),
        }
    }
}

/// The field of a row, in the column of that head, of the table with a title.
fn field<'r>(report: &'r str, title: &str, head: &str, engine: &str) -> Option<RateField<'r>> {
    let mut table = report.lines().skip_while(|line| *line != title).skip(1).take_while(|line| !line.is_empty());
    let heads = table.next()?;
    // Figures end where the head of their column ends.
    let end = heads[..heads.find(head)? + head.len()].chars().count();
    let row = table.find(|row| row.split("  ").next() == Some(engine))?;
    let end = row.char_indices().nth(end).map_or(row.len(), |(index, _)| index);
    let text = row[..end].rsplit("  ").next()?.trim();
    let mark = text.chars().next().filter(|mark| ['*', '≈', '?'].contains(mark));
    let text = text.trim_start_matches(['*', '≈', '?']).trim_start();
    Some(RateField { mark, text })
}

impl RateField<'_> {
    /// The figure; absent where there is none, as in `failed`.
    pub fn figure(&self) -> Option<f64> {
        // Before it there may be the mark of interference.
        let number = self.text.trim_start_matches(['!', ' ']);
        let number = number.split(|letter: char| !letter.is_ascii_digit() && letter != '.' && letter != ',').next()?;
        number.replace(',', "").parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
name
records 1,000

Verdicts
Load: fillseq, by throughput
  lmdb loads 1.94 times as fast as bdb (1.75 to 2.15), 3 repeats
readwhilewriting, 1 reader, 1 writer, by throughput of reads
  lmdb reads 8.2 % faster than bdb (+3 % to +14 %), 3 repeats; but bdb writes 1.7 times as fast as
    lmdb: no winner
readwhilewriting, 2 readers, 1 writer, by throughput of writes
  cannot tell: bdb and lmdb, 3.7 % apart, 3 repeats: the interval is too wide
In brackets the 95 % interval of the ratio.

Load
engine             wall    records/s      ±
───────────────────────────────────────────
lmdb            0:00.94    1,102,310  ±2.9%
bdb             0:21.21       46,866  ±4.0%

readwhilewriting: reads/s
engine   1 reader    2 readers
──────────────────────────────
lmdb  * ! 640,252  ? 1,256,486
bdb       117,947       failed

readwhilewriting: writes/s
engine  1 reader  2 readers
───────────────────────────
lmdb      ≈ 12.5      ? 120
bdb       ≈ 12.1     ? 121†
By throughput, in each column: * faster than every other; ≈ the same as the highest; ? cannot tell.
";

    #[test]
    fn sentences_have_their_headings_and_their_fields() {
        let all = sentences(REPORT);
        assert_eq!(all.len(), 3);
        let figures = |index: usize| ["lmdb", "bdb"].map(|engine| all[index].field(REPORT, engine).unwrap());
        assert_eq!(figures(0).map(|field| field.figure()), [Some(1_102_310.0), Some(46_866.0)]);
        assert_eq!(figures(1)[0], RateField { mark: Some('*'), text: "! 640,252" });
        assert_eq!(figures(1).map(|field| field.figure()), [Some(640_252.0), Some(117_947.0)]);
        assert_eq!(figures(2).map(|field| field.figure()), [Some(120.0), Some(121.0)]);
        assert_eq!(all[0].field(REPORT, "rocksdb"), None);
        let failed =
            Sentence { heading: "readwhilewriting, 2 readers, by throughput of reads".into(), ..all[0].clone() };
        assert_eq!(failed.field(REPORT, "bdb").map(|field| field.figure()), Some(None));
        assert!(all[1].text.ends_with("as fast as lmdb: no winner"));
        assert!(all[1].names_the_opposite() && !all[0].names_the_opposite());
    }

    #[test]
    fn each_sentence_is_understood() {
        let said = |text: &str| Sentence { heading: String::new(), text: text.to_owned() };
        for (text, claim) in [
            ("lmdb loads 1.94 times as fast as bdb (1.75 to 2.15), 3 repeats", Claim::Better("lmdb", "bdb")),
            (
                "lmdb reads 15 % faster than bdb (+9 % to +21 %), 3 repeats; lmdb was not steady",
                Claim::Better("lmdb", "bdb"),
            ),
            ("lmdb and bdb read the same within 3 % (-1 % to +1 %), 5 repeats", Claim::Same("lmdb", "bdb")),
            (
                "a and b use the same CPU time per operation within 3 %: a uses 1 % less, 3 repeats",
                Claim::Same("a", "b"),
            ),
            ("a uses 38 % less CPU time per operation than b (-40 % to -36 %), 5 repeats", Claim::Better("a", "b")),
            ("a uses 11 % more CPU time per operation than b (+10 % to +12 %), 5 repeats", Claim::Better("b", "a")),
            ("a uses 4.21 times as much CPU time per operation as b (3.9 to 4.6), 5 repeats", Claim::Better("b", "a")),
            ("cannot tell: a and b, 3 % apart, one repeat", Claim::CannotTell("a", "b")),
            ("cannot tell by CPU time per operation: a and b, no repeat: why", Claim::CannotTell("a", "b")),
            ("nothing is said of a, b: a trial failed", Claim::LeftOut),
        ] {
            assert_eq!(said(text).claim(), Some(claim), "{text}");
        }
        assert_eq!(said("something else").claim(), None);
    }
}
