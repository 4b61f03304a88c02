//! What has happened to plans. Kinds are added, never changed or removed: ledgers hold them.

/// A run follows a plan. Facts: `run`, `sha256`, `tasks`; the plan is text 0, in canonical form.
pub const PLAN_ADOPTED: &str = "plan.adopted";

/// Every kind, by name.
pub const ALL: &[&str] = &[PLAN_ADOPTED];
