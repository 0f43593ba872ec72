//! The file that answers are saved in: a seal, and a redb database of one table.
//!
//! Owns what is on the disk. A file is made beside the one of before and takes its place when it is whole, so whatever
//! ends the process leaves one or the other. It is not opened as a database before its seal is found to be right: redb
//! trusts what it reads.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    time::Duration,
};

use redb::{
    Builder, ReadableDatabase as _, ReadableTable as _, StorageBackend as _, TableDefinition,
    backends::InMemoryBackend,
};
use sha2::{Digest as _, Sha256};

use super::Answer;

/// What every file begins with that herdsmand made.
const OURS: &[u8] = b"herdsman saved ";
/// [`OURS`] and the number of the form; it goes up when that changes.
const SEAL: &[u8; 16] = b"herdsman saved 2";
/// The seal: [`SEAL`], who wrote the file, and the hash of both and of all that follows.
const SEAL_BYTES: usize = SEAL.len() + 32 + 32;

/// Answers by their rank: the kind, microseconds of computing, the request, and the reply.
type Row = (u8, u64, &'static [u8], &'static [u8]);
const ANSWERS: TableDefinition<'_, u32, Row> = TableDefinition::new("answers");

/// A database takes more than its answers, in steps that double (measured: 9 MB for 23,000 answers), and an empty one
/// up to so much. What is larger than this and four times the answers that may be saved is not read.
const EMPTY_BYTES: u64 = 4 << 20;

/// Why a file is not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("it was not written by herdsmand: remove it, or name another file")]
    Foreign,
    #[error("it is a directory: name a file in it")]
    Directory,
    #[error("nobody may write in its directory")]
    ReadOnly,
    #[error("another version of herdsmand wrote it, or one with other dictionaries or limits")]
    Other,
    #[error("it is damaged")]
    Damaged,
    #[error("it has more than {0} bytes: allow more with --cache-file-bytes")]
    TooLarge(u64),
    #[error("another server saves to it")]
    Taken,
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Database(#[from] redb::Error),
    #[error("the database panicked")]
    Panicked,
}

/// Where answers are saved.
pub(crate) struct CacheFile {
    path: PathBuf,
    /// Who may use what is in it.
    writer: [u8; 32],
    max_bytes: u64,
    /// Held by the one server that writes the file, until it ends.
    lock: Option<File>,
}

