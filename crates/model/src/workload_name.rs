//! The names of the workloads.

use crate::{Json, KeyValue, closest};

crate::words! {
    /// The name of a workload. Its definition stands with the worker.
    #[allow(missing_docs)]
    pub enum WorkloadName {
        FillSeq = "fillseq",
        FillRandom = "fillrandom",
        Overwrite = "overwrite",
        ReadRandom = "readrandom",
        ReadSeq = "readseq",
        ReadReverse = "readreverse",
        ReadWhileWriting = "readwhilewriting",
        MultiReadRandom = "multireadrandom",
        FwdRange = "fwdrange",
        RevRange = "revrange",
        FwdRangeWhileWriting = "fwdrangewhilewriting",
        RevRangeWhileWriting = "revrangewhilewriting",
        OverwriteSome = "overwritesome",
        OverwriteAndWait = "overwriteandwait",
        Mix = "mix",
        YcsbA = "ycsb-a",
        YcsbB = "ycsb-b",
        YcsbC = "ycsb-c",
        YcsbD = "ycsb-d",
        YcsbE = "ycsb-e",
        YcsbF = "ycsb-f",
        Transfer = "transfer",
        ThreeNPlusOne = "3n1",
    }
}

crate::read_by_text!(WorkloadName);

impl KeyValue for WorkloadName {
    const PLACEHOLDER: &'static str = "WORKLOAD";

    fn describe() -> String {
        "the name of a workload".to_owned()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let names = || WorkloadName::ALL.iter().map(|one| one.word());
        WorkloadName::ALL.iter().copied().find(|one| one.word() == text).ok_or_else(|| {
            let meant = closest(text, names()).map(|word| format!("did you mean `{word}`? ")).unwrap_or_default();
            format!("there is no workload `{text}`; {meant}there are {}", names().collect::<Vec<_>>().join(", "))
        })
    }

    fn schema() -> Json {
        let names: Vec<&str> = WorkloadName::ALL.iter().map(|one| one.word()).collect();
        crate::schema_of_words(&names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_is_found_by_its_name_and_by_no_other() {
        for one in WorkloadName::ALL {
            assert_eq!(one.to_string().parse(), Ok(*one));
            assert_eq!(serde_json::from_value::<WorkloadName>(serde_json::to_value(one).unwrap()).unwrap(), *one);
        }
        let error = "readrandm".parse::<WorkloadName>().unwrap_err();
        assert!(error.contains("there is no workload `readrandm`; did you mean `readrandom`?"), "{error}");
    }
}
