//! What a report says besides its verdicts.

pub mod by_hand;
pub mod given_up;
pub mod mishaps;
pub mod reached;
pub mod rerun;
pub mod resource_graph;
pub mod shown;
pub mod timeline;
pub mod verdict;
