//! What is done in the world, and what is seen there. It looks at git, runs agents as processes, and brings
//! what they did into the project.
//!
//! **Invariant:** a program is run as a list of arguments, in a cleaned environment, for a limited time and with
//! limited output; nothing that a payload says becomes an option.
//! **Absent on purpose:** decisions. What was seen is handed to those who decide.

#[cfg(unix)]
pub mod agent;
mod content;
pub mod delegate;
pub mod evidence;
mod fence;
pub mod files;
pub mod git;
#[cfg(unix)]
pub mod groups;
pub mod handoff;
pub mod judge;
pub mod landing;
pub mod names;
pub mod otlp;
pub mod page;
#[cfg(unix)]
mod proc;
pub mod program;
#[cfg(unix)]
pub mod run;
mod trouble;
#[cfg(unix)]
pub mod validate;
pub mod worktree;

pub use trouble::Trouble;
