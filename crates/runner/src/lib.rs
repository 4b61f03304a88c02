//! What is done in the world, and what is seen there. Today it looks at git, and changes nothing.
//!
//! **Invariant:** a program is run as a list of arguments, in a cleaned environment, for a limited time and with limited
//! output; nothing that a payload says becomes an option.
//! **Absent on purpose:** decisions. What was seen is handed to those who decide.

mod content;
pub mod git;
pub mod judge;
pub mod names;
pub mod page;
pub mod program;
