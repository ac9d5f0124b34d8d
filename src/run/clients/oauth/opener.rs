//! The programs by which clients open a browser: each is this program, which passes the URL on and returns at once.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tokio::{sync::mpsc, task::JoinSet};

use super::visitor::How;
use crate::run::clients::{
    local,
    packets::{Kind, receive, send},
};

/// What clients start: `open` of npm reads BROWSER, mcporter looks in PATH.
const NAMES: [&str; 6] = ["xdg-open", "open", "gio", "x-www-browser", "www-browser", "sensible-browser"];
/// With these, some openers would look for a desktop.
const DESKTOP: [&str; 3] = ["DISPLAY", "WAYLAND_DISPLAY", "XDG_CURRENT_DESKTOP"];
/// Where programs keep what they remember.
const HOMES: [(&str, &str); 6] = [
    ("HOME", "home"),
    ("XDG_CONFIG_HOME", "home/.config"),
    ("XDG_DATA_HOME", "home/.local/share"),
    ("XDG_STATE_HOME", "home/.local/state"),
    ("XDG_CACHE_HOME", "home/.cache"),
    ("TMPDIR", "tmp"),
];
const FOLDER: &str = "bin";
/// No client opens as many at the same time.
const MOST: usize = 64;

/// Makes the programs in the folder of the run, and passes on what they are called with.
pub fn openers(
    folder: &Path,
    program: &Path,
    urls: mpsc::UnboundedSender<(How, String)>,
) -> io::Result<impl Future<Output = ()> + Send + use<>> {
    for (_, home) in HOMES {
        fs::create_dir_all(folder.join(home))?;
    }
    let bin = folder.join(FOLDER);
    fs::create_dir_all(&bin)?;
    let socket = folder.join("opener");
    let listener = local::listen(&socket)?;
    for name in NAMES {
        local::executable(&bin.join(name), program, &socket)?;
    }
    Ok(async move {
        let mut opening = JoinSet::new();
        loop {
            tokio::select! {
                accepted = local::accept(&listener), if opening.len() < MOST => {
                    let Ok(mut stream) = accepted else { continue };
                    let urls = urls.clone();
                    opening.spawn(async move {
                        let Ok(Some((Kind::Hello, hello))) = receive(&mut stream).await else { return };
                        let hello: Value = serde_json::from_slice(&hello).unwrap_or_default();
                        let mut words = hello["arguments"].as_array().into_iter().flatten().filter_map(Value::as_str);
                        // `gio open URL`, and options of other openers.
                        if let Some(url) = words.rfind(|word| word.contains(':')) {
                            let _ = urls.send((How::Opened, url.to_owned()));
                        }
                        let _ = send(&mut stream, Kind::Exit, &[0]).await;
                    });
                }
                Some(_) = opening.join_next() => {}
            }
        }
    })
}

/// What the client is started with: a home of its own, and the programs above.
pub fn environment(folder: &Path) -> Vec<(String, String)> {
    let of = |name: &str, path: PathBuf| (name.to_owned(), path.display().to_string());
    let mut variables: Vec<(String, String)> = HOMES.iter().map(|(name, home)| of(name, folder.join(home))).collect();
    variables.extend(DESKTOP.map(|name| (name.to_owned(), String::new())));
    let bin = folder.join(FOLDER);
    variables.push(of("BROWSER", bin.join(NAMES[0])));
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(bin).chain(env::split_paths(&path));
    variables.extend(env::join_paths(folders).ok().map(|path| of("PATH", path.into())));
    variables
}
