//! Tells the program what it was built from: what another one computed may not be what this one would.

use std::{
    error::Error,
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
};

/// All that decides an answer.
const SOURCES: [&str; 4] = ["src", "../engine/src", "../../proto", "../../Cargo.lock"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut hasher = DefaultHasher::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        for file in files(Path::new(source))? {
            (file.to_string_lossy(), fs::read(&file)?).hash(&mut hasher);
        }
    }
    // Not a name of a setting: Cargo gives it to the programs that it runs, too.
    println!("cargo::rustc-env=SOURCES_HASH={:016x}", hasher.finish());
    Ok(())
}

/// The files below a path, in an order that is the same everywhere.
fn files(path: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut all = vec![];
    for entry in fs::read_dir(path)? {
        all.extend(files(&entry?.path())?);
    }
    all.sort_unstable();
    Ok(all)
}
