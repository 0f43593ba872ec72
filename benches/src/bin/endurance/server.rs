//! A server under trial: its process, what it takes of the machine, and connections to it.
//!
//! Owns the process: it ends with the value, however the trial ends. A connection here is one connection: it is not
//! mended when it breaks, and nothing but the server watches a deadline.

use std::{
    collections::HashMap,
    ffi::OsString,
    fs,
    future::Future,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{self, SocketAddr},
    pin::Pin,
    process::{Child, ChildStderr, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    task::{Context, Poll},
    thread,
    time::{Duration, Instant},
};

use herdsman_benches::process_status;
use herdsman_proto::v1::solver_service_client::SolverServiceClient;
use hyper::{
    body::Incoming,
    client::conn::http2::{self, SendRequest},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustix::process::{Pid, Signal, kill_process};
use tokio::net::TcpStream;
use tonic::body::Body;
use tonic_health::pb::health_client::HealthClient;
use tower::Service;

use crate::trial::{Setup, Trouble};

/// Longer than any server takes to start or to say something, also on a machine with much else to do.
const SOON: Duration = Duration::from_secs(20);
/// How often a state that nobody announces is looked at.
const GLANCE: Duration = Duration::from_millis(5);

/// The series of the metrics that counts the tasks of the server's runtime.
pub(crate) const TASKS: &str = "herdsman_tasks_alive";

/// A server that ends with this value.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    metrics: Metrics,
    log: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server on a free port, with these flags. It logs warnings and what is worse unless `--log` asks for
    /// more.
    ///
    /// # Errors
    /// If it does not say where it listens.
    pub(crate) fn start(setup: &Setup, flags: &[&str]) -> Result<Server, Trouble> {
        let mut command = Command::new(&setup.server);
        command.args(flags);
        Server::start_by(command)
    }

    /// Starts a server by a command of the trial's own, with limits or an environment.
    ///
    /// # Errors
    /// As [`start`](Server::start).
    pub(crate) fn start_by(mut command: Command) -> Result<Server, Trouble> {
        // The environment gives way to flags.
        for (setting, value) in [
            ("HERDSMAN_LISTEN", "127.0.0.1:0"),
            ("HERDSMAN_METRICS_LISTEN", "127.0.0.1:0"),
            ("HERDSMAN_LOG", "warn"),
        ] {
            command.env(setting, value);
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let log = Arc::default();
        if let Some(stderr) = stderr {
            read_log(stderr, Arc::clone(&log));
        }
        // From here on it ends with this value.
        let nowhere = ([127, 0, 0, 1], 0).into();
        let mut server = Server { child, address: nowhere, metrics: Metrics(nowhere), log };
        let mut lines = BufReader::new(stdout.ok_or("no output")?).lines();
        let mut told = |before: &str, after: &str| {
            lines.by_ref().map_while(Result::ok).find_map(|line| {
                let (_, address) = line.split_once(before)?;
                address.strip_suffix(after)?.parse().ok()
            })
        };
        let addresses = told(" listens on ", "").zip(told("metrics: http://", "/metrics"));
        let (address, metrics) = addresses.ok_or_else(|| {
            format!("the server does not say where it listens: {:?}", server.log())
        })?;
        (server.address, server.metrics) = (address, Metrics(metrics));
        Ok(server)
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Bytes of memory that are resident now.
    pub(crate) fn memory(&self) -> u64 {
        self.status("VmRSS:") << 10
    }

    /// The most bytes that were resident at a time.
    pub(crate) fn peak_memory(&self) -> u64 {
        self.status("VmHWM:") << 10
    }

    /// Threads now.
    pub(crate) fn threads(&self) -> u64 {
        self.status("Threads:")
    }

    /// Open files and connections now.
    pub(crate) fn descriptors(&self) -> u64 {
        fs::read_dir(format!("/proc/{}/fd", self.pid())).map_or(0, |files| files.count() as u64)
    }

    /// The CPU time that each of its threads has taken.
    pub(crate) fn cpu_of_threads(&self) -> HashMap<OsString, Duration> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.pid())).into_iter().flatten();
        let taken = threads.flatten().filter_map(|thread| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            let nanoseconds = text.split(' ').next()?.parse().ok()?;
            Some((thread.file_name(), Duration::from_nanos(nanoseconds)))
        });
        taken.collect()
    }

    /// The CPU time that its threads have taken; that of a thread which ended is no longer counted.
    pub(crate) fn cpu(&self) -> Duration {
        self.cpu_of_threads().values().sum()
    }

    /// Where its metrics are read.
    pub(crate) fn metrics(&self) -> Metrics {
        self.metrics
    }

    /// What its metrics say of this series.
    ///
    /// # Errors
    /// If they cannot be read, or do not have it.
    pub(crate) fn metric(&self, series: &str) -> Result<f64, Trouble> {
        self.metrics.read(series)
    }

    /// What it logged so far, a line each.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().expect("nobody panics with it").clone()
    }

    /// Lines of the log that tell of a panic.
    pub(crate) fn panics(&self) -> usize {
        self.log().iter().filter(|line| line.contains("panicked")).count()
    }

    /// Whether it runs.
    pub(crate) fn alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid() as i32) {
            // One that has ended meanwhile needs none.
            let _ = kill_process(pid, signal);
        }
    }

    /// Waits for its end, at most so long.
    ///
    /// # Errors
    /// If it still runs then.
    pub(crate) fn wait(&mut self, longest: Duration) -> Result<ExitStatus, Trouble> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if begun.elapsed() > longest {
                return Err(format!("the server still runs after {longest:?}").into());
            }
            thread::sleep(GLANCE);
        }
    }

    /// Waits until `reached` holds, and tells whether it did within `longest`.
    pub(crate) fn until(&self, longest: Duration, reached: impl Fn(&Server) -> bool) -> bool {
        let begun = Instant::now();
        loop {
            if reached(self) {
                return true;
            }
            if begun.elapsed() > longest {
                return false;
            }
            thread::sleep(GLANCE);
        }
    }

    /// Waits until its CPU time stands still: nothing is computed any more.
    pub(crate) fn until_idle(&self) -> bool {
        let before = Mutex::new(Duration::MAX);
        self.until(SOON, |server| {
            thread::sleep(10 * GLANCE);
            let now = server.cpu();
            let before = std::mem::replace(&mut *before.lock().expect("one thread"), now);
            now.saturating_sub(before) < GLANCE && before != Duration::MAX
        })
    }

    /// A connection of its own.
    ///
    /// # Errors
    /// If there is none soon.
    pub(crate) async fn connect(&self) -> Result<Connection, Trouble> {
        Connection::open(self.address).await
    }

    /// A client on a connection of its own.
    ///
    /// # Errors
    /// If there is no connection soon.
    pub(crate) async fn solver(&self) -> Result<Solver, Trouble> {
        Ok(self.connect().await?.solver())
    }

    /// A number of `/proc/PID/status`; 0 when the process is gone.
    fn status(&self, name: &str) -> u64 {
        process_status(&self.pid().to_string(), name)
    }
}

