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
/// A command was refused. Facts: `code`, `command`, `run` if it was about one, `task` if it was a result of whoever works on
/// that; and of refusals of this actor in this run that were counted and not recorded since the last one `unrecorded`, how
/// many, `unrecorded_by`, how many under each code, and `unrecorded_results`, how many of them were results that did not
/// pass. The reason is text 0; what was wrong with a result are the texts after it.
pub const COMMAND_REFUSED: &str = "command.refused";
