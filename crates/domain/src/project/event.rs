//! What has happened to a project. Kinds are added, never changed or removed: ledgers hold them.

/// The project exists. Facts: `name`, `project`.
pub const PROJECT_INITIALISED: &str = "project.initialised";
/// A checked payload was kept as evidence. Facts: `contract`, `file`, `form`, `record`, `size`, `version`, `warnings`; its bytes
/// are text 0, and their SHA-256 is text 1.
pub const RECORD_KEPT: &str = "record.kept";
/// Texts were emptied. Facts: `event`, `of` (what the event was), `record` if it was one; the reason is text 0.
pub const TEXT_ERASED: &str = "text.erased";
/// A token was made. Facts: `actor`, `expires`, `role`, `run`, `task`, `token` (its id, which is no secret).
pub const TOKEN_MADE: &str = "token.made";
/// A token was taken back. Facts: `token`.
pub const TOKEN_REVOKED: &str = "token.revoked";
/// A command was refused. Facts: `code`, `command`, `unrecorded` (refusals of this actor since the last one that were
/// counted and not recorded); the reason is text 0.
pub const COMMAND_REFUSED: &str = "command.refused";
