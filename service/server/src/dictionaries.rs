//! The lists of words that the server has: read from files at the start, and named by requests.
//!
//! Owns files and names. What a file may hold is the engine's `WordList::read`; lists that come in requests are
//! `grpc::rules`.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    str::FromStr,
};

use herdsman_engine::{Form, Rules, WordList, WordsReport};

/// The most characters of a name.
const MAX_NAME: usize = 40;

/// Where a dictionary is: as text, `NAME=SECRETS` or `NAME=SECRETS,guesses=GUESSES`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DictionaryFiles {
    /// The name that requests use: 1 to 40 of `a-z`, `0-9` and `-`.
    pub name: String,
    /// The words that can be the secret.
    pub secrets: PathBuf,
    /// Words that may be guessed beside them.
    pub guesses: Option<PathBuf>,
}

impl FromStr for DictionaryFiles {
    type Err = String;

    fn from_str(text: &str) -> Result<DictionaryFiles, String> {
        let form = "write NAME=FILE or NAME=FILE,guesses=FILE";
        let (name, files) = text.split_once('=').ok_or(form)?;
        let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !(1..=MAX_NAME).contains(&name.len()) || !name.chars().all(known) {
            return Err(format!(
                "{name:?} cannot be the name of a dictionary: it is 1 to {MAX_NAME} of a-z, 0-9 and `-`"
            ));
        }
        let (secrets, guesses) = match files.rsplit_once(",guesses=") {
            Some((secrets, guesses)) => (secrets, Some(guesses)),
            None => (files, None),
        };
        if secrets.is_empty() || guesses.is_some_and(str::is_empty) {
            return Err(format!("the name of a file is missing: {form}"));
        }
        let guesses = guesses.map(PathBuf::from);
        Ok(DictionaryFiles { name: name.to_owned(), secrets: secrets.into(), guesses })
    }
}

/// A list of words with a name.
#[derive(Debug)]
pub(crate) struct Dictionary {
    pub(crate) name: String,
    pub(crate) words: WordList,
    /// What was left out when it was read.
    pub(crate) report: WordsReport,
}

/// All lists of the server.
#[derive(Debug, Default)]
pub(crate) struct Dictionaries(Vec<Dictionary>);

/// What is wrong with the files, all of it.
#[derive(Debug, thiserror::Error)]
pub(crate) struct Unreadable(Vec<String>);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of the dictionaries cannot be used:", self.0.len())?;
        self.0.iter().try_for_each(|mistake| write!(f, "\n  {mistake}"))
    }
}

impl Dictionaries {
    /// Reads the files, each of at most `max_bytes`, and logs what was left out.
    ///
    /// # Errors
    /// [`Unreadable`] names every dictionary that makes no game, with the file and, where there is one, the line.
    pub(crate) fn read(
        all: &[DictionaryFiles],
        max_bytes: u64,
    ) -> Result<Dictionaries, Unreadable> {
        let (mut dictionaries, mut mistakes) = (vec![], vec![]);
        for files in all {
            match read(files, max_bytes) {
                Ok(dictionary) => dictionaries.push(dictionary),
                Err(mistake) => mistakes.push(format!("{}: {mistake}", files.name)),
            }
        }
        if !mistakes.is_empty() {
            return Err(Unreadable(mistakes));
        }
        for Dictionary { name, words, report } in &dictionaries {
            let guesses = report.guesses.as_ref().map(ToString::to_string).unwrap_or_default();
            let letters = words.letters();
            tracing::info!(%name, letters, secrets = %report.secrets, %guesses, "dictionary");
        }
        Ok(Dictionaries(dictionaries))
    }

    /// All of them, in the order of the settings.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Dictionary> {
        self.0.iter()
    }

    /// The list of this name.
    pub(crate) fn words(&self, name: &str) -> Option<&WordList> {
        self.iter().find(|dictionary| dictionary.name == name).map(|dictionary| &dictionary.words)
    }

    /// The name of a list.
    pub(crate) fn name(&self, words: &WordList) -> Option<&str> {
        let own = self.iter().find(|dictionary| dictionary.words == *words);
        own.map(|dictionary| dictionary.name.as_str())
    }

    /// A list from a request, or the server's own if it is the same: of that there need be one only.
    pub(crate) fn own(&self, words: WordList) -> WordList {
        let own = self.iter().map(|dictionary| &dictionary.words).find(|own| **own == words);
        own.cloned().unwrap_or(words)
    }

    /// Bytes of the words of these rules which are there for their sake alone: of those of a dictionary, none.
    pub(crate) fn bytes_beside(&self, rules: &Rules) -> usize {
        match rules.form() {
            Form::Words(words) if !self.iter().any(|own| own.words == *words) => words.memory(),
            _ => 0,
        }
    }
}

fn read(files: &DictionaryFiles, max_bytes: u64) -> Result<Dictionary, String> {
    let secrets = bytes(&files.secrets, max_bytes)?;
    let guesses = files.guesses.as_ref().map(|path| bytes(path, max_bytes)).transpose()?;
    let read = WordList::read(&secrets, guesses.as_deref()).map_err(|error| {
        let path = match (error.field().as_str(), &files.guesses) {
            ("guesses", Some(path)) => path,
            _ => &files.secrets,
        };
        format!("{}: {error}", path.display())
    });
    let (words, report) = read?;
    Ok(Dictionary { name: files.name.clone(), words, report })
}

fn bytes(path: &Path, max_bytes: u64) -> Result<Vec<u8>, String> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // Not what the file system says of its size: it may be no plain file.
        File::open(path)?.take(max_bytes + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| format!("{}: {error}", path.display()))?;
    if bytes.len() as u64 > max_bytes {
        let path = path.display();
        return Err(format!(
            "{path}: the file has more than {max_bytes} bytes: shorten it, or allow more with --max-dictionary-bytes"
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dictionary_is_a_name_and_one_file_or_two() {
        let read = |text: &str| text.parse::<DictionaryFiles>();
        let files = read("daily-5=/a=b,c.txt,guesses=d.txt").unwrap();
        assert_eq!((files.name.as_str(), files.secrets), ("daily-5", "/a=b,c.txt".into()));
        assert_eq!(files.guesses, Some("d.txt".into()));
        assert_eq!(read("x=y").unwrap().guesses, None);
        let long = format!("{}=y", "x".repeat(41));
        for bad in ["", "words.txt", "=y", "Words=y", "é=y", "a b=y", "x=", "x=y,guesses=", &long]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
