//! The examples of the README: the commands in its `console` blocks print what stands below them.

#![cfg(unix)]

use std::{env, path::Path, process::Command, sync::mpsc, thread};

use herdsman_server::Config;

/// The address of a new server, which ends with the tests.
fn serve() -> String {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            herdsman_server::run(listener, Config::default(), std::future::pending()).await
        })
    });
    format!("http://{}", told.recv().unwrap())
}

/// What a shell shows of a command, with this program in the search path.
fn shown(command: &str, server: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_herdsman")).parent().unwrap();
    let path = env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap())
        .env("PATH", format!("{}:{path}", program.display()))
        .env("HERDSMAN_SERVER", server)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_example_of_the_readme_prints_what_it_says() {
    let server = serve();
    let readme = include_str!("../../README.md");
    let blocks = readme.split("```console\n").skip(1);
    let blocks = blocks.map(|block| block.split_once("```").expect("a block ends").0);
    let examples: Vec<_> =
        blocks.flat_map(|block| block.strip_prefix("$ ").unwrap().split("\n$ ")).collect();
    assert!(!examples.is_empty());
    // In order: whether an answer comes from the cache depends on what was asked before.
    for example in examples {
        let (command, output) = example.split_once('\n').unwrap();
        assert_eq!(shown(command, &server).trim_end(), output.trim_end(), "$ {command}");
    }
}
