//! Who holds which token, from a file of hashes that is read again when it changes.
//!
//! Owns the file and the comparison. What a holder may do is decided where it is asked. No token is ever held for
//! longer than a call, logged, or written into an error.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use sha2::{Digest as _, Sha256};
use subtle::{ConditionallySelectable as _, ConstantTimeEq as _};
use tokio::time::{MissedTickBehavior, interval};

/// The largest file in bytes: room for a thousand tokens. Each call is compared with all, in some 10 us.
const MAX_FILE_BYTES: u64 = 128 << 10;
/// The most characters of a name, so that a line of the log stays a line.
const MAX_NAME: usize = 64;
/// How often the file is looked at. That takes microseconds.
const LOOK: Duration = Duration::from_secs(1);

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// To call the solver.
    Solve,
    /// That, and to read the metrics.
    Admin,
}

/// Who holds a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    /// The name, which may have several tokens.
    pub(crate) name: Arc<str>,
    pub(crate) role: Role,
}

type Hash = [u8; 32];

/// The lines of a file: who holds the token with this hash.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct List(Vec<(Holder, Hash)>);

/// What is wrong with a file of tokens, all of it.
#[derive(Debug, thiserror::Error)]
pub(crate) struct Unusable {
    path: PathBuf,
    mistakes: Vec<String>,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the tokens in {} cannot be used:", self.path.display())?;
        self.mistakes.iter().try_for_each(|mistake| write!(f, "\n  {mistake}"))
    }
}

