use countersign_contract::rule;

rule! {
    /// What a worker changed is listed once: as `changes`, or in Markdown as `files_touched`, but not as both.
    ///
    /// ## Why
    /// The two mean the same, and only one of them would be compared with the scope of the assignment. Whatever stands in
    /// the other would pass unseen.
    ///
    /// ## Rejected
    /// ```markdown rejected subagent_result raw
    /// ---
    /// schema_version: 1.0.0
    /// run_id: 3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4
    /// task_id: T-12
    /// status: done
    /// changes:
    ///   - resource: src/money/round.rs
    ///     action: edit
    /// files_touched: [src/api/totals.rs]
    /// acceptance_check:
    ///   - criterion: Totals that end in a half round to the even cent
    ///     status: pass
    ///     evidence: "cargo test money: 14 passed"
    /// worklog_path: worklogs/T-12.jsonl
    /// notes_for_orchestrator: []
    /// ---
    /// ```
    ///
    /// ## Accepted
    /// ```markdown accepted subagent_result raw
    /// ---
    /// schema_version: 1.0.0
    /// run_id: 3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4
    /// task_id: T-12
    /// status: done
    /// files_touched: [src/money/round.rs]
    /// acceptance_check:
    ///   - criterion: Totals that end in a half round to the even cent
    ///     status: pass
    ///     evidence: "cargo test money: 14 passed"
    /// worklog_path: worklogs/T-12.jsonl
    /// notes_for_orchestrator: []
    /// ---
    /// ```
    pub static CHANGES_NAMED_TWICE = {
        id: "changes-named-twice",
        code: SchemaInvalid,
        severity: Error,
        summary: "a result lists its changes under both of their names",
    }
}
