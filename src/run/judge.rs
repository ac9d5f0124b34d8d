//! `mcp-conform judge`: the second half of a run, on evidence that was recorded.

use std::{fs::File, io::BufReader};

use super::{
    Surroundings, baseline::Baseline, by_hand, conduct::illustrate, outputs, rerun, shown::show_frames, suites::load,
    verdict::sum_up,
};
use crate::{
    cli::JudgeArgs,
    error::Error,
    evidence::transcript,
    judge,
    outcome::TargetReport,
    plan::{Filter, plan},
};

pub fn judge(args: &JudgeArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let suites = load(&args.suite, surroundings.color)?;
    let filter = Filter::new(&args.filter, &suites)?;
    let outputs = outputs::wanted(&args.output.forms)?;
    let baseline = Baseline::wanted(&args.output, &suites)?;
    let path = &args.transcript;
    let file = File::open(path).map_err(|source| outputs::failed(path, "read", source))?;
    let recorded = transcript::read(BufReader::new(file)).map_err(|why| Error::Usage {
        message: format!("`{}` is no transcript: {why}", path.display()),
        cure: Some("`mcp-conform run ... --transcript PATH` writes one".into()),
    })?;
    let mut rules = Vec::new();
    for scene in &recorded.scenes {
        let plan = plan(&suites, scene, &filter);
        rules.extend(judge::judge(&plan, scene, &recorded.links, recorded.frames.iter().cloned()));
    }
    show_frames(&mut rules, recorded.frames.iter().cloned());
    let header = recorded.header;
    let target: TargetReport = serde_json::from_value(header.target)
        .map_err(|why| Error::usage(format!("`{}` does not say what was tested: {why}", path.display())))?;
    let mut report = sum_up(target, rules, header.notes, header.started, header.ms, args.output.strict);
    illustrate(&mut report, &suites, &recorded.scenes, recorded.frames.iter().cloned());
    rerun::say_how(&mut report, recorded.frames.iter().cloned(), &args.suite);
    by_hand::show_how(&mut report, recorded.frames.iter().cloned());
    baseline.settle(&mut report, &args.output)?;
    outputs::write(&outputs, &report, &args.output.forms, surroundings)?;
    Ok(report.exit_code)
}