/// Where the metrics of a server are read.
#[derive(Clone, Copy)]
pub(crate) struct Metrics(SocketAddr);

impl Metrics {
    /// What they say of this series.
    ///
    /// # Errors
    /// If they cannot be read, or do not have it.
    pub(crate) fn read(self, series: &str) -> Result<f64, Trouble> {
        let mut stream = net::TcpStream::connect(self.0)?;
        stream.set_read_timeout(Some(SOON))?;
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let value = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        Ok(value.ok_or_else(|| format!("no {series} in the metrics"))?.parse()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Takes the log up, line by line, until the server ends.
fn read_log(stderr: ChildStderr, log: Arc<Mutex<Vec<String>>>) {
    thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            log.lock().expect("nobody panics with it").push(line);
        }
    });
}

/// Calls of the service.
pub(crate) type Solver = SolverServiceClient<Connection>;

/// One HTTP/2 connection; clones share it.
#[derive(Clone)]
pub(crate) struct Connection(SendRequest<Body>);

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// If there is no connection soon.
    pub(crate) async fn open(address: SocketAddr) -> Result<Connection, Trouble> {
        let handshake = async {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            let (send, connection) = http2::Builder::new(TokioExecutor::new())
                .initial_stream_window_size(1 << 20)
                .initial_connection_window_size(4 << 20)
                .max_frame_size(1 << 20)
                .handshake(TokioIo::new(stream))
                .await?;
            tokio::spawn(connection);
            Ok::<_, Trouble>(Connection(send))
        };
        tokio::time::timeout(SOON, handshake).await.map_err(|_| "no connection in 20 s")?
    }

    /// Calls of the service on this connection.
    pub(crate) fn solver(&self) -> Solver {
        SolverServiceClient::new(self.clone()).max_decoding_message_size(64 << 20)
    }

    /// Calls of the health service on this connection.
    pub(crate) fn health(&self) -> HealthClient<Connection> {
        HealthClient::new(self.clone())
    }
}

impl Service<http::Request<Body>> for Connection {
    type Response = http::Response<Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, hyper::Error>> + Send>>;

    /// Always: a call on a closed connection fails for that reason, which it tells as its source.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), hyper::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        // The server asks for no name; HTTP/2 asks for a scheme and an authority.
        let path = request.uri().path().to_owned();
        *request.uri_mut() = http::Uri::builder()
            .scheme("http")
            .authority("localhost")
            .path_and_query(path)
            .build()
            .expect("a path of a method");
        Box::pin(self.0.send_request(request))
    }
}
