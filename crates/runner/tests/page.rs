//! Pages of a local server, looked at with a real Chromium. Without one these tests fail, and are never passed over.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use countersign_runner::page::{Seen, Trouble, look, look_with};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// More than any page here needs; what must end earlier says so itself.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a path answers with.
#[derive(Clone)]
enum Answer {
    /// A status, further lines of the head, and a body.
    Page(u16, String, Vec<u8>),
    /// The beginning of a page, and then nothing until the browser leaves.
    Endless(&'static str),
    /// Nothing at all until the browser leaves.
    Silence,
}

fn page(body: &str) -> Answer {
    Answer::Page(200, "content-type: text/html; charset=utf-8".to_owned(), body.as_bytes().to_vec())
}

fn sends_to(url: &str) -> Answer {
    Answer::Page(302, format!("location: {url}"), Vec::new())
}

/// A server with some pages. It notes which paths were asked for.
struct Site {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    fn new(pages: Vec<(&'static str, Answer)>) -> Self {
        Self::at("127.0.0.1", pages)
    }

    fn at(host: &str, pages: Vec<(&'static str, Answer)>) -> Self {
        let listener = TcpListener::bind((host, 0)).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (pages, all) = (pages.clone(), Arc::clone(&all));
                // A browser opens connections ahead, and says nothing on some.
                std::thread::spawn(move || serve(stream.unwrap(), &pages, &all));
            }
        });
        Self { address, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn look(&self, path: &str, contains: &[&str]) -> Result<Seen, Trouble> {
        look(&self.url(path), &texts(contains), None, PATIENCE, &[])
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn serve(mut stream: TcpStream, pages: &[(&'static str, Answer)], all: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(first)) = lines.next() else { return };
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let answer = pages.iter().find(|page| page.0 == path).map(|page| page.1.clone());
    all.lock().unwrap().push(path);
    let wait = |stream: &mut TcpStream| while stream.read(&mut [0; 64]).is_ok_and(|count| count > 0) {};
    match answer.unwrap_or(Answer::Page(404, "content-type: text/html".to_owned(), b"<p>not here</p>".to_vec())) {
        Answer::Page(status, head, body) => {
            let head =
                format!("HTTP/1.1 {status} S\r\nconnection: close\r\ncontent-length: {}\r\n{head}\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
        Answer::Endless(beginning) => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 1000000\r\n\r\n";
            let _ = stream.write_all(format!("{head}{beginning}").as_bytes());
            wait(&mut stream);
        }
        Answer::Silence => wait(&mut stream),
    }
}

/// Processes that have something in their command line, by `/proc`; none where there is no such thing. Those that have
/// ended and were not waited for have no command line.
fn processes_with(word: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |number: &u32| {
        let line = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(word)
    };
    numbers.filter(has).collect()
}

/// A browser that notes its number and its folder before it becomes Chromium.
struct Watched {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Watched {
    fn new() -> Self {
        Self::stumbling(0)
    }

    /// The same, which ends by itself the first times that it is started.
    fn stumbling(times: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("browser");
        let notes = folder.path().display();
        let script = format!(
            "#!/bin/sh\necho $$ >{notes}/number\npwd >{notes}/home\nenv >{notes}/environment\n\
             echo >>{notes}/starts\nif [ $(wc -l <{notes}/starts) -le {times} ]; then exit 1; fi\n\
             for name in chromium chromium-browser google-chrome; do\n\
             if command -v $name >/dev/null; then exec $name \"$@\"; fi\ndone\n"
        );
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder, program }
    }

    fn note(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap().trim().to_owned()
    }

    /// Nothing is left: no process, no folder. What was ended may take a moment to be gone.
    fn assert_gone(&self) {
        let home = self.note("home");
        assert!(home.contains("countersign-page-"), "{home}");
        let until = Instant::now() + Duration::from_secs(10);
        while !processes_with(&home).is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(processes_with(&home), Vec::<u32>::new());
        assert!(!Path::new(&home).exists(), "{home} is still there");
    }
}

#[test]
fn text_from_a_script_is_seen_and_what_is_hidden_is_not() {
    let site = Site::new(vec![
        (
            "/",
            page(
                "<title>The  door</title><body><h1>Now</h1><p id=a></p><p style='display:none'>in the dark</p>\
                 <!-- a comment --><script>const word = 'in the script'; setTimeout(() => fetch('/data').then(it => it.text())\
                 .then(it => document.getElementById('a').innerText = it), 300)</script>",
            ),
        ),
        ("/data", page("it opens\nwith   ease")),
    ]);
    let seen = site.look("/", &["it opens with ease", "Now"]).unwrap();
    assert_eq!(seen.missing, Vec::<String>::new());
    assert_eq!((seen.status, seen.title.as_str()), (Some(200), "The door"));
    assert!(seen.text_excerpt.contains("Now it opens with ease"), "{}", seen.text_excerpt);
    assert!(seen.browser.contains("Chrome/"), "{}", seen.browser);
    assert_eq!((seen.picture, seen.blocked), (None, Vec::new()));
    let seen = site.look("/", &["Now", "in the dark", "a comment", "in the script", "elsewhere"]).unwrap();
    assert_eq!(seen.missing, ["in the dark", "a comment", "in the script", "elsewhere"]);
}

#[test]
fn text_that_goes_away_when_the_page_has_loaded_is_not_seen() {
    let site = Site::new(vec![(
        "/",
        page(
            "<p id=a>all is well</p><script>onload = () => setTimeout(() => document.getElementById('a').innerText = 'broken', 200)</script>",
        ),
    )]);
    assert_eq!(site.look("/", &["all is well"]).unwrap().missing, ["all is well"]);
}

#[test]
fn a_page_cannot_change_how_it_is_read() {
    let site = Site::new(vec![(
        "/",
        page(
            "<p>true</p><script>Object.defineProperty(HTMLElement.prototype, 'innerText', { get: () => 'false' });\
             Object.defineProperty(document, 'body', { get: () => ({ innerText: 'false' }) })</script>",
        ),
    )]);
    assert_eq!(site.look("/", &["true", "false"]).unwrap().missing, ["false"]);
}

#[test]
fn a_status_of_failure_is_told() {
    let site = Site::new(vec![
        ("/500", Answer::Page(500, "content-type: text/html".to_owned(), b"<p>it broke</p>".to_vec())),
        ("/empty", Answer::Page(404, "content-type: text/html".to_owned(), Vec::new())),
        ("/moved", sends_to("/gone")),
        ("/script", page("<script>location = '/500'</script>")),
    ]);
    for (path, status, text) in [
        ("/nowhere", 404, "not here"),
        ("/500", 500, "it broke"),
        ("/moved", 404, "not here"),
        ("/script", 500, "it broke"),
    ] {
        let seen = site.look(path, &[text]).unwrap();
        assert_eq!((seen.status, seen.missing), (Some(status), Vec::new()), "{path}");
    }
    let seen = site.look("/empty", &["absent"]);
    assert!(matches!(&seen, Ok(Seen { status: Some(404), missing, .. }) if missing == &["absent"]), "{seen:?}");
}

#[test]
fn a_slow_page_is_waited_for_and_one_that_never_loads_is_not() {
    let site = Site::new(vec![
        ("/slow", page("<p>here</p><script src=/late.js></script>")),
        (
            "/late.js",
            Answer::Page(
                200,
                "content-type: text/javascript".to_owned(),
                b"setTimeout(() => document.body.append('late'), 1500)".to_vec(),
            ),
        ),
        ("/endless", Answer::Endless("<p>here</p>")),
        ("/hangs", page("<p>here</p><img src=/silence>")),
        ("/loops", page("<p>here</p><script>for (;;) {}</script>")),
        ("/silence", Answer::Silence),
    ]);
    assert_eq!(site.look("/slow", &["here", "late"]).unwrap().missing, Vec::<String>::new());
    let patience = Duration::from_secs(4);
    for path in ["/endless", "/hangs", "/loops", "/silence"] {
        let browser = Watched::new();
        let began = Instant::now();
        let seen = look_with(&browser.program, &site.url(path), &texts(&["here"]), None, patience, &[]);
        assert_eq!(seen, Err(Trouble::TimedOut), "{path}");
        assert!(began.elapsed() < patience + Duration::from_secs(10), "{path}");
        browser.assert_gone();
    }
}

#[test]
fn a_page_that_never_stands_still_is_seen_all_the_same() {
    let site = Site::new(vec![(
        "/",
        page("<p>here</p><p id=a></p><script>setInterval(() => a.innerText = Math.random(), 5)</script>"),
    )]);
    assert_eq!(site.look("/", &["here"]).unwrap().missing, Vec::<String>::new());
    let seen = look(&site.url("/"), &texts(&["here", "there"]), None, Duration::from_secs(8), &[]).unwrap();
    assert_eq!(seen.missing, ["there"]);
}

#[test]
fn a_dialog_does_not_hold_the_page_up() {
    let site = Site::new(vec![("/", page("<script>alert('a'); confirm('b'); prompt('c')</script><p>after</p>"))]);
    assert_eq!(site.look("/", &["after"]).unwrap().missing, Vec::<String>::new());
}

#[test]
fn hosts_that_are_not_allowed_are_not_asked() {
    let other =
        Site::at("127.0.0.2", vec![("/", page("<p>elsewhere</p>")), ("/x.js", page("document.body.append('x')"))]);
    let there = other.url("/");
    let text = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let site = Site::new(vec![
        ("/moved", sends_to(&there)),
        ("/script", page(text(format!("<p>here</p><script>location = '{there}'</script>")))),
        ("/refresh", page(text(format!("<meta http-equiv=refresh content='0;url={there}'><p>here</p>")))),
        (
            "/parts",
            page(text(format!(
                "<p>here</p><script src={there}x.js></script><iframe src={there}></iframe><img src=http://a.example/b.png>\
                 <script>new WebSocket('ws://{}/'); new Image().src = '{there}image'; navigator.sendBeacon('{there}beacon');\
                 window.open('{there}window'); new EventSource('{there}events');\
                 new Worker(URL.createObjectURL(new Blob([`fetch('{there}worker')`])))</script>",
                other.address
            ))),
        ),
    ]);
    for path in ["/moved", "/script", "/refresh"] {
        let Err(Trouble::Failed(why)) = site.look(path, &["elsewhere"]) else { panic!("{path}") };
        assert!(why.contains("`127.0.0.2`, which is not allowed"), "{path}: {why}");
    }
    let seen = site.look("/parts", &["here"]).unwrap();
    assert_eq!(seen.missing, Vec::<String>::new());
    assert!(
        seen.blocked.contains(&"127.0.0.2".to_owned()) && seen.blocked.contains(&"a.example".to_owned()),
        "{seen:?}"
    );
    assert!(matches!(look(&there, &[], None, PATIENCE, &[]), Err(Trouble::Failed(_))));
    assert_eq!(other.asked(), Vec::<String>::new());
    // The same host, once it is allowed.
    let seen = look(&site.url("/moved"), &texts(&["elsewhere"]), None, PATIENCE, &texts(&["127.0.0.2"])).unwrap();
    assert_eq!((seen.status, seen.missing), (Some(200), Vec::new()));
}

#[test]
fn the_resolver_knows_no_other_host_either() {
    // What no request is held for: a frame of another site is drawn by a process of its own, whose requests nobody holds.
    let other = Site::at("127.0.0.2", vec![("/", page("<p>elsewhere</p>"))]);
    let frame: &'static str = Box::leak(format!("<p>framed</p><img src={}>", other.url("/")).into_boxed_str());
    let inner = Site::new(vec![("/", page(frame))]);
    let port = inner.address.rsplit(':').next().unwrap();
    let outer: &'static str =
        Box::leak(format!("<p>here</p><iframe src=http://localhost:{port}/></iframe>").into_boxed_str());
    let site = Site::new(vec![("/", page(outer))]);
    assert_eq!(site.look("/", &["here"]).unwrap().missing, Vec::<String>::new());
    assert_eq!(inner.asked().first().map(String::as_str), Some("/"), "the frame was not drawn");
    assert_eq!(other.asked(), Vec::<String>::new());
}

#[test]
fn a_picture_is_a_png_of_what_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.png");
    let colour = "<body style='margin:0;background:rgb(200,30,60)'><p>here</p><div style='position:fixed;left:600px;top:400px;\
                  width:100px;height:100px;background:rgb(10,20,230)'></div>";
    let site = Site::new(vec![("/", page(colour))]);
    let seen = look(&site.url("/"), &texts(&["here"]), Some(&path), PATIENCE, &[]).unwrap();
    assert_eq!(seen.picture.as_deref(), Some(path.as_path()));
    let png = std::fs::read(&path).unwrap();
    assert_eq!((&png[..8], &png[12..16]), (&b"\x89PNG\r\n\x1a\n"[..], &b"IHDR"[..]));
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    let (width, height) = (number(16), number(20));
    assert!(width >= 1000 && height >= 600, "{width}x{height}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    // A browser decodes it: its pixels are those of the page.
    let reader = "<p id=a>none</p><img id=i src=/page.png><script>onload = () => {\
                  const canvas = document.createElement('canvas'), i = document.getElementById('i');\
                  canvas.width = i.naturalWidth; canvas.height = i.naturalHeight;\
                  const c = canvas.getContext('2d'); c.drawImage(i, 0, 0);\
                  const at = (x, y) => [...c.getImageData(x, y, 1, 1).data].slice(0, 3).join(',');\
                  document.getElementById('a').innerText = `${at(1000, 300)} and ${at(650, 450)}` }</script>";
    let image = Answer::Page(200, "content-type: image/png".to_owned(), png);
    let site = Site::new(vec![("/", page(reader)), ("/page.png", image)]);
    let seen = site.look("/", &["200,30,60 and 10,20,230"]).unwrap();
    assert_eq!(seen.missing, Vec::<String>::new(), "{}", seen.text_excerpt);
}

#[test]
fn a_picture_that_cannot_be_kept_is_no_success() {
    let site = Site::new(vec![("/", page("<p>here</p>"))]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none").join("page.png");
    let seen = look(&site.url("/"), &[], Some(&path), PATIENCE, &[]);
    assert!(matches!(&seen, Err(Trouble::Failed(why)) if why.contains("cannot be kept")), "{seen:?}");
}

#[test]
fn nobody_there_is_a_failure() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let seen = look(&format!("http://{free}/"), &[], None, PATIENCE, &[]);
    assert!(matches!(&seen, Err(Trouble::Failed(why)) if why.contains("ERR_CONNECTION_REFUSED")), "{seen:?}");
    let seen =
        Site::new(vec![("/", Answer::Page(200, "content-disposition: attachment".to_owned(), b"a file".to_vec()))])
            .look("/", &[]);
    assert!(matches!(&seen, Err(Trouble::Failed(_))), "{seen:?}");
}

#[test]
fn a_look_leaves_nothing_behind_and_hands_nothing_of_ours_on() {
    let site = Site::new(vec![("/", page("<p>here</p><script>localStorage.a = 1</script>"))]);
    let browser = Watched::new();
    look_with(&browser.program, &site.url("/"), &texts(&["here"]), None, PATIENCE, &[]).unwrap();
    browser.assert_gone();
    let environment = browser.note("environment");
    let ours: Vec<&str> = environment.lines().filter(|line| line.starts_with("CARGO")).collect();
    assert_eq!(ours, Vec::<&str>::new());
    assert!(std::env::vars().any(|(name, _)| name.starts_with("CARGO")), "nothing was there to hand on");
}

#[test]
fn a_browser_that_is_killed_is_a_failure_and_leaves_nothing_behind() {
    let site = Site::new(vec![("/", Answer::Silence)]);
    let browser = Watched::new();
    std::thread::scope(|scope| {
        let looking =
            scope.spawn(|| look_with(&browser.program, &site.url("/"), &[], None, Duration::from_secs(120), &[]));
        let until = Instant::now() + PATIENCE;
        while site.asked().is_empty() && Instant::now() < until && !looking.is_finished() {
            std::thread::sleep(Duration::from_millis(20));
        }
        // The number is the browser's own: the script became it.
        let killed = Command::new("kill").args(["-KILL", &browser.note("number")]).status().unwrap();
        assert!(killed.success());
        let began = Instant::now();
        let seen = looking.join().unwrap();
        assert!(matches!(&seen, Err(Trouble::Failed(why)) if why.contains("ended before")), "{seen:?}");
        assert!(began.elapsed() < PATIENCE);
    });
    browser.assert_gone();
}

#[test]
fn a_browser_that_ends_by_itself_before_it_is_asked_for_anything_is_started_again_but_not_for_ever() {
    let site = Site::new(vec![("/", page("<p>here</p>"))]);
    for times in 0..4 {
        let browser = Watched::stumbling(times);
        let seen = look_with(&browser.program, &site.url("/"), &texts(&["here"]), None, PATIENCE, &[]);
        assert_eq!(seen.is_ok(), times < 3, "{times}: {seen:?}");
        browser.assert_gone();
    }
}

#[test]
fn a_browser_that_is_none_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let rows = [("silent", "exit 3", "ended before"), ("loud", "echo no screen >&2; exit 1", "no screen")];
    for (name, script, said) in rows {
        let program = folder.path().join(name);
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let seen = look_with(&program, "http://localhost/", &[], None, PATIENCE, &[]);
        assert!(matches!(&seen, Err(Trouble::Failed(why)) if why.contains(said)), "{seen:?}");
    }
    let seen = look_with(&folder.path().join("absent"), "http://localhost/", &[], None, PATIENCE, &[]);
    assert!(matches!(&seen, Err(Trouble::Failed(_))), "{seen:?}");
}

#[test]
fn a_browser_that_never_answers_is_ended_with_everything_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("browser");
    let loops = "'while :; do sleep 1; done'";
    let script =
        format!("#!/bin/sh\npwd >{}/home\nsh -c {loops} \"$PWD\" &\nsh -c {loops} \"$PWD\"\n", folder.path().display());
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let browser = Watched { folder, program };
    let patience = Duration::from_secs(2);
    let seen = look_with(&browser.program, "http://localhost/", &[], None, patience, &[]);
    assert_eq!(seen, Err(Trouble::TimedOut));
    browser.assert_gone();
}
