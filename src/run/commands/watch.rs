//! `run --watch`: runs again when files change, and shows which verdicts changed.

use std::{
    path::{Component, Path, PathBuf},
    time::{Duration, Instant},
};

use notify::{RecursiveMode, Watcher, recommended_watcher};
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    time::timeout,
};

use super::run::tested;
use crate::{
    cli::RunArgs,
    error::Error,
    outcome::RunReport,
    report::{Format, Style, Verbosity, compare, render},
    run::{
        inputs::configured,
        process::{Surroundings, console, interrupts::Interrupts, runtime::block_on},
        results::{
            abort_report,
            outputs::{self, Output},
        },
    },
};

/// One save changes several files. This long after the last change, all are taken as complete; a guess.
const QUIET: Duration = Duration::from_millis(200);
/// Files that tools write, not people.
const IGNORED: [&str; 4] = [".git", "target", "node_modules", "__pycache__"];

/// Runs until Ctrl-C. The exit code is that of the last run.
pub fn watch(args: &RunArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let args = &configured::with_settings(args, surroundings);
    let (sender, mut changed) = unbounded_channel();
    let canonical = |path: &PathBuf| {
        path.canonicalize().map_err(|why| Error::usage(format!("cannot watch `{}`: {why}", path.display())))
    };
    let roots: Vec<PathBuf> = args.watch.iter().map(canonical).collect::<Result<_, _>>()?;
    let (watched, written) = (roots.clone(), written(args));
    let report = move |event: notify::Result<notify::Event>| {
        if let Ok(event) = event
            && !event.kind.is_access()
            && let Some(path) = event.paths.into_iter().find(|path| is_edited_by_user(path, &watched, &written))
        {
            // The receiver is dropped only when the program exits.
            let _ = sender.send(path);
        }
    };
    let cannot = |why: notify::Error| Error::usage(format!("cannot watch files: {why}"));
    let mut watcher = recommended_watcher(report).map_err(cannot)?;
    for path in &roots {
        watcher.watch(path, RecursiveMode::Recursive).map_err(cannot)?;
    }

    let interrupts = Interrupts::listen();
    let mut last = None;
    loop {
        let code = again(args, surroundings, &interrupts, &mut last).unwrap_or_else(|error| {
            console::complain(&error.to_string());
            error.exit_code()
        });
        if interrupts.code().is_some() {
            return Ok(code);
        }
        console::complain("waiting for a change; press Ctrl-C to quit");
        match block_on(next(&mut changed, &interrupts)) {
            Some(path) => console::say(&format!("\n{} changed", shown(&path, surroundings))),
            None => return Ok(code),
        }
    }
}

/// One run. The first is reported completely, later ones only by their differences.
fn again(
    args: &RunArgs,
    surroundings: &Surroundings,
    interrupts: &Interrupts,
    last: &mut Option<RunReport>,
) -> Result<u8, Error> {
    let forms = &args.output.forms;
    let mut wanted = outputs::wanted(forms)?;
    let began = Instant::now();
    let tested = match tested(args, surroundings, interrupts) {
        Ok(tested) => tested,
        Err(error) => {
            let code = error.exit_code();
            return Ok(abort_report::tell(&error, code, began.elapsed(), wanted, args, surroundings));
        }
    };
    if tested.failure.is_some() {
        return Ok(tested.write(wanted, forms, surroundings).0);
    }
    if let Some(last) = last {
        let Surroundings { width, color, links, .. } = *surroundings;
        let style = Style { width, color, links, verbosity: Verbosity::Quiet };
        let totals = render(Format::Human, &tested.report, &style);
        console::say(&format!("{}{}", compare(last, &tested.report), totals.trim_end()));
        wanted.retain(Output::is_file);
    }
    let (code, report) = tested.write(wanted, forms, surroundings);
    *last = Some(report);
    Ok(code)
}

/// A changed file, once no more changes arrive; `None` if the user pressed Ctrl-C.
async fn next(changed: &mut UnboundedReceiver<PathBuf>, interrupts: &Interrupts) -> Option<PathBuf> {
    let path = tokio::select! {
        path = changed.recv() => path?,
        () = interrupts.first() => return None,
    };
    while let Ok(Some(_)) = timeout(QUIET, changed.recv()).await {}
    Some(path)
}

/// Files that the run itself writes: a change to them would start the next run, forever.
fn written(args: &RunArgs) -> Vec<PathBuf> {
    let reports = args.output.forms.report.iter().filter_map(|report| Some(PathBuf::from(report.split_once('=')?.1)));
    let own = reports.chain(args.transcript.clone()).chain(args.output.write_baseline.clone());
    own.map(|path| path.components().filter(|part| matches!(part, Component::Normal(_))).collect()).collect()
}

/// Whether a person changed the file or named it on the command line: neither files of tools nor our reports.
fn is_edited_by_user(path: &Path, watched: &[PathBuf], written: &[PathBuf]) -> bool {
    let below = watched.iter().find_map(|root| path.strip_prefix(root).ok()).unwrap_or(path);
    let kept = |part| matches!(part, Component::Normal(name) if IGNORED.iter().any(|known| name == *known));
    !below.components().any(kept) && !written.iter().any(|own| path.ends_with(own))
}

fn shown(path: &Path, surroundings: &Surroundings) -> String {
    let here = surroundings.directory.as_deref().unwrap_or(Path::new(""));
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}
