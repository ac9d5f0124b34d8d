//! What a server requests from its client.

pub mod elicitation_ids;
pub mod secret_fields;
pub mod shorter_history;
pub mod tool_rounds;
