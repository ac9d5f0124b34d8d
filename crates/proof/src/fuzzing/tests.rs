//! Inputs that once violated an invariant, and those with a high coverage: none violates one now.

use std::{
    fs, panic,
    path::{Path, PathBuf},
};

use proptest::{prelude::*, test_runner::RngSeed};

use super::TARGETS;

fn replay(target: &str) {
    let run = TARGETS.iter().find(|(name, _)| *name == target).expect("a target of that name").1;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz-corpus").join(target);
    let inputs: Vec<_> = fs::read_dir(&folder).expect("inputs").map(|input| input.expect("an input").path()).collect();
    assert!(!inputs.is_empty());
    let breaks = |input: &&PathBuf| {
        let bytes = fs::read(input).expect("an input");
        panic::catch_unwind(|| run(&bytes)).is_err()
    };
    let broken: Vec<_> = inputs.iter().filter(breaks).collect();
    assert!(broken.is_empty(), "{broken:?}");
}

macro_rules! replayed {
    ($($target:ident)*) => {
        $(#[test]
        fn $target() {
            replay(stringify!($target));
        })*

        #[test]
        fn every_target_is_replayed() {
            let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, [$(stringify!($target)),*]);
        }
    };
}

replayed! {
    config conversation events frames headers judge messages paths report requests schemas server suites texts transcript
}

/// Random choices use the same seed every time.
fn same_luck() -> ProptestConfig {
    ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() }
}

/// Pieces of all inputs, with some unusual ones.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    "\n",
    "\r\n",
    "\r",
    " ",
    "1",
    "-0.0",
    "1e400",
    "null",
    "true",
    "\0",
    "é",
    "\u{202e}",
    "\u{1b}[2J",
    "\u{feff}",
    "\\ud800",
    "\"id\":1",
    "\"jsonrpc\":\"2.0\"",
    "data: ",
    "id",
    "retry: 5",
    "$x",
    ".a",
    "[*]",
    "[?@.a]",
    "..",
    "- ",
    "suite: a",
    "rules:",
    "gather:",
    "expect: ",
    "[targets.a]\n",
    "http = ",
    "${A}",
    "=?base64?",
    "?=",
    "Bearer ",
    "a=b",
    "*",
];

proptest! {
    #![proptest_config(same_luck())]

    #[test]
    fn what_is_made_of_pieces_breaks_no_promise(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..30)) {
        let text = pieces.concat();
        let slow = ["conversation", "judge"];
        for (_, run) in TARGETS.iter().filter(|(name, _)| !slow.contains(name)) {
            run(text.as_bytes());
        }
    }
}

/// Values at the limits of JSON.
#[test]
fn what_is_huge_breaks_no_promise() {
    let nested = |depth: usize, open: &str, close: &str| format!("{}1{}", open.repeat(depth), close.repeat(depth));
    let huge = [
        nested(96, "[", "]"),
        nested(96, "{\"a\":", "}"),
        nested(100_000, "[", "]"),
        nested(100_000, "{\"params\":", "}"),
        "7".repeat(1_000_000),
        format!("0.{}", "3".repeat(1_000_000)),
        "1e999999999999999999999".to_owned(),
        "1e-999999999999999999999".to_owned(),
        r#"["\ud800", "\udc00\ud800"]"#.to_owned(),
        format!("{{{}\"id\":2}}", r#""id":1,"#.repeat(10_000)),
        format!("[{}null]", "null,".repeat(10_000)),
        "null".to_owned(),
    ];
    for value in huge {
        super::wire::messages(value.as_bytes());
        super::wire::frames(format!("\u{7f}{value}\n").as_bytes());
        super::evidence::transcript(format!("{{\"frame\":{{\"message\":{value}}}}}").as_bytes());
        if value.len() < 1000 {
            let asked = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
            super::judge::conversation(format!("\u{4}\u{1}>{asked}\n{value}").as_bytes());
        }
        super::reference::server(format!("\u{7}{value}").as_bytes());
        super::schema::schemas(format!("[{value}, {value}]").as_bytes());
        super::suite::suites(format!("suite: a\nvalues: {{ a: [{{ is: {value} }}] }}").as_bytes());
        super::config::config(format!("[facts.slow]\nwith = {{ a = {value} }}").as_bytes());
    }
}
