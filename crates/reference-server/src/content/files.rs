//! The fixed resources: files, directories, cyclic links, and names that need encoding.

use crate::content::{Data, Node};

/// The smallest image: one transparent pixel.
pub const PIXEL: &[u8] = &[
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1F, 0x15, 0xC4, 0x89, 0x00, 0x00, 0x00, 0x0B, 0x49,
    0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0x60, 0x00, 0x02, 0x00, 0x00, 0x05, 0x00, 0x01, 0xE9, 0xFA, 0xDC, 0xD8, 0x00,
    0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
];

/// The shortest audio: a WAV file without samples.
pub const SILENCE: &[u8] =
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\0\0\0\0";

/// The days that have a log; more than one page.
pub const LOG_DAYS: [&str; 12] = [
    "2026-01-01",
    "2026-01-02",
    "2026-01-03",
    "2026-01-04",
    "2026-01-05",
    "2026-01-06",
    "2026-01-07",
    "2026-01-08",
    "2026-01-09",
    "2026-01-10",
    "2026-01-11",
    "2026-01-12",
];

/// The only resource that tools change.
pub const STATUS: &str = "memo://status";
pub const README: &str = "file:///docs/readme.md";

pub fn nodes() -> Vec<Node> {
    [documents(), sources(), links(), odd_names(), elsewhere(), logs()].concat()
}

fn documents() -> Vec<Node> {
    let text = "Quarterly report\n\nEverything conforms.\n";
    vec![
        Node::directory(
            "file:///docs",
            "docs",
            &[
                README,
                "file:///docs/report",
                "file:///docs/empty.txt",
                "file:///docs/pixel.png",
                "file:///docs/Gr%C3%B6%C3%9Fe%20%E2%98%83.txt",
                "file:///docs/100%25.txt",
                "file:///docs/a%2Fb.txt",
            ],
        )
        .titled("Documents")
        .described("Things to read."),
        Node::text(README, "readme.md", "text/markdown", "# Reference\n\nA small world, made to be listed and read.\n")
            .titled("Read me first")
            .described("What this server is for.")
            .for_audience(&["user", "assistant"], 1.0)
            .with_icon()
            .changing(),
        Node::text("file:///docs/report", "report", "text/plain", text)
            .titled("Quarterly report")
            .described("One report in three formats.")
            .for_audience(&["user"], 0.5)
            .with_format("text/html", Data::Text("<h1>Quarterly report</h1><p>Everything conforms.</p>".to_owned()))
            .with_format("application/octet-stream", Data::Blob(b"Quarterly report\0Everything conforms.")),
        Node::text("file:///docs/empty.txt", "empty.txt", "text/plain", "").described("A file without a byte in it."),
        Node::blob("file:///docs/pixel.png", "pixel.png", "image/png", PIXEL).titled("One pixel").with_icon(),
    ]
}

fn odd_names() -> Vec<Node> {
    vec![
        Node::text("file:///docs/Gr%C3%B6%C3%9Fe%20%E2%98%83.txt", "Größe ☃.txt", "text/plain", "Größe: 1 ☃ – ¾ m\n")
            .titled("Größe des Schneemanns ☃"),
        Node::text("file:///docs/100%25.txt", "100%.txt", "text/plain", "all of it\n"),
        Node::text("file:///docs/a%2Fb.txt", "a/b.txt", "text/plain", "one file, not a file in a directory\n"),
    ]
}

fn sources() -> Vec<Node> {
    vec![
        Node::directory("file:///src", "src", &["file:///src/main.rs", "file:///src/lib.rs", "file:///src/nested"]),
        Node::text("file:///src/main.rs", "main.rs", "text/x-rust", "fn main() {}\n").for_audience(&["assistant"], 0.0),
        Node::text("file:///src/lib.rs", "lib.rs", "text/x-rust", "//! Nothing.\n"),
        Node::directory("file:///src/nested", "nested", &["file:///src/nested/deep.rs"]),
        Node::text("file:///src/nested/deep.rs", "deep.rs", "text/x-rust", "mod deeper;\n").unlisted(),
    ]
}

/// A directory that contains itself, two that contain each other, and a leaf with two parents.
fn links() -> Vec<Node> {
    vec![
        Node::directory("file:///links", "links", &["file:///links/self", "file:///links/there"]),
        Node::directory("file:///links/self", "self", &["file:///links/self"]),
        Node::directory("file:///links/there", "there", &["file:///links/back"]),
        Node::directory("file:///links/back", "back", &["file:///links/there"]),
        Node::directory("file:///diamond", "diamond", &["file:///diamond/left", "file:///diamond/right"]),
        Node::directory("file:///diamond/left", "left", &["file:///diamond/tip.txt"]),
        Node::directory("file:///diamond/right", "right", &["file:///diamond/tip.txt"]),
        Node::text("file:///diamond/tip.txt", "tip.txt", "text/plain", "reached twice, here once\n"),
        Node::directory("file:///void", "void", &[]).described("A directory with nothing in it."),
    ]
}

fn elsewhere() -> Vec<Node> {
    vec![
        Node::text(STATUS, "status", "text/plain", "edited 0 times\n")
            .titled("Status")
            .described("Changes whenever the tool `touch` is called.")
            .for_audience(&["assistant"], 0.25)
            .changing(),
        Node::text("https://example.com/", "example.com", "text/html", "<title>Example Domain</title>"),
        Node::text("urn:example:greeting", "greeting", "text/plain", "Hello.\n"),
        Node::text("search://notes?q=a%20b&sort=new", "search", "application/json", r#"{"found":[]}"#),
        Node::directory("db://shop", "shop", &["db://shop/customers", "db://shop/orders"]).titled("Shop"),
        Node::directory("db://shop/customers", "customers", &["db://shop/customers/ada", "db://shop/customers/grace"]),
        Node::directory("db://shop/orders", "orders", &["db://shop/orders/1001", "db://shop/orders/1002"]),
        Node::text("db://shop/customers/ada", "ada", "application/json", r#"{"name":"Ada"}"#).unlisted(),
        Node::text("db://shop/customers/grace", "grace", "application/json", r#"{"name":"Grace"}"#).unlisted(),
        Node::text("db://shop/orders/1001", "1001", "application/json", r#"{"customer":"ada"}"#).unlisted(),
        Node::text("db://shop/orders/1002", "1002", "application/json", r#"{"customer":"grace"}"#).unlisted(),
        // For tests of prefixes: next to a directory whose name is a prefix, and with a URI inside a URI.
        Node::text("file:///docs.old/plan.txt", "plan.txt", "text/plain", "no plan any more\n"),
        Node::text("search://grab?url=https://api.example/users/1", "user 1", "application/json", r#"{"user":1}"#),
    ]
}

fn logs() -> Vec<Node> {
    let uris: Vec<_> = LOG_DAYS.iter().map(|day| format!("file:///logs/{day}.log")).collect();
    let children: Vec<_> = uris.iter().map(String::as_str).collect();
    let files = LOG_DAYS.iter().zip(&uris).map(|(day, uri)| {
        Node::text(uri, format!("{day}.log"), "text/plain", format!("{day} nothing happened\n")).unlisted()
    });
    std::iter::once(Node::directory("file:///logs", "logs", &children)).chain(files).collect()
}
