//! Processes that are started before their connections are needed.
//!
//! A server that takes a second to start spends it on one processor, mostly while this program waits for it. So the next
//! processes start while the present ones are in use. Nothing is sent to a process before its connection is opened, and
//! nothing of it is recorded, so the server sees the same messages as without this.

use std::{
    collections::VecDeque,
    mem::take,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use tokio::time::Instant;

use super::{Child, Pipes};
use crate::{
    OpenError,
    target::{Limits, Program, Start, Target},
};

/// Processes that wait to be used: each keeps a processor busy until it has started.
const WAITING: usize = 2;

/// A process that waited longer may give up soon, as it received nothing. A guess.
const FRESH: Duration = Duration::from_secs(10);

/// A process without a connection.
pub struct Started {
    pub child: Child,
    pub pipes: Pipes,
    at: Instant,
}

impl Started {
    pub fn now(program: &Program, target: &Target, limits: &Limits) -> Result<Self, OpenError> {
        let (child, pipes) = match &target.inside {
            Some(inside) => Child::inside(inside.start(), limits.grace),
            None => Child::start(program, limits.grace)?,
        };
        Ok(Self { child, pipes, at: Instant::now() })
    }

    /// Whether it still runs and was not left waiting for long.
    fn is_fresh(&self) -> bool {
        self.child.exited().is_none() && self.at.elapsed() < FRESH
    }

    /// Stops it. It was never used, so the way it exits shows nothing.
    async fn end(mut self) {
        drop(self.pipes.stdin);
        drop(self.pipes.unread);
        self.child.end(Duration::ZERO, Duration::ZERO, true).await;
        self.child.gone().await;
    }
}

#[derive(Default)]
pub struct Ahead(Mutex<State>);

#[derive(Default)]
struct State {
    /// Connections that are still expected.
    expected: usize,
    waiting: VecDeque<Started>,
}

impl Ahead {
    /// That many connections will be opened: their processes may start now.
    pub fn expect(&self, connections: usize, target: &Target, limits: &Limits) {
        let mut state = self.state();
        state.expected = connections;
        state.fill(target, limits);
    }

    /// A process for a connection that is being opened, if one has been started.
    pub fn take(&self, target: &Target, limits: &Limits) -> Option<Started> {
        let mut state = self.state();
        state.expected = state.expected.saturating_sub(1);
        let next = state.waiting.pop_front()?;
        if !next.is_fresh() {
            // This server does not wait for its first message, so it is started when that can be sent.
            state.expected = 0;
            return None;
        }
        state.fill(target, limits);
        Some(next)
    }

    /// Stops all processes that were not used, and starts no more.
    pub async fn end(&self) {
        let unused = take(&mut *self.state()).waiting;
        join_all(unused.into_iter().map(Started::end)).await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn fill(&mut self, target: &Target, limits: &Limits) {
        let Start::Program(program) = &target.start else { return };
        while self.waiting.len() < WAITING.min(self.expected) {
            match Started::now(program, target, limits) {
                Ok(started) => self.waiting.push_back(started),
                // Without it, the connection reports why.
                Err(_) => self.expected = 0,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(argv: &[&str]) -> Target {
        let argv = argv.iter().map(|&word| word.to_owned()).collect();
        Target::new("a program", Start::Program(Program { argv, env: Vec::new(), cwd: None }))
    }

    #[tokio::test]
    async fn as_many_are_started_as_are_expected() {
        let (ahead, target, limits) = (Ahead::default(), target(&["cat"]), Limits::default());
        assert!(ahead.take(&target, &limits).is_none(), "none is expected");
        ahead.expect(WAITING + 1, &target, &limits);
        for expected in (0..=WAITING).rev() {
            assert!(ahead.take(&target, &limits).is_some_and(|started| started.child.exited().is_none()));
            assert_eq!(ahead.state().waiting.len(), expected.min(WAITING));
        }
        assert!(ahead.take(&target, &limits).is_none());
        ahead.expect(1, &target, &limits);
        ahead.end().await;
        assert!(ahead.state().waiting.is_empty());
    }

    #[tokio::test]
    async fn one_that_has_exited_is_not_used() {
        let (ahead, target, limits) = (Ahead::default(), target(&["true"]), Limits::default());
        ahead.expect(9, &target, &limits);
        let mut exit = ahead.state().waiting[0].child.exit.clone();
        assert!(exit.wait_for(Option::is_some).await.is_ok());
        assert!(ahead.take(&target, &limits).is_none());
        assert_eq!(ahead.state().expected, 0, "such a server is not started ahead again");
    }
}
