//! The rules of the universal handoff, a file for each.

pub mod universal_handoff;
