//! TLS: who is let in, and what becomes of connections when certificates change.

use std::{fs, io::Read as _, process::Command};

use herdsman_proto::v1::GetServerInfoRequest;
use herdsman_server::Config;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use crate::{
    authority::Authority,
    host::{Host, soon},
    program,
};

const ASK: GetServerInfoRequest = GetServerInfoRequest {};

#[tokio::test]
async fn a_client_that_trusts_the_certificate_is_served_and_no_other_is() {
    let ours = Authority::new("trusted");
    let host = Host::start(ours.config()).await;
    soon(ours.connect(host.address, None)).await.unwrap().get_server_info(ASK).await.unwrap();
    assert!(soon(Authority::new("untrusted").connect(host.address, None)).await.is_err());
}

#[tokio::test]
async fn a_port_speaks_tls_or_plaintext_and_not_both() {
    let ours = Authority::new("both");
    let secure = Host::start(ours.config()).await;
    assert!(soon(secure.client().get_server_info(ASK)).await.is_err());
    let plain = Host::start(Config::default()).await;
    assert!(soon(ours.connect(plain.address, None)).await.is_err());
    for noise in [&[0xa7; 64][..], &[0x16, 3, 1, 0, 200, 1], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        for host in [&secure, &plain] {
            let mut connection = TcpStream::connect(host.address).await.unwrap();
            connection.write_all(noise).await.unwrap();
        }
    }
    soon(ours.connect(secure.address, None)).await.unwrap().get_server_info(ASK).await.unwrap();
    soon(plain.client().get_server_info(ASK)).await.unwrap();
}

#[tokio::test]
async fn with_an_authority_of_clients_only_those_are_let_in_that_it_signed() {
    let ours = Authority::new("mutual");
    let config = Config { tls_client_ca: Some(ours.file("ca.pem")), ..ours.config() };
    let host = Host::start(config).await;
    let other = Authority::new("mutual-other");
    for (who, identity, served) in [
        ("nobody", None, false),
        ("a stranger", Some(other.identity()), false),
        ("a client of ours", Some(ours.identity()), true),
    ] {
        // In TLS 1.3 a client learns that it is not let in after it thought it was.
        let called = async {
            ours.connect(host.address, identity).await.ok()?.get_server_info(ASK).await.ok()
        };
        assert_eq!(soon(called).await.is_some(), served, "{who}");
    }
}

#[tokio::test]
async fn a_new_certificate_serves_new_connections_and_disturbs_no_old_one() {
    let old = Authority::new("old");
    let host = Host::start(old.config()).await;
    let mut before = old.connect(host.address, None).await.unwrap();
    before.get_server_info(ASK).await.unwrap();

    let new = Authority::new("new");
    let (cert, key) = new.sign();
    // As renewals do it: each file is replaced as a whole, and for a moment they do not fit.
    for (name, text) in [("cert.pem", cert), ("key.pem", key)] {
        fs::write(old.file("next"), text).unwrap();
        fs::rename(old.file("next"), old.file(name)).unwrap();
        before.get_server_info(ASK).await.unwrap();
    }
    let mut after = soon(async {
        loop {
            if let Ok(client) = new.connect(host.address, None).await {
                return client;
            }
        }
    })
    .await;
    after.get_server_info(ASK).await.unwrap();
    before.get_server_info(ASK).await.unwrap();
    assert!(old.connect(host.address, None).await.is_err());
}

#[test]
fn it_does_not_start_with_files_that_it_cannot_use() {
    let ours = Authority::new("start");
    ours.config();
    let (other, _) = ours.sign();
    fs::write(ours.file("other.pem"), other).unwrap();
    let path = |name: &str| ours.file(name).display().to_string();
    let output =
        program::herdsmand(&["--tls-cert", &path("other.pem"), "--tls-key", &path("key.pem")])
            .output()
            .unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let error = program::text(&output);
    for part in ["--tls-key", &path("key.pem"), "not the key", &path("other.pem")] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn who_listens_to_others_without_tls_and_tokens_is_warned_at_start() {
    let mut child = program::herdsmand(&["--listen", "0.0.0.0:0"]).spawn().unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
    let stopped = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(stopped.success());
    let log = program::text(&child.wait_with_output().unwrap());
    let warnings: Vec<_> = log.lines().filter(|line| line.contains("\"WARN\"")).collect();
    for (danger, mended) in [("NO TLS", "--tls-cert"), ("NO TOKENS", "--tokens")] {
        let told = warnings.iter().filter(|line| line.contains(danger) && line.contains(mended));
        assert_eq!(told.count(), 1, "{log}");
    }
}
