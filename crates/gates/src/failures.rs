//! The tests that failed, as the runner of tests reports them in JUnit's format.

use std::fmt;

use roxmltree::{Document, Node};

/// A test that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFailure {
    /// The binary: `kvdyno::tests` for `crates/kvdyno/tests/main.rs`, `kvdyno-plan` for a crate's unit tests.
    pub binary: String,
    /// The test in it, with its modules.
    pub test: String,
    /// The runner's word for it: the kind of failure, and the panic's message.
    pub message: String,
    /// Standard output and error of the test.
    pub output: String,
}

impl TestFailure {
    /// Whether both are failures of one test.
    pub fn is_of_same_test(&self, other: &TestFailure) -> bool {
        (&self.binary, &self.test) == (&other.binary, &other.test)
    }

    /// The expression by which the runner selects this test and no other.
    pub fn filter(&self) -> String {
        format!("(binary_id(={}) & test(={}))", self.binary, self.test)
    }
}

impl fmt::Display for TestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.binary, self.test)
    }
}

/// The failures in a report.
///
/// # Errors
///
/// The report is not XML.
pub fn failures(report: &str) -> Result<Vec<TestFailure>, roxmltree::Error> {
    let document = Document::parse(report)?;
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    Ok(cases.filter_map(failure).collect())
}

fn failure(case: Node<'_, '_>) -> Option<TestFailure> {
    let failed = case.children().find(|child| child.has_tag_name("failure") || child.has_tag_name("error"))?;
    let text = |node: Node<'_, '_>, name: &str| node.attribute(name).unwrap_or_default().to_owned();
    let outputs = case.children().filter(|child| child.has_tag_name("system-out") || child.has_tag_name("system-err"));
    let output: Vec<&str> = outputs.filter_map(|output| output.text()).collect();
    Some(TestFailure {
        binary: text(case, "classname"),
        test: text(case, "name"),
        message: [text(failed, "type"), text(failed, "message")].join(": "),
        output: output.join("\n"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="default" tests="3" failures="1" errors="1" time="0.1">
  <testsuite name="kvdyno::faults" tests="3" failures="1" errors="1">
    <testcase name="a_crash" classname="kvdyno::faults" time="0.01"/>
    <testcase name="a_hang" classname="kvdyno::faults" time="0.02">
      <failure message="thread 'a_hang' panicked at x.rs:1:2" type="test failure with exit code 101">stack</failure>
      <system-out>running 1 test</system-out>
      <system-err>left &lt; right</system-err>
    </testcase>
    <testcase name="module::too_long" classname="kvdyno::faults" time="600">
      <error type="test timeout"/>
    </testcase>
  </testsuite>
</testsuites>"#;

    #[test]
    fn failures_have_their_binary_message_and_output() {
        let failures = failures(REPORT).unwrap();
        assert_eq!(failures.len(), 2);
        assert_eq!(failures[0].to_string(), "kvdyno::faults a_hang");
        assert_eq!(failures[0].message, "test failure with exit code 101: thread 'a_hang' panicked at x.rs:1:2");
        assert_eq!(failures[0].output, "running 1 test\nleft < right");
        assert_eq!(failures[1].filter(), "(binary_id(=kvdyno::faults) & test(=module::too_long))");
        assert_eq!(failures[1].message, "test timeout: ");
    }

    #[test]
    fn what_is_no_report_is_refused() {
        assert!(super::failures("no report").is_err());
    }
}
