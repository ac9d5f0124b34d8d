//! `mcp-conform docs`: the pages of docs/, for users who have only the program.

use crate::{
    embedded::PAGES,
    error::{Error, exit},
    plan::nearest,
    run::process::console::say,
};

pub fn docs(page: Option<&str>) -> Result<u8, Error> {
    let Some(wanted) = page else {
        say(&contents());
        return Ok(exit::CONFORMING);
    };
    let Some((_, text)) = PAGES.iter().find(|(path, _)| name(path) == wanted) else {
        let meant = nearest(wanted, PAGES.iter().map(|(path, _)| name(path)));
        let meant = meant.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
        return Err(Error::Usage {
            message: format!("unknown page `{wanted}`"),
            help: Some(format!("{meant}`mcp-conform docs` lists all")),
        });
    };
    say(text.trim_end());
    Ok(exit::CONFORMING)
}

/// Each page with its title.
fn contents() -> String {
    let width = PAGES.iter().map(|(path, _)| name(path).len()).max().unwrap_or_default();
    let title = |text: &'static str| text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
    let lines = PAGES.iter().map(|(path, text)| format!("{:width$}  {}", name(path), title(text)));
    lines.collect::<Vec<_>>().join("\n")
}

fn name(path: &'static str) -> &'static str {
    path.trim_start_matches("docs/").trim_end_matches(".md")
}
