//! The experiments that come with the program: `kvdyno run NAME`.

/// An experiment that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// The name that users give.
    pub name: &'static str,
    /// The file, with all that it explains.
    pub text: &'static str,
}

macro_rules! shipped {
    ($($name:literal),*) => {
        [$(Shipped { name: $name, text: include_str!(concat!("../../../experiments/", $name, ".toml")) }),*]
    };
}

/// All of them.
pub const SHIPPED: [Shipped; 16] = shipped![
    "inmem-numa",
    "ondisk",
    "3n1",
    "dbbench-smt",
    "storage",
    "ycsb",
    "mixgraph",
    "counter",
    "index",
    "timeseries",
    "queue",
    "cache",
    "ttl",
    "transfer",
    "bigvalues",
    "example"
];

impl Shipped {
    /// The one of that name.
    pub fn named(name: &str) -> Option<&'static Shipped> {
        SHIPPED.iter().find(|shipped| shipped.name == name)
    }

    /// The question that it answers: the first sentence of its comment.
    pub fn question(&self) -> String {
        let comment: Vec<&str> = self
            .text
            .lines()
            // The schema's comment is for editors.
            .skip_while(|line| line.starts_with("#:"))
            .map_while(|line| line.strip_prefix('#'))
            .map(str::trim)
            .take_while(|line| !line.is_empty())
            .collect();
        let text = comment.join(" ");
        let end = text.find(['?', '.']).map_or(text.len(), |end| end + 1);
        text[..end].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Experiment;

    #[test]
    fn each_can_be_read_and_is_called_as_it_is_named() {
        for shipped in SHIPPED {
            let experiment =
                Experiment::parse(shipped.text).unwrap_or_else(|error| panic!("{}: {error}", shipped.name));
            assert_eq!(experiment.name, shipped.name);
            assert!(experiment.variants().is_ok(), "{}", shipped.name);
            assert!(shipped.question().len() > 20, "{}", shipped.question());
        }
    }
}
