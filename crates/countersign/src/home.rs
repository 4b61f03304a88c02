//! The user's configuration: signing keys, and the checkpoints that were kept. Never in the project, so that whoever may
//! write there cannot replace what it is verified with.

use anyhow::{Context, bail};
use countersign_ledger::{Checkpoint, PublicKey, SecretKey};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The user's configuration folder.
#[derive(Debug, Clone)]
pub struct Home(PathBuf);

impl Home {
    /// `COUNTERSIGN_HOME`, or `countersign` in the folder where configuration is kept.
    pub fn find() -> anyhow::Result<Self> {
        let named = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let home = named("COUNTERSIGN_HOME")
            .or_else(|| Some(named("XDG_CONFIG_HOME")?.join("countersign")))
            .or_else(|| Some(named("HOME")?.join(".config").join("countersign")));
        home.map(Self).context("there is no place for keys: neither HOME nor COUNTERSIGN_HOME is set")
    }

    /// A folder in it.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn key_path(&self, project: &str) -> PathBuf {
        self.0.join("keys").join(format!("{project}.key"))
    }

    /// Where a public key of a project lies. One that was replaced stays: what it signed is still to be verified.
    pub fn public_path(&self, project: &str, key: &PublicKey) -> PathBuf {
        self.0.join("keys").join(format!("{project}.{}.pub", key.id()))
    }

    fn checkpoint_path(&self, project: &str) -> PathBuf {
        self.0.join("checkpoints").join(format!("{project}.note"))
    }

    /// The project's keys, made if there are none. Only their owner may read the secret one.
    pub fn make_keys(&self, project: &str) -> anyhow::Result<PublicKey> {
        // The id becomes the name of a file, and may come from somebody else's export.
        if let Some(why) = countersign_ledger::project_fault(project) {
            bail!("this is no id of a project: {why}");
        }
        let path = self.key_path(project);
        if !path.exists() {
            let (secret, _) = SecretKey::generate(project);
            private_folder(&self.0.join("keys"))?;
            // Of several who make one at once, the first has made it.
            private_file(&path, &format!("{secret}\n"))
                .or_else(|error| if path.exists() { Ok(()) } else { Err(error) })?;
        }
        let public = SecretKey::public(&read_private(&path)?)?;
        let beside = self.public_path(project, &public);
        if !beside.exists() {
            crate::files::write(&beside, &format!("{public}\n"))?;
        }
        Ok(public)
    }

    /// The key that signs a project's checkpoints, if it is here.
    pub fn secret_key(&self, project: &str) -> anyhow::Result<Option<SecretKey>> {
        let path = self.key_path(project);
        if !path.exists() {
            return Ok(None);
        }
        Ok(Some(SecretKey::parse(&read_private(&path)?)?))
    }

    /// All public keys that are here.
    pub fn public_keys(&self) -> anyhow::Result<Vec<PublicKey>> {
        let Ok(entries) = std::fs::read_dir(self.0.join("keys")) else { return Ok(Vec::new()) };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let public = paths.filter(|path| path.extension().is_some_and(|it| it == "pub"));
        public.map(|path| read_public(&path)).collect()
    }

    /// The last checkpoint that was kept of a project.
    pub fn kept_checkpoint(&self, project: &str) -> anyhow::Result<Option<Checkpoint>> {
        let path = self.checkpoint_path(project);
        if !path.exists() {
            return Ok(None);
        }
        let note = std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        let checkpoint = Checkpoint::open(&note, &self.public_keys()?);
        Ok(Some(checkpoint.with_context(|| format!("the kept checkpoint {} cannot be used", path.display()))?))
    }

    /// Keeps a checkpoint, unless a later one is here.
    pub fn keep_checkpoint(&self, checkpoint: &Checkpoint, note: &str) -> anyhow::Result<()> {
        let earlier = self.kept_checkpoint(&checkpoint.project)?;
        if earlier.is_some_and(|it| it.size >= checkpoint.size) {
            return Ok(());
        }
        private_folder(&self.0.join("checkpoints"))?;
        crate::files::write(&self.checkpoint_path(&checkpoint.project), note)
    }

    fn pin_path(&self, root: &Path) -> PathBuf {
        let name = countersign_ledger::Hash::of(root.as_os_str().as_encoded_bytes()).hex();
        self.0.join("projects").join(&name[..32])
    }

    /// The project that a directory was made, if it was: a ledger of another one in its place is then found out.
    pub fn pinned(&self, root: &Path) -> Option<String> {
        let text = std::fs::read_to_string(self.pin_path(root)).ok()?;
        text.lines().next().map(str::to_owned)
    }

    /// Remembers which project a directory is.
    pub fn pin(&self, root: &Path, project: &str) -> anyhow::Result<()> {
        private_folder(&self.0.join("projects"))?;
        crate::files::write(&self.pin_path(root), &format!("{project}\n{}\n", root.display()))
    }

    /// Holds off whoever else would make the same directory a project, as long as what is given back is kept.
    pub fn hold(&self, root: &Path) -> anyhow::Result<std::fs::File> {
        private_folder(&self.0.join("projects"))?;
        let path = self.pin_path(root).with_extension("lock");
        let file = std::fs::File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.with_context(|| format!("{} cannot be written", path.display()))?;
        file.lock().with_context(|| format!("{} cannot be locked", path.display()))?;
        Ok(file)
    }

    /// Whether this user has named a database before. A file in the project may not choose where a password is sent.
    pub fn trusts(&self, address: &str) -> bool {
        let known = std::fs::read_to_string(self.0.join("databases")).unwrap_or_default();
        known.lines().any(|line| line == address)
    }

    /// Remembers a database that this user named.
    pub fn trust(&self, address: &str) -> anyhow::Result<()> {
        if self.trusts(address) {
            return Ok(());
        }
        private_folder(&self.0)?;
        let path = self.0.join("databases");
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        crate::files::write(&path, &format!("{known}{address}\n"))
    }

    /// What is wrong with the permissions of what lies here.
    pub fn permission_faults(&self) -> Vec<(PathBuf, String)> {
        let Ok(entries) = std::fs::read_dir(self.0.join("keys")) else { return Vec::new() };
        let keys = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|it| it.extension().is_some_and(|it| it == "key"));
        keys.filter_map(|path| open_to_others(&path).map(|mode| (path, format!("others may use it (mode {mode:o})"))))
            .collect()
    }
}

