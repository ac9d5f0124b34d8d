//! Tests the reference server in the way of any Rust project.

fn main() -> std::process::ExitCode {
    mcp_conform::tests(["--filter", "resources", "--filter", "tools", "--", env!("CARGO_BIN_EXE_mcp-conform"), "serve"])
}
