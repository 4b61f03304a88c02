//! Events over HTTP, followed and taken up again.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod server;

use serde_json::{Value, json};
use server::work::{listening, run_with, served, task, wait_until};
use server::{Server, owner, project, token};

#[test]
fn events_are_followed_and_taken_up_again_without_gap_or_double() {
    let house = project();
    let mut server = Server::start(&house, &[]);
    let mut client = server.client(&owner(&house));
    let one = run_with(&mut client, 1);
    let mut events = client.listen("/v1/events", &[]);
    let first: Vec<(u64, String, Value)> = events.by_ref().take(3).collect();
    assert_eq!(first.iter().map(|it| it.0).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(
        first.iter().map(|it| it.1.as_str()).collect::<Vec<_>>(),
        ["project.initialised", "run.opened", "task.added"]
    );
    assert_eq!(first[2].2["facts"]["task"], "T-1");
    // What is recorded now comes to whoever listens.
    let two = run_with(&mut client, 2);
    assert_eq!(events.by_ref().take(3).map(|it| it.0).collect::<Vec<_>>(), [4, 5, 6]);
    drop(events);
    // What was recorded meanwhile comes to whoever comes back, by another process too.
    let added = json!({ "run_id": two, "tasks": [task("T-9", "docs")] });
    client.ask("task.add", &added).answer();
    let resumed = client.listen("/v1/events?since=1", &[("last-event-id", "5")]);
    assert_eq!(resumed.take(2).map(|it| it.0).collect::<Vec<_>>(), [6, 7]);
    let since = client.listen("/v1/events?since=4", &[]);
    assert_eq!(since.take(4).map(|it| it.0).collect::<Vec<_>>(), [4, 5, 6, 7]);
    let of_run = client.listen(&format!("/v1/events?run={one}"), &[]);
    let mut of_run = of_run.inspect(|it| assert_eq!(it.2["run"], one.as_str()));
    assert_eq!(of_run.by_ref().take(2).map(|it| it.0).collect::<Vec<_>>(), [2, 3]);
    house.document("a.json", "assignment", json!({}));
    let mut live = client.listen("/v1/events?since=8", &[]);
    assert_eq!(house.run(&["record", "a.json"]).code, 0);
    assert_eq!(live.next().unwrap().1, "record.kept");
    for query in ["since=x", "run=x", "since=1&since=2", "other=1"] {
        assert_eq!(client.get(&format!("/v1/events?{query}")).status, 422, "{query}");
    }
    // Listening ends with the server, and the server with those that listen.
    server.signal("TERM");
    assert_eq!(live.next(), None);
    assert_eq!(server.ended(), Some(0));
}

#[test]
fn who_listens_hears_no_more_once_their_token_is_over() {
    let (house, server, mut client) = served();
    let mut live = listening(&server.client(&token(&house, "user:ada", "auditor", None)));
    // Another's token that is over is nobody's affair.
    let mut other = client.listen("/v1/events?since=4", &[]);
    let revoked = house.run(&["token", "revoke", "000000000001", "--token-file", &house.owner_token()]);
    assert_eq!(revoked.code, 0, "{revoked:?}");
    run_with(&mut client, 2);
    assert_eq!(live.next(), None);
    assert_eq!(other.next().map(|it| it.0), Some(4));
}

#[test]
fn no_token_takes_all_places_of_those_who_listen() {
    let house = project();
    let server = Server::start(&house, &[]);
    let mut client = server.client(&owner(&house));
    let mut streams: Vec<_> = (0..16).map(|_| client.listen("/v1/events", &[])).collect();
    assert!(streams.iter_mut().all(|stream| stream.next().is_some_and(|it| it.0 == 1)));
    let said = client.get("/v1/events");
    assert_eq!((said.status, said.json()["code"].as_str()), (429, Some("RATE_LIMITED")), "{said:?}");
    assert_eq!((said.header("retry-after"), said.header("content-type")), ("5", "application/problem+json"));
    assert!(said.json()["detail"].as_str().unwrap().contains("16 streams"), "{said:?}");
    // Others still have theirs.
    let auditor = server.client(&token(&house, "user:ada", "auditor", None));
    let theirs = auditor.listen("/v1/events", &[]).next();
    assert_eq!(theirs.map(|it| it.0), Some(1));
    // Whoever ends one may have another.
    drop(streams.pop());
    wait_until(|| client.get("/metrics").body.lines().any(|line| line == "countersign_event_streams 15"));
    assert_eq!(client.listen("/v1/events", &[]).next().map(|it| it.0), Some(1));
}