/// Reads a public key from a file.
pub fn read_public(path: &Path) -> anyhow::Result<PublicKey> {
    let text = crate::files::text(path)?;
    PublicKey::parse(&text).with_context(|| format!("{} is not right", path.display()))
}

fn read_private(path: &Path) -> anyhow::Result<String> {
    if let Some(mode) = open_to_others(path) {
        bail!(
            "the signing key {} may be used by others (mode {mode:o}); run `chmod 600` on it, and make a new one if somebody did",
            path.display()
        );
    }
    std::fs::read_to_string(path).with_context(|| format!("the signing key {} cannot be read", path.display()))
}

/// The mode of a file that somebody else than its owner may read or write.
#[cfg(unix)]
pub fn open_to_others(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

#[cfg(not(unix))]
pub fn open_to_others(_path: &Path) -> Option<u32> {
    None
}

/// Makes a folder that only its owner may look into.
pub fn private_folder(path: &Path) -> anyhow::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).with_context(|| format!("{} cannot be made", path.display()))
}

/// Writes a new file that only its owner may read, whole or not at all.
pub fn private_file(path: &Path, text: &str) -> anyhow::Result<()> {
    let context = || format!("{} cannot be written", path.display());
    let folder = path.parent().unwrap_or(Path::new("."));
    // Temporary files are made for their owner alone.
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(context)?;
    file.write_all(text.as_bytes()).with_context(context)?;
    file.as_file().sync_all().with_context(context)?;
    file.persist_noclobber(path).with_context(context)?;
    let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}
