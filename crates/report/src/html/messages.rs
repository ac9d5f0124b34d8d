//! The messages in the order in which they were sent. Each opens in place.

use std::fmt::Write;

use super::{lines, text};
use conform_model::outcome::Moment;

pub fn section(page: &mut String, moments: &[Moment], left_out: usize) -> std::fmt::Result {
    if moments.is_empty() {
        return Ok(());
    }
    let kept = moments.len();
    let extent = match left_out {
        0 => format!("all {kept} frames"),
        _ => format!("the first {kept} of {} frames", kept + left_out),
    };
    writeln!(page, "<section id=\"messages\"><h2>Messages</h2>\n<details><summary>{extent}</summary>")?;
    page.push_str(
        "<div class=\"scroll\"><table class=\"messages\">\n<thead><tr><th class=\"number\">frame</th><th class=\"number\">ms</th>\
         <th class=\"number wide\">connection</th><th>from</th><th>what</th><th class=\"number wide\">bytes</th></tr></thead>\n<tbody>\n",
    );
    for Moment { frame, microseconds, connection, from, what, bytes, body } in moments {
        let what = match body {
            Some(body) => {
                format!("<details><summary>{}</summary><pre>{}</pre></details>", text(what), lines(body))
            }
            None => text(what),
        };
        writeln!(
            page,
            "<tr class=\"{from}\" id=\"frame-{frame}\"><td class=\"number\">{frame}</td><td class=\"number\">{}.{}</td>\
             <td class=\"number wide\">{connection}</td><td>{from}</td><td class=\"mono\">{what}</td>\
             <td class=\"number wide\">{bytes}</td></tr>",
            microseconds / 1000,
            microseconds / 100 % 10,
        )?;
    }
    writeln!(page, "</tbody>\n</table></div>")?;
    if left_out > 0 {
        writeln!(
            page,
            "<p class=\"faint\">{left_out} more messages are not in this report; <code>--transcript PATH</code> writes \
             all</p>"
        )?;
    }
    writeln!(page, "</details></section>")
}
