//! What can be read, and what prompts say.

use super::*;

#[test]
fn contracts_schemas_rules_runs_and_tasks_can_be_read() {
    for revision in BOTH {
        let house = project();
        let session = &mut Session::open(&house, "agent:w1", revision);
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let params = cursor.as_ref().map_or(json!({}), |cursor| json!({ "cursor": cursor }));
            let page = session.result("resources/list", params);
            all.extend(page["resources"].as_array().unwrap().iter().map(|it| it["uri"].as_str().unwrap().to_owned()));
            match page["nextCursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        let mut once = all.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), all.len());
        let contracts = countersign_domain::contracts().len();
        assert_eq!(all.len(), 2 * contracts + countersign_domain::rules().len() + 1);
        assert_eq!(all.last().unwrap(), &format!("countersign://runs/{RUN}"));
        let mut read = |uri: &str| {
            let result = session.result("resources/read", json!({ "uri": uri }));
            assert_eq!(result["contents"][0]["uri"], uri);
            result["contents"][0]["text"].as_str().unwrap().to_owned()
        };
        assert!(read("countersign://contracts/assignment").starts_with('#'));
        let schema: Value = serde_json::from_str(&read("countersign://schemas/subagent_result")).unwrap();
        assert!(jsonschema::is_valid(&schema, &result()));
        assert!(read("countersign://rules/LOCK_CONFLICT").starts_with("LOCK_CONFLICT"));
        let run: Value = serde_json::from_str(&read(&format!("countersign://runs/{RUN}"))).unwrap();
        assert_eq!(run["status"], "open");
        let tasks: Value = serde_json::from_str(&read(&format!("countersign://runs/{RUN}/tasks"))).unwrap();
        assert_eq!(tasks["tasks"].as_array().unwrap().len(), 2);
        let task: Value = serde_json::from_str(&read(&format!("countersign://runs/{RUN}/tasks/T-2"))).unwrap();
        assert_eq!(task["dependencies"], json!(["T-1"]));
        let templates = session.result("resources/templates/list", json!({}));
        assert_eq!(templates["resourceTemplates"].as_array().unwrap().len(), 6);
        let absent = if revision == Revision::Stateless { -32602 } else { -32002 };
        for (uri, code) in [
            ("countersign://contracts/nothing", absent),
            ("countersign://runs/nothing/tasks/T-1", absent),
            ("file:///etc/passwd", absent),
            ("countersign://", absent),
        ] {
            let answer = session.request("resources/read", json!({ "uri": uri }));
            assert_eq!(answer["error"]["code"], code, "{uri}: {answer}");
        }
        for cursor in ["", "fixed:", "fixed:99999", "runs:%%", "\u{1b}"] {
            let answer = session.request("resources/list", json!({ "cursor": cursor }));
            assert!(answer["error"]["code"].is_i64(), "{cursor}: {answer}");
        }
    }
}

#[test]
fn prompts_tell_each_part_what_to_do_with_the_schema_of_its_answer() {
    for revision in BOTH {
        let house = project();
        let session = &mut Session::open(&house, "agent:w1", revision);
        let names: Vec<Value> = session.result("prompts/list", json!({}))["prompts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|prompt| prompt["name"].clone())
            .collect();
        assert_eq!(names, ["worker", "orchestrator", "validator"]);
        for (name, arguments, contract) in [
            ("worker", json!({ "task_id": "T-1", "run_id": "" }), "subagent_result"),
            ("orchestrator", json!({}), "orchestrator_output"),
            ("validator", json!({}), "validation_response"),
        ] {
            let prompt = session.result("prompts/get", json!({ "name": name, "arguments": arguments }));
            let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
            let schema = (countersign_domain::contract(contract).unwrap().schema)().to_string();
            assert!(text.contains(&schema), "{name}");
            assert!(!text.contains('\u{2066}'));
            assert_eq!(text.contains("<<<data"), name != "validator", "{name}");
        }
        for params in [
            json!({ "name": "worker" }),
            json!({ "name": "worker", "arguments": { "task_id": "T-9" } }),
            json!({ "name": "orchestrator", "arguments": { "run": RUN } }),
            json!({ "name": "owner" }),
        ] {
            let answer = session.request("prompts/get", params.clone());
            assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
        }
    }
}
