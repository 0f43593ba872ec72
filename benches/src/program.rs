//! The programs of this workspace, and what the system knows of a process.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Builds a package, as it is released or for tests, and tells the folder that its programs are in.
///
/// # Errors
/// If it does not build.
pub fn build(package: &str, release: bool) -> Result<PathBuf, Box<dyn Error>> {
    let built = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["build", "--quiet", "--package", package])
        .args(release.then_some("--release"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()?;
    if !built.success() {
        return Err(format!("{package} does not build").into());
    }
    // This program is in the folder of its own profile: target/debug or target/release.
    let program = env::current_exe()?;
    let target = program.ancestors().nth(2).ok_or("this program is in no folder")?;
    Ok(target.join(if release { "release" } else { "debug" }))
}

/// A number of `/proc/PROCESS/status`, such as `VmHWM:`, the most memory in KiB; 0 where the system does not tell.
pub fn process_status(process: &str, name: &str) -> u64 {
    let status = fs::read_to_string(Path::new("/proc").join(process).join("status"));
    let status = status.unwrap_or_default();
    let value = status.lines().find_map(|line| line.strip_prefix(name));
    value.and_then(|text| text.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
