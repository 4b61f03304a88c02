//! Rules for plans.

pub mod plan;
