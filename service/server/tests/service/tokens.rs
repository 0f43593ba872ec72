//! Who may call: tokens, what they open, and how they are changed.

use std::{fs, io::Read as _, path::PathBuf};

use herdsman_proto::v1::{self, solver_service_client::SolverServiceClient};
use herdsman_server::{Config, Server};
use sha2::{Digest as _, Sha256};
use tonic::{Code, Request, Status, transport::Endpoint};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest,
};

use crate::{
    errors::check,
    host::{Client, Host, soon},
    program::{herdsmand, signal, start, text},
};

/// A file of tokens that is there as long as this is.
pub(crate) struct TokenFile(PathBuf);

impl TokenFile {
    /// With holders as `NAME ROLE TOKEN`, separated by commas.
    pub(crate) fn new(test: &str, holders: &str) -> TokenFile {
        let name = format!("herdsman-{}-{test}.tokens", std::process::id());
        let file = TokenFile(std::env::temp_dir().join(name));
        file.write(holders);
        file
    }

    fn write(&self, holders: &str) {
        let lines = holders.split(',').map(|holder| {
            let (who, token) = holder.trim().rsplit_once(' ').unwrap();
            let hash: String =
                Sha256::digest(token).iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{who} {hash}\n")
        });
        // In one step, as whoever changes it in earnest should.
        let new = self.0.with_extension("new");
        fs::write(&new, lines.collect::<String>()).unwrap();
        fs::rename(new, &self.0).unwrap();
    }

    pub(crate) fn config(&self) -> Config {
        Config { tokens: Some(self.0.clone()), threads: 1, ..Config::default() }
    }
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

pub(crate) fn with<T>(message: T, authorization: &str) -> Request<T> {
    let mut request = Request::new(message);
    if !authorization.is_empty() {
        request.metadata_mut().insert("authorization", authorization.parse().unwrap());
    }
    request
}

pub(crate) async fn info(client: &mut Client, authorization: &str) -> Result<(), Status> {
    let request = with(v1::GetServerInfoRequest {}, authorization);
    client.get_server_info(request).await.map(drop)
}

#[tokio::test]
async fn the_solver_takes_tokens_of_both_roles_and_nothing_else() {
    let file = TokenFile::new("roles", "bot solve one, bot solve two, boss admin three");
    let host = Host::start(file.config()).await;
    let mut client = host.client();
    for right in ["Bearer one", "Bearer two", "bearer three", "BEARER  one"] {
        assert!(info(&mut client, right).await.is_ok(), "{right}");
    }
    let mut messages = vec![];
    for wrong in ["", "Bearer", "Bearer four", "Bearer onetwo", "Basic one", "one", "Bearer bot"] {
        let status = info(&mut client, wrong).await.unwrap_err();
        check(&status, Code::Unauthenticated, "UNAUTHENTICATED", &[]);
        messages.push(status.message().to_owned());
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "what was wrong is not told: {messages:?}");
}

#[tokio::test]
async fn health_is_open_and_reflection_takes_any_token() {
    let file = TokenFile::new("open", "bot solve one");
    let host = Host::start(file.config()).await;
    let mut health = HealthClient::with_origin(host.http(), host.uri());
    assert!(health.check(HealthCheckRequest::default()).await.is_ok());

    let mut reflection = ServerReflectionClient::with_origin(host.http(), host.uri());
    let request = || {
        let list = MessageRequest::ListServices(String::new());
        let request = ServerReflectionRequest { host: String::new(), message_request: Some(list) };
        tokio_stream::once(request)
    };
    let status = reflection.server_reflection_info(request()).await.unwrap_err();
    check(&status, Code::Unauthenticated, "UNAUTHENTICATED", &[]);
    let authorized = with(request(), "Bearer one");
    assert!(reflection.server_reflection_info(authorized).await.is_ok());
}

#[tokio::test]
async fn a_changed_file_is_in_force_for_connections_that_are_open() {
    let file = TokenFile::new("rotation", "bot solve old");
    let host = Host::start(file.config()).await;
    let mut client = host.client();
    assert!(info(&mut client, "Bearer old").await.is_ok());
    file.write("bot solve old, bot solve new");
    soon(async { while info(&mut client, "Bearer new").await.is_err() {} }).await;
    assert!(info(&mut client, "Bearer old").await.is_ok());
    file.write("bot solve new");
    soon(async { while info(&mut client, "Bearer old").await.is_ok() {} }).await;
    assert!(info(&mut client, "Bearer new").await.is_ok());
}

#[tokio::test]
async fn the_log_tells_whose_token_it_was_and_never_the_token() {
    let file = TokenFile::new("log", "bot solve s3cret");
    let tokens = file.0.to_str().unwrap();
    let (mut child, address) =
        start(&["--tokens", tokens, "--rate-per-second", "1", "--rate-burst", "1"]);
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let mut client = SolverServiceClient::new(endpoint.connect().await.unwrap());
    for authorization in ["Bearer s3cret", "Bearer s3cret-not", "Bearer s3cret"] {
        let _ = client.get_server_info(with(v1::GetServerInfoRequest {}, authorization)).await;
    }
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(!log.contains("s3cret"), "{log}");
    let lines = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let calls: Vec<_> = lines.filter(|line| line["message"] == "call").collect();
    assert_eq!((&calls[0]["caller"], &calls[0]["code"]), (&"bot".into(), &"OK".into()));
    assert_eq!(calls[1]["code"], "UNAUTHENTICATED");
    assert!(calls[1]["caller"].is_null());
    assert_eq!(
        (&calls[2]["caller"], &calls[2]["code"]),
        (&"bot".into(), &"RESOURCE_EXHAUSTED".into())
    );
}

#[test]
fn a_file_that_cannot_be_used_is_told_line_by_line_before_it_listens() {
    let file = TokenFile::new("broken", "bot solve one");
    fs::write(&file.0, "bot solve s3cret\n\n# fine\ns3cret\n").unwrap();
    let path = file.0.to_str().unwrap();
    let output = herdsmand(&["--listen", "127.0.0.1:0", "--tokens", path]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let error = text(&output);
    for part in [path, "line 1", "sha256sum", "line 4"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(!error.contains("s3cret"), "{error}");
    let missing = Config { tokens: Some("no-such-file".into()), ..Config::default() };
    let error = Server::new(missing).err().unwrap().to_string();
    assert!(error.contains("no-such-file"), "{error}");
}
