//! A workload as the value of a key of the experiment file.

use kvdyno_model::{Json, KeyValue, did_you_mean};

use crate::spec::Kind;

impl KeyValue for Kind {
    const PLACEHOLDER: &'static str = "WORKLOAD";

    fn describe() -> String {
        "the name of a workload".to_owned()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let names: Vec<String> = Kind::all().map(|(kind, _)| kind.to_string()).collect();
        let meant = || did_you_mean(text, names.iter().map(String::as_str));
        text.parse::<Kind>().map_err(|error| format!("{error}{}", meant()))
    }

    fn schema() -> Json {
        let names: Vec<String> = Kind::all().map(|(kind, _)| kind.to_string()).collect();
        serde_json::json!({ "enum": names })
    }
}
