//! A result has nothing from /etc/passwd, which every account on a Unix system may read.

use std::sync::LazyLock;

use regex::Regex;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "password-file", given: &["result"], run };

fn run(given: &Given) -> Report {
    static LINE: LazyLock<Regex> = LazyLock::new(|| Regex::new("root:[^:]*:0:0:").expect("a pattern of this file"));
    let found = LINE.find(&given.value("result").to_string()).map(|line| line.as_str().to_owned());
    let fault =
        |line| Fault { given: "result", message: format!("contains a line of that file: {line}"), ..Fault::default() };
    Report::of(found.map(fault).into_iter().collect())
}
