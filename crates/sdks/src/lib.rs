//! The SDKs that servers are built on, and the findings that come from an SDK and not from the author's code.
//!
//! Begin at [`mark`], which adds to each finding of a report what the ledger `suites/sdks/*.yaml` knows about it, and at
//! [`installed()`], which looks for the SDKs of a program. A finding is an SDK's only if the rule, the version and the shape
//! of what was received match an entry; each entry is held against records of servers on that SDK.
//!
//! It uses `conform-model` and `conform-texts`.

mod installed;
mod ledger;
mod version;

pub use installed::installed;
pub use ledger::{KnownDefect, LEDGERS, Registry, SdkLedger, accept, advise, is_of_sdk, mark};
pub use version::is_within;
