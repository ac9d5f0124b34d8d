//! The reference server tested as the server of any Rust project would be.

fn main() -> std::process::ExitCode {
    mcp_conform::tests(["--filter", "resources", "--filter", "tools", "--", env!("CARGO_BIN_EXE_mcp-conform"), "serve"])
}
