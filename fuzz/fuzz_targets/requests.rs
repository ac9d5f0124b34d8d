#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| conform_proof::fuzzing::fuzz("requests", bytes));
