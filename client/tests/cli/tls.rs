//! Servers at https://: whom the program trusts, who it says it is, and what it says when that does not fit.

use std::{
    fs,
    process::Command,
    sync::{LazyLock, mpsc},
    thread,
};

use herdsman_server::{Config, Server};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tokio::runtime::Runtime;

use crate::{Run, SERVER, file, run};

/// An authority with what it signed, as files, and a server of each kind that live as long as the tests.
struct Servers {
    ca: String,
    /// A certificate and its key, of a client or of a server.
    cert: String,
    key: String,
    /// The address of one that lets everybody in, and of one that wants a certificate.
    open: String,
    mutual: String,
}

static SERVERS: LazyLock<Servers> = LazyLock::new(|| {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "the tests");
    let key = KeyPair::generate().unwrap();
    let path = |name: &str, text: &str| file(name, text).display().to_string();
    let ca = path("ca.pem", &params.self_signed(&key).unwrap().pem());
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let names = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    let cert = path("cert.pem", &names.signed_by(&key, &issuer).unwrap().pem());
    let key = path("key.pem", &key.serialize_pem());
    let config = Config {
        tls_cert: Some((&cert).into()),
        tls_key: Some((&key).into()),
        ..Config::default()
    };
    let mutual = serve(Config { tls_client_ca: Some((&ca).into()), ..config.clone() });
    Servers { open: serve(config), mutual, ca, cert, key }
});

fn serve(config: Config) -> String {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        Runtime::new().unwrap().block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let server = Server::new(config).unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            server.serve(listener, std::future::pending()).await.unwrap();
        });
    });
    format!("https://{}", told.recv().unwrap())
}

const SCORE: &str = "score 5072 5279";

#[track_caller]
fn answers(run: &Run) {
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), "2b1c\n", ""));
}

/// Checks that a run ends with `code` and says each of `parts`.
#[track_caller]
fn refuses(server: &str, flags: &str, code: i32, parts: &[&str]) {
    let run = run(server, &format!("{SCORE} {flags}"), "");
    assert_eq!((run.code, run.out.as_str()), (Some(code), ""), "{}", run.err);
    for part in parts {
        assert!(run.err.contains(part), "`{part}` is not in: {}", run.err);
    }
}

#[test]
fn a_server_is_trusted_for_its_authority() {
    let Servers { ca, open, .. } = &*SERVERS;
    answers(&run(open, &format!("{SCORE} --ca {ca}"), ""));
    let output = Command::new(env!("CARGO_BIN_EXE_herdsman"))
        .args(SCORE.split(' '))
        .envs([("HERDSMAN_SERVER", open), ("HERDSMAN_CA", ca)])
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"2b1c\n");
    let load = run(open, &format!("load --duration 100ms --connections 2 --ca {ca}"), "");
    assert_eq!(load.code, Some(0), "{}", load.err);
}

#[test]
fn a_server_that_does_not_fit_is_told_with_the_flag_that_helps() {
    let Servers { ca, open, cert, .. } = &*SERVERS;
    refuses(open, &format!("--ca {cert}"), 4, &[open, "not trusted", "--ca"]);
    let other_name = open.replace("127.0.0.1", "localhost");
    refuses(&other_name, &format!("--ca {ca}"), 4, &["another name", "127.0.0.1"]);
    let plain = SERVER.replace("http:", "https:");
    refuses(&plain, &format!("--ca {ca}"), 4, &["no TLS", "http://"]);
    refuses(&open.replace("https:", "http:"), "", 4, &["https://"]);
}

#[test]
fn a_server_that_wants_a_certificate_is_shown_one() {
    let Servers { ca, cert, key, mutual, .. } = &*SERVERS;
    answers(&run(mutual, &format!("{SCORE} --ca {ca} --cert {cert} --key {key}"), ""));
    refuses(mutual, &format!("--ca {ca}"), 4, &["--cert", "--key"]);
}

#[test]
fn a_file_that_cannot_be_used_is_named() {
    let Servers { ca, cert, key, open, .. } = &*SERVERS;
    let broken = fs::read_to_string(cert).unwrap()[..100].to_owned();
    let broken = file("broken.pem", &broken).display().to_string();
    let other = file("other.pem", &KeyPair::generate().unwrap().serialize_pem());
    let other = other.display();
    for (flags, part) in [
        ("--ca no-such-file".to_owned(), "--ca no-such-file"),
        (format!("--ca {key}"), "no certificate"),
        (format!("--ca {broken}"), "broken.pem"),
        (format!("--ca {ca} --cert {cert}"), "--key"),
        (format!("--ca {ca} --cert {cert} --key {cert}"), "no private key"),
        (format!("--ca {ca} --cert {cert} --key {other}"), "--key"),
    ] {
        refuses(open, &flags, 2, &[part]);
    }
    refuses(&SERVER, &format!("--ca {ca}"), 2, &["https://"]);
}