impl CacheFile {
    pub(crate) fn new(path: &Path, writer: [u8; 32], max_bytes: u64) -> CacheFile {
        CacheFile { path: path.to_owned(), writer, max_bytes, lock: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of requests and replies that it has room for.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Hands what was saved to `each`, the dearest first, until that has enough. There need be no file.
    ///
    /// # Errors
    /// [`Unusable`] if there is one of which nothing can be used.
    pub(crate) fn load(&self, each: impl FnMut(Answer) -> bool) -> Result<(), Unusable> {
        let Some(bytes) = self.read()? else { return Ok(()) };
        if !is_ours(&bytes) {
            return Err(Unusable::Foreign);
        }
        let (seal, image) = bytes.split_at_checked(SEAL_BYTES).ok_or(Unusable::Damaged)?;
        if !seal.starts_with(SEAL) {
            return Err(Unusable::Other);
        }
        let (writer, hash) = seal[SEAL.len()..].split_at(32);
        if hash != hash_of(writer, image) {
            return Err(Unusable::Damaged);
        }
        if writer != self.writer {
            return Err(Unusable::Other);
        }
        whole(|| read_database(image, each))
    }

    /// The bytes of the file, if there is one.
    fn read(&self) -> Result<Option<Vec<u8>>, Unusable> {
        let Some(file) = self.open()? else { return Ok(None) };
        let most = 4 * self.max_bytes + EMPTY_BYTES;
        let mut bytes = vec![];
        file.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most { Err(Unusable::TooLarge(most)) } else { Ok(Some(bytes)) }
    }

    fn open(&self) -> Result<Option<File>, Unusable> {
        match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
            Ok(file) if file.is_dir() => Err(Unusable::Directory),
            // Others may never end, or never begin.
            Ok(file) if !file.is_file() => Err(Unusable::Foreign),
            Ok(_) => Ok(Some(File::open(&self.path)?)),
        }
    }

    /// Becomes the one server that writes the file, if no other is. The lock is on a file beside it, which stays: this
    /// one is replaced at each save.
    ///
    /// # Errors
    /// [`Unusable::Taken`], or why no file can be made there.
    pub(crate) fn lock(&mut self) -> Result<(), Unusable> {
        if self.lock.is_none() {
            let mut options = OpenOptions::new();
            let lock = options.create(true).append(true).open(self.beside(".lock"))?;
            lock.try_lock().map_err(|error| match error {
                TryLockError::WouldBlock => Unusable::Taken,
                TryLockError::Error(error) => error.into(),
            })?;
            self.lock = Some(lock);
        }
        Ok(())
    }

    /// Makes the file hold these answers and no others; the one of before stays if that fails.
    ///
    /// # Errors
    /// [`Unusable`], also if what is there was not written by herdsmand: that is never replaced.
    pub(crate) fn save(&mut self, answers: &[Answer]) -> Result<(), Unusable> {
        self.lock()?;
        self.check_replaceable()?;
        let new = self.beside(".new");
        let saved = remove(&new)
            .map_err(Unusable::from)
            .and_then(|()| whole(|| write_database(&new, answers)))
            .and_then(|()| Ok(self.seal(&new)?))
            .and_then(|()| Ok(fs::rename(&new, &self.path)?));
        if saved.is_err() {
            // It may hold the last bytes of a disk.
            let _ = remove(&new);
        }
        saved
    }

    /// Whether answers can be saved there, as far as that shows without writing anything.
    ///
    /// # Errors
    /// [`Unusable`] if what is there is not ours, or there is no directory for it.
    pub(crate) fn check(&self) -> Result<(), Unusable> {
        self.check_replaceable()?;
        let named = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = fs::metadata(named.unwrap_or(Path::new(".")))?;
        if directory.permissions().readonly() { Err(Unusable::ReadOnly) } else { Ok(()) }
    }

    /// There may be no file, or an empty one, or one that herdsmand made, whatever became of it since.
    fn check_replaceable(&self) -> Result<(), Unusable> {
        let Some(file) = self.open()? else { return Ok(()) };
        let mut start = vec![];
        file.take(OURS.len() as u64).read_to_end(&mut start)?;
        if is_ours(&start) { Ok(()) } else { Err(Unusable::Foreign) }
    }

    /// Puts the seal before a database.
    fn seal(&self, path: &Path) -> io::Result<()> {
        let image = fs::read(path)?;
        let mut file = File::create(path)?;
        for part in [&SEAL[..], &self.writer, &hash_of(&self.writer, &image), &image] {
            file.write_all(part)?;
        }
        file.sync_all()
    }

    /// The path with something behind its name.
    fn beside(&self, end: &str) -> PathBuf {
        let mut path = OsString::from(&self.path);
        path.push(end);
        path.into()
    }
}

/// Whether herdsmand made a file of these bytes, of which some may be gone since.
fn is_ours(bytes: &[u8]) -> bool {
    bytes.starts_with(OURS) || OURS.starts_with(bytes)
}

fn hash_of(writer: &[u8], image: &[u8]) -> [u8; 32] {
    let hash = Sha256::new().chain_update(SEAL).chain_update(writer).chain_update(image);
    hash.finalize().into()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// What a database has to say, if it does not panic.
fn whole(work: impl FnOnce() -> Result<(), redb::Error>) -> Result<(), Unusable> {
    // Nothing that it leaves behind is used again.
    let outcome = catch_unwind(AssertUnwindSafe(work)).map_err(|_| Unusable::Panicked)?;
    Ok(outcome?)
}

fn read_database(image: &[u8], mut each: impl FnMut(Answer) -> bool) -> Result<(), redb::Error> {
    let memory = InMemoryBackend::new();
    memory.set_len(image.len() as u64)?;
    memory.write(0, image)?;
    let database = Builder::new().set_cache_size(0).open_read_only_with_backend(memory)?;
    let table = database.begin_read()?.open_table(ANSWERS)?;
    for row in table.iter()? {
        let (_, row) = row?;
        let (kind, micros, request, reply) = row.value();
        let took = Duration::from_micros(micros);
        if !each(Answer { kind, took, request: request.to_vec(), reply: reply.to_vec() }) {
            break;
        }
    }
    Ok(())
}

fn write_database(path: &Path, answers: &[Answer]) -> Result<(), redb::Error> {
    let database = Builder::new().set_cache_size(1 << 20).create(path)?;
    let writing = database.begin_write()?;
    {
        let mut table = writing.open_table(ANSWERS)?;
        for (rank, Answer { kind, took, request, reply }) in (0..).zip(answers) {
            let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
            table.insert(rank, (*kind, micros, request.as_slice(), reply.as_slice()))?;
        }
    }
    writing.commit()?;
    Ok(database.close()?)
}
