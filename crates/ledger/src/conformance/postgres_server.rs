//! A PostgreSQL server of one's own, for tests: in a temporary folder, on a Unix socket, gone with the value or the process.
//!
//! It needs the server's programs and nothing else: no running service, no port, no rights. PostgreSQL refuses to run as
//! root, so where the tests do, it runs as nobody.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test suite")]

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The id of nobody, which needs no entry anywhere.
const NOBODY: u32 = 65534;
/// How long a server may take to come or to go.
const PATIENCE: Duration = Duration::from_secs(60);

/// Stops a server whose test process is gone, however that came, and leaves nothing behind. A shell, because its input
/// ends with the process.
const GUARD: &str = r#"read order; [ -n "$order" ] && exit; kill -QUIT "$2"; for _ in 1 2 3 4 5; do sleep 1; \
    kill -0 "$2" || break; done 2>/dev/null; rm -rf "$1""#;

/// A server, running unless it was stopped.
pub struct Server {
    binaries: PathBuf,
    folder: TempDir,
    running: Mutex<Option<Running>>,
}

/// The server's process, and the one that ends it if the test cannot.
struct Running {
    postgres: Child,
    guard: Child,
}

/// A server that the tests of this process share. It ends with the last of them.
pub fn shared() -> Arc<Server> {
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = crate::ledger::lock(&SHARED);
    shared.upgrade().unwrap_or_else(|| {
        let server = Arc::new(Server::start());
        *shared = Arc::downgrade(&server);
        server
    })
}

impl Server {
    /// A new server with an empty database.
    pub fn start() -> Self {
        let server = Self::made();
        server.run();
        server
    }

    /// A new server that listens on [`Server::number`], too, where it lets nobody in without TLS.
    pub fn start_with_tls(certificate: &Path, key: &Path) -> Self {
        let server = Self::made();
        let private = |from: &Path, name: &str| {
            let to = server.data().join(name);
            std::fs::copy(from, &to).unwrap();
            std::fs::set_permissions(&to, PermissionsExt::from_mode(0o600)).unwrap();
            if is_root(server.folder.path()) {
                chown(&to, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        };
        private(certificate, "server.crt");
        private(key, "server.key");
        server.append("postgresql.conf", &format!("listen_addresses = '{}'\nssl = on\n", Self::number()));
        std::fs::write(server.data().join("pg_hba.conf"), "local all all trust\nhostssl all all all trust\n").unwrap();
        server.run();
        server
    }

    /// An address of this machine that no other process uses for a server: there are more of them than processes.
    pub fn number() -> String {
        let [_, high, middle, low] = std::process::id().to_be_bytes();
        format!("127.{}.{middle}.{low}", 64 + high % 64)
    }

    fn made() -> Self {
        let binaries = binaries();
        let template = template(&binaries);
        let server = Self::in_folder(binaries);
        let copied = Command::new("cp").arg("-a").arg(template).arg(server.data()).status();
        assert!(copied.unwrap().success(), "the template can be copied");
        server.configure();
        server
    }

    /// A standby of a server, which from here on waits for it at each commit.
    pub fn standby(&self) -> Self {
        let standby = Self::in_folder(self.binaries.clone());
        let mut copy = Command::new(self.binaries.join("pg_basebackup"));
        copy.args([
            "--checkpoint=fast",
            "--wal-method=stream",
            "--write-recovery-conf",
            "--no-sync",
            "--username=postgres",
        ]);
        copy.arg("--host").arg(self.sockets()).arg("--pgdata").arg(standby.data());
        succeed(&mut as_nobody(copy, standby.folder.path()));
        standby.configure();
        standby.run();
        self.set("synchronous_standby_names", "*");
        eventually("the standby keeps up", || {
            self.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"
        });
        standby
    }

    /// The address of its database.
    pub fn url(&self) -> String {
        format!("postgres://postgres@{}/postgres", self.host())
    }

    /// The address of a database on whichever of some servers takes writes.
    pub fn url_of(servers: &[&Server]) -> String {
        let hosts: Vec<_> = servers.iter().map(|it| it.host()).collect();
        format!("postgres://postgres@{}/postgres", hosts.join(","))
    }

    /// The folder of its socket.
    pub fn sockets(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    /// Runs some SQL and gives what it answers.
    pub fn sql(&self, sql: &str) -> String {
        succeed(&mut self.psql(sql)).trim_end().to_owned()
    }

    /// What runs some SQL.
    pub fn psql(&self, sql: &str) -> Command {
        let mut psql = Command::new(self.binaries.join("psql"));
        psql.args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "--username=postgres", "--dbname=postgres"]);
        psql.arg("--host").arg(self.sockets()).arg("--command").arg(sql);
        psql
    }

    /// A program of this server's version that connects to it, such as `pgbench`.
    pub fn client(&self, program: &str) -> Command {
        let mut client = Command::new(self.binaries.join(program));
        client.arg("--username=postgres").arg("--host").arg(self.sockets());
        client
    }

    /// Changes a setting of the whole server, and waits until new sessions have it.
    pub fn set(&self, name: &str, value: &str) {
        self.sql(&format!("ALTER SYSTEM SET {name} = '{value}'"));
        self.sql("SELECT pg_reload_conf()");
        eventually("the setting holds", || self.sql(&format!("SHOW {name}")) == value);
    }

    /// Stops it in the middle of whatever it does, as a crash would: what was not flushed is lost.
    pub fn crash(&self) {
        self.stop("QUIT");
    }

    /// Stops it without a chance to say goodbye.
    pub fn kill(&self) {
        self.stop("KILL");
    }

    /// Starts it again after it was stopped.
    pub fn run(&self) {
        let mut running = crate::ledger::lock(&self.running);
        eventually("the server answers", || {
            // It refuses to start while what is left of one that was killed still ends.
            if running.as_mut().is_none_or(|it| it.postgres.try_wait().unwrap().is_some()) {
                running.take().into_iter().for_each(Running::end);
                *running = Some(self.spawn());
            }
            let mut ready = Command::new(self.binaries.join("pg_isready"));
            ready.arg("-q").arg("--host").arg(self.sockets()).status().unwrap().success()
        });
    }

    fn spawn(&self) -> Running {
        let folder = self.folder.path();
        let log = File::options().create(true).append(true).open(folder.join("log")).unwrap();
        let mut postgres = Command::new(self.binaries.join("postgres"));
        postgres.arg("-D").arg(self.data());
        let mut postgres = as_nobody(postgres, folder);
        let postgres = postgres.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "sh"]).arg(folder).arg(postgres.id().to_string());
        let mut guard = as_nobody(guard, folder);
        Running { postgres, guard: guard.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap() }
    }

    fn stop(&self, signal: &str) {
        let Some(mut running) = crate::ledger::lock(&self.running).take() else { return };
        let pid = running.postgres.id().to_string();
        succeed(Command::new("sh").args(["-c", "kill -\"$1\" \"$2\"", "sh", signal, &pid]));
        running.postgres.wait().unwrap();
        running.end();
    }

    /// Makes a primary of a standby.
    pub fn promote(&self) {
        self.sql("SELECT pg_promote(true, 60)");
    }

    /// What the server has said so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn in_folder(binaries: PathBuf) -> Self {
        let folder = TempDir::with_prefix("cs-pg-").unwrap();
        std::fs::create_dir(folder.path().join("s")).unwrap();
        if is_root(folder.path()) {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            chown(folder.path().join("s"), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        Self { binaries, folder, running: Mutex::new(None) }
    }

    /// The folder of its files.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn host(&self) -> String {
        self.sockets().to_string_lossy().replace('/', "%2F")
    }

    fn configure(&self) {
        let mut lines = String::from("listen_addresses = ''\nmax_connections = 300\nshared_buffers = 64MB\n");
        writeln!(lines, "unix_socket_directories = '{}'", self.sockets().display()).unwrap();
        self.append("postgresql.conf", &lines);
    }

    fn append(&self, name: &str, lines: &str) {
        let mut file = File::options().append(true).open(self.data().join(name)).unwrap();
        file.write_all(lines.as_bytes()).unwrap();
    }
}

