//! Time of whole calls: a server and a client in this process, over a loopback connection. Each call checks its
//! answer before it is timed.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use criterion::{Criterion, criterion_group, criterion_main};
use herdsman_proto::v1::{self, Source, rules::Game, solver_service_client::SolverServiceClient};
use herdsman_server::Config;
use tokio::{net::TcpListener, runtime::Runtime};
use tonic::transport::{Channel, Endpoint};

type Client = SolverServiceClient<Channel>;

/// A client of a server that ends with the runtime.
async fn start() -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(herdsman_server::run(listener, Config::default(), std::future::pending()));
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    Client::new(endpoint.connect().await.unwrap())
}

fn rules() -> Option<v1::Rules> {
    Some(v1::Rules { game: Some(Game::Preset("bulls-and-cows".into())), ..Default::default() })
}

/// Times `call`, one at a time. Criterion tells means; the line printed here has the median of single calls.
fn measure<T>(criterion: &mut Criterion, name: &str, mut call: impl FnMut() -> T) {
    let mut times = Vec::new();
    criterion.bench_function(name, |bencher| {
        bencher.iter_custom(|calls| {
            let before = times.len();
            times.extend((0..calls).map(|_| {
                let start = Instant::now();
                black_box(call());
                start.elapsed()
            }));
            times[before..].iter().sum::<Duration>()
        });
    });
    times.sort_unstable();
    // None where the command line asks for other benchmarks.
    if !times.is_empty() {
        let (median, late) = (times[times.len() / 2], times[times.len() * 99 / 100]);
        println!("{name}: median {median:?}, 99th percentile {late:?} of {} calls", times.len());
    }
}

fn score(criterion: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let mut client = runtime.block_on(start());
    let request = v1::ScoreRequest { rules: rules(), secret: "5072".into(), guess: "5279".into() };
    let mut call = move || {
        runtime.block_on(client.score(black_box(request.clone()))).unwrap().into_inner().feedback
    };
    assert_eq!(call(), Some(v1::Feedback { bulls: Some(2), cows: Some(1), ..Default::default() }));
    measure(criterion, "rpc/Score", call);
}

fn cached_guess(criterion: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let mut client = runtime.block_on(start());
    let feedback = Some(v1::Feedback { bulls: Some(0), cows: Some(1), ..Default::default() });
    let request = v1::BestNextGuessRequest {
        rules: rules(),
        history: vec![v1::Turn { guess: "0123".into(), feedback }],
        // The default strategy has its answers from a book, and says so of cached ones, too.
        strategy: v1::Strategy::Minimax.into(),
        ..Default::default()
    };
    let mut call = move || {
        let reply = client.best_next_guess(black_box(request.clone()));
        runtime.block_on(reply).unwrap().into_inner()
    };
    for source in [Source::Computed, Source::Cache] {
        let reply = call();
        assert_eq!((reply.suggestions[0].guess.as_str(), reply.source()), ("1456", source));
    }
    measure(criterion, "rpc/BestNextGuess from the cache", call);
}

criterion_group!(benches, score, cached_guess);
criterion_main!(benches);
