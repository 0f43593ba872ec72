//! A server that asks for a token.

use herdsman_server::Config;

use super::{Run, file, program, serve_with};

/// The SHA-256 of `s3cret`.
const HASH: &str = "1ec1c26b50d5d3c58d9583181af8076655fe00756bf7285940ba3670f99fcba0";

#[test]
fn a_token_comes_from_a_file_or_the_environment_and_without_one_the_exit_code_is_6() {
    let tokens = file("tokens", &format!("bot solve {HASH}\n"));
    let (server, _) = serve_with(Config { tokens: Some(tokens), ..Config::default() });
    let right = file("right", "s3cret\n");
    let wrong = file("wrong", "s3cret2");
    let score = |option: &str, variable: &str| -> Run {
        let mut command = program(&server, &format!("score 5072 5279 {option}"));
        let output = command.env("HERDSMAN_TOKEN", variable).output().unwrap();
        output.into()
    };
    let file = |path: &std::path::Path| format!("--token-file {}", path.display());
    for (option, variable) in [(file(&right), ""), (String::new(), "s3cret"), (file(&right), "no")]
    {
        let run = score(&option, variable);
        assert_eq!((run.code, run.out.as_str()), (Some(0), "2b1c\n"), "{}", run.err);
    }
    for (option, variable) in [(String::new(), ""), (file(&wrong), "s3cret"), (String::new(), "x")]
    {
        let run = score(&option, variable);
        assert_eq!((run.code, run.out.as_str()), (Some(6), ""), "{}", run.err);
        assert!(run.err.contains("--token-file") && !run.err.contains("s3cret2"), "{}", run.err);
    }
    let run = score("--token-file no-such-file", "");
    assert!(run.code == Some(2) && run.err.contains("no-such-file"), "{}", run.err);
    let run = score("--server http://herdsman.example", "s3cret");
    assert!(run.code == Some(2) && run.err.contains("https://"), "{}", run.err);
}
