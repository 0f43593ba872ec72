//! What must not be where: the rules of the code map that no compiler checks.

use std::{fs, path::Path};

/// The Rust files below a folder of the workspace, with their text.
fn sources(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut open = vec![root.join(folder)];
    let mut files = vec![];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            files.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(!files.is_empty(), "there is nothing in {folder}");
    files
}

/// No file below `folder` has one of the words in its code, except those whose path has one of `but`.
#[track_caller]
fn check(folder: &str, words: &[&str], but: &[&str]) {
    for (name, text) in sources(folder) {
        if but.iter().any(|part| name.contains(part)) {
            continue;
        }
        // What is tested may use what the code may not.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in lines {
            let found = words.iter().find(|word| line.contains(**word));
            assert!(found.is_none(), "{name} has {found:?}: {line}");
        }
    }
}

#[test]
fn the_engine_reads_no_clock_no_file_no_environment_and_knows_no_wire() {
    let words = [
        "std::time",
        "std::thread",
        "std::fs",
        "std::net",
        "std::env",
        "std::io",
        "Instant",
        "SystemTime",
        "tokio",
        "tonic",
        "prost",
        "herdsman_proto",
        "println!",
        "eprintln!",
        "dbg!",
    ];
    check("service/engine/src", &words, &[]);
}

#[test]
fn unsafe_code_is_in_the_kernels_and_at_the_allocator_only() {
    check("service/engine/src", &["unsafe {", "unsafe fn"], &["kernel/"]);
    check("service/server/src", &["unsafe"], &["server/src/memory.rs"]);
    check("client/src", &["unsafe"], &[]);
}

#[test]
fn only_the_wire_layer_builds_a_status() {
    check(
        "service/server/src",
        &["Status::new", "Status::with", "Status::from_error"],
        &["grpc/status.rs"],
    );
}

#[test]
fn only_compute_starts_cpu_work() {
    check(
        "service/server/src",
        &["rayon", "spawn_blocking", "thread::spawn", "thread::Builder"],
        // What `saved` starts waits for a disk, and what `log` starts for whoever reads the log.
        &["compute.rs", "saved/", "log.rs"],
    );
}

#[test]
fn the_client_does_not_know_the_engine() {
    check("client/src", &["herdsman_engine", "herdsman_server"], &[]);
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../client/Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap();
    let dependencies = manifest.split("[dependencies]").nth(1).unwrap();
    let dependencies = dependencies.split("\n[").next().unwrap();
    assert!(!dependencies.contains("herdsman-engine") && !dependencies.contains("herdsman-server"));
}

/// Troubles of the transport, of caches and of memory take a server under load or under attack, so they are no rows of
/// `cases/open.jsonl`: each is a test of the service or a trial of endurance, which names it.
#[test]
fn every_trouble_that_is_no_row_has_a_test_or_a_trial() {
    let places = [sources("service/server/tests/service"), sources("benches/src/bin/endurance")];
    for number in (95..=117).step_by(2) {
        let trouble = format!("RB-{number:03}");
        let named = places.iter().flatten().any(|(_, text)| text.contains(&trouble));
        assert!(named, "nothing tries {trouble}");
    }
}