impl List {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Unusable`] names every line that is wrong.
    pub(crate) fn read(path: &Path) -> Result<List, Unusable> {
        let text = read(path).map_err(|error| vec![error.to_string()]);
        let list = text.and_then(|text| List::parse(&text));
        list.map_err(|mistakes| Unusable { path: path.to_owned(), mistakes })
    }

    fn parse(text: &str) -> Result<List, Vec<String>> {
        let mut list: Vec<(Holder, Hash)> = Vec::new();
        let mut mistakes = Vec::new();
        for (at, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default();
            let fields: Vec<_> = line.split_whitespace().collect();
            if fields.is_empty() {
                continue;
            }
            match parse_line(&fields) {
                Ok((_, hash)) if list.iter().any(|(_, before)| *before == hash) => {
                    mistakes.push(format!("line {at}: an earlier line has the same token"));
                }
                Ok(entry) => list.push(entry),
                // What is written there may be a token, so it is not repeated.
                Err(mistake) => mistakes.push(format!("line {at}: {mistake}")),
            }
        }
        if list.is_empty() && mistakes.is_empty() {
            mistakes.push("there is none: write a line `NAME ROLE SHA256`".to_owned());
        }
        if mistakes.is_empty() { Ok(List(list)) } else { Err(mistakes) }
    }

    /// Who holds a token. How long that takes tells nothing of those in the list.
    fn holder(&self, token: &[u8]) -> Option<&Holder> {
        let hash = hash(token);
        let mut found = u32::MAX;
        for (at, (_, known)) in (0..).zip(&self.0) {
            found.conditional_assign(&at, known[..].ct_eq(&hash[..]));
        }
        self.0.get(found as usize).map(|(holder, _)| holder)
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let length = File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)?;
    if length as u64 > MAX_FILE_BYTES {
        let problem = format!("it is larger than {MAX_FILE_BYTES} bytes: leave out old tokens");
        return Err(io::Error::other(problem));
    }
    Ok(text)
}

fn parse_line(fields: &[&str]) -> Result<(Holder, Hash), String> {
    let &[name, role, digits] = fields else {
        return Err("write NAME ROLE SHA256 and nothing else".to_owned());
    };
    let fit = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.len() > MAX_NAME || !name.bytes().all(fit) {
        return Err(format!(
            "a name is up to {MAX_NAME} of a-z, A-Z, 0-9, `-`, `_` and `.`, and comes first"
        ));
    }
    let role = match role {
        "solve" => Role::Solve,
        "admin" => Role::Admin,
        _ => return Err("the role, which comes second, is solve or admin".to_owned()),
    };
    let hash_of_it = parse_hash(digits).ok_or(
        "the SHA-256 of the token is wanted, never the token itself: 64 hexadecimal digits, as `printf %s TOKEN | \
         sha256sum` prints them",
    )?;
    if hash_of_it == hash(b"") {
        return Err("that is the SHA-256 of nothing: the token was empty".to_owned());
    }
    Ok((Holder { name: name.into(), role }, hash_of_it))
}

fn parse_hash(digits: &str) -> Option<Hash> {
    if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(digits.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(hash)
}

fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// The tokens in force.
pub(crate) struct Tokens {
    path: PathBuf,
    list: RwLock<List>,
    /// The file as it was last seen: the hash of its text, or what was wrong with it.
    seen: Mutex<Result<Hash, String>>,
}

impl Tokens {
    /// Reads the tokens of a file.
    ///
    /// # Errors
    /// [`Unusable`], as [`List::read`].
    pub(crate) fn new(path: &Path) -> Result<Tokens, Unusable> {
        let list = RwLock::new(List::read(path)?);
        Ok(Tokens { path: path.to_owned(), list, seen: Mutex::new(Err(String::new())) })
    }

    /// Who sends these headers, by `authorization: Bearer TOKEN`; the word in any case, as HTTP has it.
    pub(crate) fn holder(&self, headers: &http::HeaderMap) -> Option<Holder> {
        let (scheme, token) = headers.get("authorization")?.to_str().ok()?.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        list.holder(token.trim().as_bytes()).cloned()
    }

    /// Reads the file again whenever it changes, for ever. One that cannot be used leaves things as they are.
    pub(crate) async fn follow(&self) {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.look();
        }
    }

    /// Looks at the text and not at its time, which may stay the same: it is as cheap.
    fn look(&self) {
        let text = read(&self.path);
        let now = match &text {
            Ok(text) => Ok(hash(text.as_bytes())),
            Err(error) => Err(error.to_string()),
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == now {
            return;
        }
        *seen = now;
        match text.map_err(|error| vec![error.to_string()]).and_then(|text| List::parse(&text)) {
            Ok(new) => {
                let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
                if *list != new {
                    tracing::info!(tokens = new.0.len(), "tokens have changed");
                    *list = new;
                }
            }
            Err(mistakes) => {
                let error = Unusable { path: self.path.clone(), mistakes };
                tracing::warn!(%error, "the tokens stay as they were");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, role: &str, token: &str) -> String {
        let digits: String = hash(token.as_bytes()).iter().map(|b| format!("{b:02x}")).collect();
        format!("{name} {role} {digits}\n")
    }

    #[test]
    fn a_token_is_its_holders_and_one_name_may_have_several() {
        let text = format!(
            "# old and new\n{}{}\n  {} # the scraper\r\n",
            line("bot", "solve", "old"),
            line("bot", "solve", "new").to_uppercase().replace("BOT SOLVE", "bot solve"),
            line("prometheus", "admin", "third").trim_end()
        );
        let list = List::parse(&text).unwrap();
        for (token, name, role) in [
            ("old", "bot", Role::Solve),
            ("new", "bot", Role::Solve),
            ("third", "prometheus", Role::Admin),
        ] {
            let holder = Holder { name: name.into(), role };
            assert_eq!(list.holder(token.as_bytes()), Some(&holder), "{token}");
        }
        for token in ["", "ol", "old ", "OLD", "bot"] {
            assert_eq!(list.holder(token.as_bytes()), None, "{token}");
        }
    }

    #[test]
    fn every_bad_line_is_told_by_its_number_and_none_is_repeated() {
        let secret = "correct-horse-battery-staple";
        let good = line("bot", "solve", "token");
        let text = format!(
            "{good}{secret}\nbot {secret} x\nbot solve {secret}\nb{secret}! solve x\n{good}{}{} -\n",
            line("x", "solve", ""),
            line("y", "solve", "z").trim_end(),
        );
        let mistakes = List::parse(&text).unwrap_err();
        assert_eq!(mistakes.len(), 7);
        for (mistake, (line, word)) in mistakes.iter().zip([
            (2, "NAME ROLE SHA256"),
            (3, "solve or admin"),
            (4, "sha256sum"),
            (5, "a name"),
            (6, "same token"),
            (7, "empty"),
            (8, "nothing else"),
        ]) {
            assert!(mistake.starts_with(&format!("line {line}: ")), "{mistake}");
            assert!(mistake.contains(word) && !mistake.contains(secret), "{mistake}");
        }
        for nothing in ["", "\n# nobody\n"] {
            assert!(List::parse(nothing).unwrap_err()[0].contains("NAME ROLE SHA256"));
        }
    }

    #[test]
    fn a_file_that_breaks_leaves_the_tokens_in_force() {
        let path = std::env::temp_dir().join(format!("herdsman-tokens-{}", std::process::id()));
        let tokens = || std::fs::write(&path, line("bot", "solve", "one"));
        tokens().unwrap();
        let in_force = Tokens::new(&path).unwrap();
        let is_known = |token: &str| {
            in_force.look();
            in_force.list.read().unwrap().holder(token.as_bytes()).is_some()
        };
        assert!(is_known("one") && !is_known("two"));
        for broken in [&b""[..], b"two", b"\xff", &[b'#'; 200_000]] {
            std::fs::write(&path, broken).unwrap();
            assert!(is_known("one"));
        }
        std::fs::remove_file(&path).unwrap();
        assert!(is_known("one"));
        std::fs::write(&path, line("bot", "solve", "two")).unwrap();
        assert!(is_known("two") && !is_known("one"));
        tokens().unwrap();
        assert!(is_known("one"));
        std::fs::remove_file(&path).unwrap();
        assert!(Tokens::new(&path).is_err_and(|e| e.to_string().contains("herdsman-tokens-")));
    }
}
