//! Known agents, played by scripts that write what the real ones are documented to write.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![cfg(unix)]

mod agent_support;

use agent_support::Place;
use countersign_runner::agent::{How, Usage, answer_of};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// A place with a program of that name on its PATH. The program notes its arguments and its input, then does as `script`
/// says.
fn place(name: &str, declared: &Value, script: &str) -> Place {
    let mut place = Place::new(declared);
    let bin = place.path("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let noting = "for it in \"$@\"; do printf '%s\\n' \"$it\"; done > arguments\ncat > input\n";
    std::fs::write(bin.join(name), format!("#!/bin/sh\n{noting}{script}\n")).unwrap();
    std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    place.variables = vec![("PATH".into(), path)];
    place
}

fn noted(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path("work").join(name)).unwrap()
}

/// What `claude` writes when all is well, changed by a merge.
fn claude_result(change: &Value) -> Value {
    let mut result = json!({
        "type": "result", "subtype": "success", "is_error": false, "duration_ms": 2814, "num_turns": 4,
        "result": "Done.", "session_id": "75e2167f-3a4b", "total_cost_usd": 0.0342,
        "structured_output": { "status": "done", "files": ["a"] },
        "usage": { "input_tokens": 11, "cache_creation_input_tokens": 22, "cache_read_input_tokens": 33, "output_tokens": 44 },
        "modelUsage": { "small": { "outputTokens": 3 }, "large": { "outputTokens": 41 } },
    });
    for (key, value) in change.as_object().unwrap() {
        result[key] = value.clone();
    }
    result
}

fn writes(output: &str, code: i32) -> String {
    format!("cat <<'THE_END'\n{output}\nTHE_END\nexit {code}")
}

#[test]
fn claude_is_called_by_its_documented_options_with_the_prompt_as_input() {
    let declared = json!({ "preset": "claude", "model": "opus" });
    let mut place = place("claude", &declared, &writes(&claude_result(&json!({})).to_string(), 0));
    let ended = place.run();
    assert_eq!(ended.how, How::Exited(0));
    assert_eq!(noted(&place, "input"), "do it");
    let common = "-p\n--output-format\nstream-json\n--verbose\n--json-schema\n{\"type\":\"object\"}\n";
    assert_eq!(noted(&place, "arguments"), format!("{common}--permission-mode\nacceptEdits\n--model\nopus\n"));
    place.changes = false;
    place.run();
    assert_eq!(noted(&place, "arguments"), format!("{common}--model\nopus\n"));
    place.schema = "x".repeat(200_000);
    assert!(place.start().unwrap_err().contains("200000 bytes"));
}

#[test]
fn what_claude_writes_is_an_answer_or_a_reason_as_the_table_says() {
    let schema_made = "{\"status\":\"done\",\"files\":[\"a\"]}";
    let result = |change: Value| claude_result(&change).to_string();
    let in_list = json!([{ "type": "system" }, claude_result(&json!({}))]).to_string();
    let limit =
        json!({ "is_error": true, "result": "Claude usage limit reached|1760000400", "structured_output": null });
    let retries = json!({ "subtype": "error_max_structured_output_retries", "is_error": true, "result": null,
        "structured_output": null, "errors": ["the output did not match the schema"] });
    let cases: Vec<(String, i32, Result<&str, &str>)> = vec![
        (result(json!({})), 0, Ok(schema_made)),
        (format!("a warning of a wrapper\n{}", result(json!({}))), 0, Ok(schema_made)),
        (format!("{}\n7\n{{}}\na last word", result(json!({}))), 0, Ok(schema_made)),
        (in_list, 0, Ok(schema_made)),
        (result(json!({ "structured_output": null })), 0, Ok("Done.")),
        (result(json!({ "structured_output": null, "result": " " })), 0, Err("`claude` ended without an answer")),
        (
            result(limit),
            1,
            Err("`claude` ended with an error (success): Claude usage limit reached|1760000400 (exit code 1)"),
        ),
        (result(retries), 1, Err("(error_max_structured_output_retries): the output did not match the schema")),
        (result(json!({ "subtype": "error_max_turns", "is_error": false, "result": null })), 0, Err("error_max_turns")),
        (result(json!({})), 7, Err("gave an answer and ended with exit code 7")),
        ("Invalid API key".into(), 1, Err("did not write its result message")),
        ("{\"type\":\"result\",".into(), 0, Err("did not write its result message")),
        ("{\"structured_output\":{}}".into(), 0, Err("did not write its result message")),
        (String::new(), 0, Err("did not write its result message")),
    ];
    let declared = json!({ "preset": "claude" });
    for (output, code, expected) in cases {
        let place = place("claude", &declared, &writes(&output, code));
        let ended = place.run();
        match (answer_of(&place.agent, &ended), expected) {
            (Ok(answer), Ok(expected)) => assert_eq!(answer, expected),
            (Err(said), Err(expected)) => assert!(said.contains(expected), "{said}"),
            (other, _) => panic!("{output}: {other:?}"),
        }
    }
}