impl Running {
    /// Sends the guard away.
    fn end(mut self) {
        if let Some(mut input) = self.guard.stdin.take() {
            let _ = input.write_all(b"stop\n");
        }
        let _ = self.guard.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop("QUIT");
    }
}

/// Waits until something holds, and fails if it never does.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "in vain waited for: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Where the server's programs are: those of the newest version.
fn binaries() -> PathBuf {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<_> = debian.map(|it| it.path().join("bin")).collect();
    folders.sort_by_key(|it| it.parent().and_then(|it| it.file_name()?.to_str()?.parse::<u32>().ok()));
    folders.reverse();
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let found = folders.into_iter().find(|it| it.join("initdb").is_file() && it.join("postgres").is_file());
    found.expect("a PostgreSQL server must be installed for this test: `apt-get install postgresql`, or put its programs on PATH")
}

/// An empty data folder. Making one takes seconds, so it is made once and kept beside the tests' programs.
fn template(binaries: &Path) -> PathBuf {
    let version = succeed(Command::new(binaries.join("postgres")).arg("--version"));
    let version: String = version.chars().filter(|it| it.is_ascii_alphanumeric() || *it == '.').collect();
    let program = std::env::current_exe().unwrap();
    let beside = program.parent().unwrap().join("postgres-template");
    std::fs::create_dir_all(&beside).unwrap();
    let lock = File::options().create(true).truncate(false).write(true).open(beside.join("lock")).unwrap();
    lock.lock().unwrap();
    let kept = beside.join(version);
    if !kept.is_dir() {
        let server = Server::in_folder(binaries.to_owned());
        let mut initdb = Command::new(binaries.join("initdb"));
        initdb.args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        initdb.arg("--pgdata").arg(server.data());
        succeed(&mut as_nobody(initdb, server.folder.path()));
        let half = beside.join("half-made");
        let _ = std::fs::remove_dir_all(&half);
        succeed(Command::new("cp").arg("-a").arg(server.data()).arg(&half));
        std::fs::rename(&half, &kept).unwrap();
    }
    kept
}

/// Whether we are root, told from what we just made.
fn is_root(folder: &Path) -> bool {
    let owner = std::fs::metadata(folder).unwrap().uid();
    owner == 0 || owner == NOBODY
}

/// A command as PostgreSQL wants it run: not by root.
fn as_nobody(command: Command, folder: &Path) -> Command {
    if !is_root(folder) {
        return command;
    }
    let mut setpriv = Command::new("setpriv");
    setpriv.args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"), "--clear-groups".to_owned()]);
    setpriv.arg("--").arg(command.get_program()).args(command.get_args()).current_dir(folder);
    setpriv
}

fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
