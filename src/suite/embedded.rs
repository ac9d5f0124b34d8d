//! The built-in suites and shapes, compiled in so that the binary stands alone. The lists are written by `build.rs`.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
