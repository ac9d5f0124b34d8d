//! Judges a transcript and prints the report: `cargo run --example embed TRANSCRIPT`.

use std::{error::Error, fs::File, io::BufReader};

use mcp_conform::{
    assess::{Options, assess},
    evidence::transcript,
    plan::Filter,
    report::{Format, Style, render},
    run::built_in,
};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: embed TRANSCRIPT")?;
    let evidence = transcript::read(BufReader::new(File::open(path)?))?;
    let filter = Filter::default();
    let options = Options::verdicts(&filter);
    print!("{}", render(Format::Human, &assess(&evidence, &built_in()?, &options), &Style::default()));
    Ok(())
}
