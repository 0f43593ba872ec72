//! Bodies of messages that a faulty client may send, over the wire: each gets an answer, and none an INTERNAL.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::{Buf as _, BufMut as _};
use herdsman_engine::Random;
use http::uri::PathAndQuery;
use tokio::task::JoinSet;
use tonic::{
    Code, Request, Status,
    client::Grpc,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
};

use super::{
    seeds::{Seed, mutant, seeds},
    whole,
};
use crate::{
    report::{Report, ms},
    server::{Connection, Server},
    trial::{Setup, Trouble},
};

/// The number of the first body; each is the mutant of a seed of its own.
const FIRST: u64 = 5_000_000;
/// Connections, and calls under way on each.
const CONNECTIONS: usize = 2;
const STREAMS: usize = 16;
/// The longest that any call may take. Short, so that sound bodies that ask for much end soon.
const DEADLINE: Duration = Duration::from_millis(50);
/// How much later an answer may come.
const LATE: Duration = Duration::from_millis(100);
/// Failures that are printed whole.
const SHOWN: usize = 5;

/// What came of the bodies.
#[derive(Default)]
struct Seen {
    codes: BTreeMap<String, u64>,
    late: u64,
    slowest: Duration,
    failures: Vec<String>,
}

/// Sends mutated bodies to every method.
#[tokio::main]
pub(super) async fn mutated(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let limits = [
        "--max-deadline-ms=50",
        "--max-solve-deadline-ms=50",
        "--max-scores=200000",
        "--max-codes=20000",
        "--max-queue=4",
    ];
    let mut server = Server::start(setup, &limits)?;
    let seeds: Arc<[Seed]> = seeds()?.into();
    let count: u64 = setup.scale(1_000_000, 5000);
    let next = Arc::new(AtomicU64::new(0));
    let mut senders = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let connection = server.connect().await?;
        for _ in 0..STREAMS {
            senders.spawn(send(connection.clone(), Arc::clone(&seeds), Arc::clone(&next), count));
        }
    }
    let mut all = Seen::default();
    for seen in senders.join_all().await {
        seen.codes
            .into_iter()
            .for_each(|(code, count)| *all.codes.entry(code).or_default() += count);
        all.late += seen.late;
        all.slowest = all.slowest.max(seen.slowest);
        all.failures.extend(seen.failures);
    }
    all.failures.iter().take(SHOWN).for_each(|failure| eprintln!("{failure}"));
    let answered: u64 = all.codes.values().sum();
    report.law(
        format!("{count} mutated bodies from seed {FIRST} on: each has an answer, none INTERNAL"),
        format!("{answered} have one: {:?}", all.codes),
        answered == count && all.failures.is_empty(),
    );
    report.timing(
        "none later than 100 ms after its deadline",
        format!("{} later; the slowest {}", all.late, ms(all.slowest)),
        all.late == 0,
    );
    whole(&mut server, report);
    Ok(())
}

/// Sends one body after the other, until all are sent.
async fn send(
    connection: Connection,
    seeds: Arc<[Seed]>,
    next: Arc<AtomicU64>,
    count: u64,
) -> Seen {
    let mut seen = Seen::default();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            return seen;
        }
        let (path, body) = mutant(&seeds, &mut Random::new(FIRST + number));
        let begun = Instant::now();
        let ended = answer(&connection, &path, body.clone()).await;
        let took = begun.elapsed();
        seen.slowest = seen.slowest.max(took);
        seen.late += u64::from(took > DEADLINE + LATE);
        let code = match &ended {
            Ok(()) => Code::Ok,
            Err(status) => status.code(),
        };
        if matches!(code, Code::Internal | Code::Unknown | Code::DataLoss) {
            let hex: String = body.iter().map(|byte| format!("{byte:02x}")).collect();
            seen.failures.push(format!("{path} {hex} (seed {}): {ended:?}", FIRST + number));
        }
        *seen.codes.entry(format!("{code:?}")).or_default() += 1;
    }
}

/// Calls and takes all of the answer.
async fn answer(connection: &Connection, path: &str, body: Vec<u8>) -> Result<(), Status> {
    let mut client = Grpc::new(connection.clone());
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let path = PathAndQuery::try_from(path).expect("a path of a method");
    let replies = client.server_streaming(Request::new(body), path, Bytes).await?;
    let mut replies = replies.into_inner();
    while replies.message().await?.is_some() {}
    Ok(())
}

/// Messages as they are.
#[derive(Clone, Copy)]
struct Bytes;

impl Codec for Bytes {
    type Encode = Vec<u8>;
    type Decode = ();
    type Encoder = Bytes;
    type Decoder = Bytes;

    fn encoder(&mut self) -> Bytes {
        *self
    }

    fn decoder(&mut self) -> Bytes {
        *self
    }
}

impl Encoder for Bytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Bytes {
    type Item = ();
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<()>, Status> {
        buffer.advance(buffer.remaining());
        Ok(Some(()))
    }
}
