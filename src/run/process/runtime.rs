//! The runtime for asynchronous work.

use tokio::runtime::Runtime;

use super::signals;

pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    runtime().block_on(work)
}

/// Does the work. A signal stops it, and with it the servers that it started.
pub fn unless_ended<T>(work: impl Future<Output = T>) -> T {
    let runtime = runtime();
    let done = runtime.block_on(async {
        tokio::select! {
            done = work => Ok(done),
            code = signals::asked() => Err(code),
        }
    });
    // Drops the remaining tasks, and with them their processes.
    drop(runtime);
    done.unwrap_or_else(|code| std::process::exit(code.into()))
}

/// One thread is enough: the program waits for the server nearly all the time.
pub fn runtime() -> Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap_or_else(|error| panic!("cannot start the runtime: {error}"))
}
