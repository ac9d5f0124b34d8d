//! `mcp-conform judge`: the second half of a run, on evidence that was recorded.

use std::{fs::File, io::BufReader};

use super::{baseline::Baseline, outputs};
use crate::{
    assess::{self, assess},
    cli::JudgeArgs,
    error::Error,
    evidence::Side,
    evidence::transcript,
    plan::Filter,
    run::{
        inputs::suites::load,
        process::{Surroundings, console},
    },
};

pub fn judge(args: &JudgeArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let suites = load(&[Side::Server, Side::Client, Side::Gateway], &args.suite, surroundings.color)?;
    let wanted = outputs::wanted(&args.output.forms)?;
    let baseline = Baseline::wanted(&args.output, &suites)?;
    let path = &args.transcript;
    let file = File::open(path).map_err(|source| console::failed(path, "read", source))?;
    let evidence = transcript::read(BufReader::new(file)).map_err(|why| Error::Usage {
        message: format!("`{}` is not a transcript: {why}", path.display()),
        help: Some("`mcp-conform run ... --transcript PATH` writes one".into()),
    })?;
    let scope = &evidence.header.scope;
    if evidence.scenes.is_empty() && evidence.header.end.failed_handshake.is_none() {
        return Err(Error::Usage {
            message: format!("`{}` ends before the evidence of the suites: nothing can be judged", path.display()),
            help: Some("the file is truncated; `mcp-conform run ... --transcript PATH` writes a complete one".into()),
        });
    }
    let terms = if args.filter.is_empty() { &scope.filter } else { &args.filter };
    let mut filter = Filter::new(terms, &suites)?;
    if let Some(part) = &scope.partition {
        filter = filter.part(part.parse().map_err(Error::usage)?, &suites);
    }
    let options = assess::Options {
        filter: &filter,
        strict: args.output.strict || scope.strict,
        own_suites: &args.suite,
        illustrated: outputs::illustrated(&args.output.forms),
    };
    let mut report = assess(&evidence, &suites, &options);
    let settled = baseline.settle(&mut report, &args.output, &evidence.header.end);
    let failure = assess::failure::without_results(&report, &evidence);
    let written = outputs::write(&outputs::beside(failure.as_ref(), wanted), &report, &args.output.forms, surroundings);
    Ok(outputs::exit_code(report.exit_code, [settled, written]))
}