#[test]
fn what_claude_used_is_read_from_its_result() {
    let run = |output: String| place("claude", &json!({ "preset": "claude" }), &writes(&output, 0)).run().usage;
    let full = Usage {
        input_tokens: Some(11),
        output_tokens: Some(44),
        cache_creation_tokens: Some(22),
        cache_read_tokens: Some(33),
        cost_usd: Some(0.0342),
        turns: Some(4),
        session_id: Some("75e2167f-3a4b".into()),
        model: Some("large".into()),
        ..Usage::default()
    };
    assert_eq!(run(claude_result(&json!({})).to_string()), Some(full.clone()));
    // Uses of tools are counted in what it said on the way; making the answer is none.
    let said = |id: &str, tools: &[&str]| {
        let uses = tools.iter().map(|tool| json!({ "type": "tool_use", "id": "t", "name": tool, "input": {} }));
        let content: Vec<Value> = std::iter::once(json!({ "type": "text", "text": "so" })).chain(uses).collect();
        let used = json!({ "input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 100 });
        json!({ "type": "assistant", "message": { "id": id, "content": content, "usage": used } }).to_string()
    };
    let on_the_way =
        [said("m1", &["Read", "Bash"]), said("m1", &["Write"]), said("m2", &["StructuredOutput", "mcp__x__y"])]
            .join("\n");
    let worked = Usage { tool_uses: Some(4), commands: Some(1), file_changes: Some(1), ..full };
    assert_eq!(run(format!("{on_the_way}\n{}", claude_result(&json!({})))), Some(worked.clone()));
    // One that was ended before its result has used what its messages say, each counted once.
    let cut = Usage {
        input_tokens: Some(10),
        output_tokens: Some(4),
        cache_read_tokens: Some(200),
        tool_uses: Some(4),
        commands: Some(1),
        file_changes: Some(1),
        ..Usage::default()
    };
    assert_eq!(run(on_the_way), Some(cut));
    let idle = run(format!("{}\n{}", said("m1", &["StructuredOutput"]), claude_result(&json!({}))));
    assert_eq!(idle.unwrap().tool_uses, Some(0));
    let strange =
        json!({ "usage": "many", "num_turns": -1, "total_cost_usd": "free", "modelUsage": [], "session_id": null });
    assert_eq!(run(claude_result(&strange).to_string()), Some(Usage::default()));
    assert_eq!(run("no result".into()), None);
}

const CODEX_GOOD: &str = r#"{"type":"thread.started","thread_id":"th-1"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"i0","type":"command_execution","command":"ls","status":"in_progress"}}
{"type":"item.completed","item":{"id":"i0","type":"command_execution","command":"ls","aggregated_output":"","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"i1","type":"reasoning","text":"hm"}}
{"type":"item.completed","item":{"id":"i2","type":"file_change","changes":[{"path":"a","kind":"add"}],"status":"completed"}}
{"type":"item.completed","item":{"id":"i3","type":"agent_message","text":"{\"from\":\"events\"}"}}
{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":7}}"#;

/// The file that comes after `-o`.
const TO_LAST: &str = "last=$(sed -n '/^-o$/{n;p;}' arguments)\n";

#[test]
fn codex_is_called_by_its_documented_options_with_the_prompt_as_input() {
    let script = format!("{TO_LAST}printf '{{\"from\":\"file\"}}' > \"$last\"\n{}", writes(CODEX_GOOD, 0));
    let mut place = place("codex", &json!({ "preset": "codex", "model": "m" }), &script);
    let ended = place.run();
    assert_eq!(noted(&place, "input"), "do it");
    let (schema, last) = (place.path("spool/schema.json"), place.path("spool/last_message"));
    let rest = format!("--output-schema\n{}\n-o\n{}\n--model\nm\n-\n", schema.display(), last.display());
    assert_eq!(noted(&place, "arguments"), format!("exec\n--json\n--sandbox\nworkspace-write\n{rest}"));
    assert_eq!(std::fs::read_to_string(schema).unwrap(), place.schema);
    assert_eq!(answer_of(&place.agent, &ended).unwrap(), "{\"from\":\"file\"}");
    place.changes = false;
    place.run();
    assert_eq!(noted(&place, "arguments"), format!("exec\n--json\n--sandbox\nread-only\n{rest}"));
}

#[test]
fn what_codex_writes_is_an_answer_or_a_reason_as_the_table_says() {
    let failed = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"turn.started\"}\n";
    let limit = "{\"type\":\"turn.failed\",\"error\":{\"message\":\"You've hit your usage limit.\"}}";
    let lost = "{\"type\":\"error\",\"message\":\"stream disconnected\"}";
    let long = format!(
        "{{\"type\":\"item.completed\",\"item\":{{\"type\":\"command_execution\",\"aggregated_output\":\"{}\"}}}}",
        "x".repeat(5 << 20)
    );
    let mute = CODEX_GOOD.lines().filter(|line| !line.contains("agent_message")).collect::<Vec<_>>().join("\n");
    let cases: Vec<(String, i32, Result<&str, &str>)> = vec![
        (CODEX_GOOD.into(), 0, Ok("{\"from\":\"events\"}")),
        (format!("{long}\nnot json\n{CODEX_GOOD}"), 0, Ok("{\"from\":\"events\"}")),
        (format!("{failed}{lost}\n{CODEX_GOOD}"), 0, Ok("{\"from\":\"events\"}")),
        (format!("{failed}{limit}"), 1, Err("`codex` ended with an error: You've hit your usage limit. (exit code 1)")),
        (format!("{failed}{lost}"), 1, Err("`codex` ended with an error: stream disconnected")),
        (failed.into(), 0, Err("in the middle of a turn")),
        (mute, 0, Err("`codex` ended without an answer")),
        (CODEX_GOOD.into(), 2, Err("gave an answer and ended with exit code 2")),
        ("error: not logged in".into(), 1, Err("wrote no events")),
        (String::new(), 0, Err("wrote no events")),
    ];
    for (output, code, expected) in cases {
        // Through a file, because the shell is slow with long texts.
        let place = place("codex", &json!({ "preset": "codex" }), &format!("cat ../output\nexit {code}"));
        std::fs::write(place.path("output"), &output).unwrap();
        let ended = place.run();
        match (answer_of(&place.agent, &ended), expected) {
            (Ok(answer), Ok(expected)) => assert_eq!(answer, expected),
            (Err(said), Err(expected)) => assert!(said.contains(expected), "{said}"),
            (other, _) => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_codex_used_is_summed_up_from_its_events() {
    let usage = place("codex", &json!({ "preset": "codex" }), &writes(CODEX_GOOD, 0)).run().usage.unwrap();
    let expected = Usage {
        input_tokens: Some(40),
        output_tokens: Some(7),
        cache_read_tokens: Some(60),
        tool_uses: Some(2),
        commands: Some(1),
        file_changes: Some(1),
        turns: Some(1),
        session_id: Some("th-1".into()),
        ..Usage::default()
    };
    assert_eq!(usage, expected);
    // One that says nothing of tools has used none, and that is known.
    let idle = "{\"type\":\"turn.started\"}\n{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"x\"}}";
    let usage = place("codex", &json!({ "preset": "codex" }), &writes(idle, 0)).run().usage.unwrap();
    assert_eq!((usage.tool_uses, usage.input_tokens), (Some(0), None));
    assert_eq!(place("codex", &json!({ "preset": "codex" }), "exit 0").run().usage, None);
}

#[test]
fn an_answer_of_an_earlier_attempt_is_not_taken_again() {
    let script =
        format!("{TO_LAST}[ -e \"$last\" ] && echo old >&2\nprintf old > \"$last\"\n{}", writes(CODEX_GOOD, 0));
    let place = place("codex", &json!({ "preset": "codex" }), &script);
    assert_eq!(answer_of(&place.agent, &place.run()).unwrap(), "old");
    assert_eq!(place.run().err_tail, "");
}
