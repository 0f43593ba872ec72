//! A request that is small on the wire and huge when it is unpacked.

use std::{
    io::{self, Write as _},
    process::Command,
};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http_body_util::Full;
use tokio::task::JoinSet;
use tonic::{Code, Status, body::Body};
use tower::ServiceExt as _;

use super::{Attacked, MIB};
use crate::{
    report::Report,
    server::{Connection, Server},
    trial::{Setup, Trouble},
};

/// Bombs of each size.
const TIMES: usize = 20;
/// Deflate makes a thousandth of zeros at best; the longest request is a mebibyte.
const SIZES: [u64; 2] = [64 * MIB, 1000 * MIB];
/// To pack more takes long without optimisation.
const SHORT: [u64; 1] = [8 * MIB];

/// Bombs with and without compression configured.
#[tokio::main]
pub(super) async fn bomb(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let packed: Vec<(u64, Bytes)> = setup
        .scale(&SIZES[..], &SHORT)
        .iter()
        .map(|&size| Ok((size, zeros(size)?.into())))
        .collect::<io::Result<_>>()?;
    for configured in ["true", "false"] {
        let mut command = Command::new(&setup.server);
        command.env("HERDSMAN_COMPRESSION", configured);
        let attacked = Attacked::on(Server::start_by(command)?)?;
        for (size, packed) in &packed {
            let mut calls = JoinSet::new();
            for _ in 0..TIMES {
                let connection = attacked.server.connect().await?;
                calls.spawn(refusal(connection, packed.clone()));
            }
            let said = calls.join_all().await;
            let refused = said.iter().flatten().filter(|status| is_refusal(status)).count();
            report.law(
                format!(
                    "{TIMES} of {} KiB that are {} MiB, compression {configured}: refused",
                    packed.len() >> 10,
                    size / MIB
                ),
                format!("{refused} refused, as {:?}", said[0].as_ref().map(Status::code)),
                refused == TIMES,
            );
        }
        attacked.end(report, 64 * MIB);
    }
    Ok(())
}

/// Whether a message was too long, or packed where nothing may be.
fn is_refusal(status: &Status) -> bool {
    status.code() == Code::Unimplemented || status.message().contains("is larger than")
}

/// Zeros as a packed message of gRPC.
fn zeros(size: u64) -> io::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(vec![1, 0, 0, 0, 0], Compression::best());
    io::copy(&mut io::Read::take(io::repeat(0), size), &mut packer)?;
    let mut message = packer.finish()?;
    let length = (message.len() - 5) as u32;
    (&mut message[1..5]).write_all(&length.to_be_bytes())?;
    Ok(message)
}

/// What a call with this body is refused with.
async fn refusal(connection: Connection, body: Bytes) -> Result<Status, String> {
    let request = http::Request::post("/herdsman.v1.SolverService/Score")
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("grpc-encoding", "gzip")
        .body(Body::new(Full::new(body)))
        .map_err(|error| error.to_string())?;
    let response = connection.oneshot(request).await.map_err(|error| error.to_string())?;
    // It is told in the headers.
    Status::from_header_map(response.headers()).ok_or_else(|| "an answer".to_owned())
}
