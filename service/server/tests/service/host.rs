//! A server for one test, its client, and requests in short form.

use std::{net::SocketAddr, time::Duration};

use herdsman_engine::{Feedback, Order};
use herdsman_proto::{
    text,
    v1::{self, rules::Game, solver_service_client::SolverServiceClient},
};
use herdsman_server::{Config, Counts, Server, Stats};
use hyper_util::{
    client::legacy::{Client as HttpClient, connect::HttpConnector},
    rt::TokioExecutor,
};
use tokio::{
    net::TcpListener,
    sync::{oneshot, watch},
    task::JoinHandle,
};
use tonic::body::Body;

/// An HTTP/2 client that knows nothing of deadlines: whatever ends a call in time is the server.
pub(crate) type Http = HttpClient<HttpConnector, Body>;
pub(crate) type Client = SolverServiceClient<Http>;

pub(crate) struct Host {
    pub(crate) address: SocketAddr,
    pub(crate) stats: watch::Receiver<Stats>,
    /// Where its metrics are read.
    pub(crate) metrics: Option<SocketAddr>,
    counts: Box<dyn Fn() -> Vec<(&'static str, Counts)> + Send + Sync>,
    stop: oneshot::Sender<()>,
    served: JoinHandle<std::io::Result<()>>,
}

impl Host {
    pub(crate) async fn start(config: Config) -> Host {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::new(config).unwrap();
        let (stats, counts) = (server.stats(), Box::new(server.cache_counts()));
        let metrics = server.metrics_address();
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(server.serve(listener, async { stopped.await.unwrap_or(()) }));
        Host { address, stats, metrics, counts, stop, served }
    }

    pub(crate) fn http(&self) -> Http {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        HttpClient::builder(TokioExecutor::new()).http2_only(true).build(connector)
    }

    pub(crate) fn uri(&self) -> http::Uri {
        format!("http://{}", self.address).parse().unwrap()
    }

    /// A client with a connection of its own.
    pub(crate) fn client(&self) -> Client {
        Client::with_origin(self.http(), self.uri()).max_decoding_message_size(16 << 20)
    }

    /// Waits until the threads are in this state.
    pub(crate) async fn when(&self, reached: impl FnMut(&Stats) -> bool) -> Stats {
        *soon(self.stats.clone().wait_for(reached)).await.unwrap()
    }

    /// What was asked of the cache of this name.
    pub(crate) fn counts(&self, cache: &str) -> Counts {
        (self.counts)().into_iter().find(|(name, _)| *name == cache).expect("a cache").1
    }

    /// Says stop and waits until the server has.
    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        soon(self.served).await.unwrap().unwrap();
    }

    /// Says stop and leaves the server to it.
    pub(crate) fn begin_stop(self) -> JoinHandle<std::io::Result<()>> {
        self.stop.send(()).unwrap();
        self.served
    }
}

/// A default server and its client.
pub(crate) async fn service() -> (Host, Client) {
    let host = Host::start(Config { threads: 2, ..Config::default() }).await;
    let client = host.client();
    (host, client)
}

/// Long enough for a loaded machine; what takes this long is broken.
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("this ends soon")
}

pub(crate) fn preset(name: &str) -> Option<v1::Rules> {
    Some(v1::Rules { game: Some(Game::Preset(name.into())), ..Default::default() })
}

pub(crate) fn codes(alphabet: &str, length: i32, repeats: bool) -> Option<v1::Rules> {
    let codes =
        v1::CodeRules { alphabet: alphabet.into(), length, repeats, not_first: String::new() };
    Some(v1::Rules { game: Some(Game::Codes(codes)), ..Default::default() })
}

pub(crate) fn numbers(min: i32, max: i32) -> Option<v1::Rules> {
    Some(v1::Rules {
        game: Some(Game::Numbers(v1::NumberRules { min, max })),
        ..Default::default()
    })
}

/// A list of words, separated by spaces.
pub(crate) fn words(secrets: &str, guesses: &str) -> Option<v1::Rules> {
    let list = |words: &str| words.split_whitespace().map(String::from).collect();
    let (secrets, guesses) = (list(secrets), list(guesses));
    let words = v1::WordRules { secrets, guesses, ..Default::default() };
    Some(v1::Rules { game: Some(Game::Words(words)), ..Default::default() })
}

/// An answer of the engine as it is sent.
pub(crate) fn answer(feedback: Feedback) -> v1::Feedback {
    let nothing = v1::Feedback::default();
    match feedback {
        Feedback::Pegs { bulls, cows } => {
            v1::Feedback { bulls: Some(bulls.into()), cows: Some(cows.into()), ..nothing }
        }
        Feedback::Bulls { bulls } => v1::Feedback { bulls: Some(bulls.into()), ..nothing },
        Feedback::Total { total, solved } => {
            v1::Feedback { total: Some(total.into()), solved: Some(solved), ..nothing }
        }
        Feedback::Marks(marks) => v1::Feedback { marks: Some(marks.to_string()), ..nothing },
        Feedback::Order(order) => {
            let order = match order {
                Order::Lower => v1::Order::Lower,
                Order::Equal => v1::Order::Equal,
                Order::Higher => v1::Order::Higher,
            };
            v1::Feedback { order: Some(order.into()), ..nothing }
        }
    }
}

/// Turns as text, separated by spaces.
pub(crate) fn turns(turns: &str) -> Vec<v1::Turn> {
    turns.split_whitespace().map(|turn| text::parse_turn(turn).unwrap()).collect()
}

pub(crate) fn guess_request(rules: Option<v1::Rules>, history: &str) -> v1::BestNextGuessRequest {
    v1::BestNextGuessRequest { rules, history: turns(history), ..Default::default() }
}

/// A search of many seconds: 1.8 million codes, of which a tenth is left, and no two guesses are the same by symmetry.
pub(crate) fn long_search() -> v1::BestNextGuessRequest {
    guess_request(codes("0123456789", 8, false), "01234567=1b5c 13572096=1b5c")
}

/// Sends a search in a task of its own, which cancels it when aborted.
pub(crate) fn send(
    client: &Client,
    request: impl tonic::IntoRequest<v1::BestNextGuessRequest> + Send + 'static,
) -> JoinHandle<Result<v1::BestNextGuessResponse, tonic::Status>> {
    let mut client = client.clone();
    tokio::spawn(async move { Ok(client.best_next_guess(request).await?.into_inner()) })
}
