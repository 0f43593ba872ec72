//! The server program: settings, logs, a port, and the signals that end it.

mod log;
mod memory;

use std::{
    env,
    error::Error,
    io::{self, Write as _},
    net::SocketAddr,
    process::{self, ExitCode},
};

use herdsman_server::{Config, Invocation, Server};
use log::Log;
use tokio::net::{TcpListener, TcpSocket};

/// What a process ended by a second signal returns: 128 and the number of SIGINT.
const KILLED: i32 = 130;

/// Connections that the system holds until they are accepted: those of all clients of a server that was gone. Beyond
/// it they are dropped, and try again after a second or more.
const BACKLOG: u32 = 4096;

/// What a process with settings that cannot be used returns.
const BAD_SETTINGS: u8 = 2;

fn main() -> ExitCode {
    memory::give_back_soon();
    let invocation = match Invocation::read(env::args_os().skip(1), env::vars_os()) {
        Ok(invocation) => invocation,
        Err(mistakes) => return failed(&mistakes, BAD_SETTINGS),
    };
    if invocation.check_config || invocation.print_config {
        return tell(&invocation);
    }
    let Invocation { config, .. } = invocation;
    let log = Log::start(&config.log, config.max_log_lines);
    match serve(config, &log) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error, ExitCode::FAILURE),
    }
}

fn failed(error: &dyn Error, code: impl Into<ExitCode>) -> ExitCode {
    eprintln!("herdsmand: {error}");
    code.into()
}

/// Checks or prints the settings, or both.
fn tell(invocation: &Invocation) -> ExitCode {
    if invocation.check_config
        && let Err(error) = Server::check(&invocation.config)
    {
        return failed(&error, BAD_SETTINGS);
    }
    let text = if invocation.print_config { &invocation.toml } else { "ok\n" };
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error, ExitCode::FAILURE),
    }
}

fn serve(config: Config, log: &Log) -> io::Result<()> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(config.connection_threads()).enable_all();
    runtime.on_thread_park(herdsman_server::rest_after_refusals).build()?.block_on(run(config, log))
}

async fn run(config: Config, log: &Log) -> io::Result<()> {
    let address = config.listen;
    let tls = config.tls_cert.is_some();
    let exposed = config.exposed();
    let stop = stop_signal()?;
    // Whoever is let in is served, so dictionaries are read first.
    let server = Server::new(config)?.with_log(log.left_out());
    let listener = listen(address).map_err(|error| cannot_listen(address, error))?;
    for danger in exposed {
        tracing::warn!("{danger}");
    }
    // Nobody may be reading; that is no reason not to serve.
    let _ = writeln!(io::stdout(), "{}", banner(listener.local_addr()?, tls));
    if let Some(address) = server.metrics_address() {
        let _ = writeln!(io::stdout(), "metrics: http://{address}/metrics");
    }
    server.serve(listener, stop).await
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // As a listener that is simply bound does: a server that was just stopped must not keep the port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn cannot_listen(address: SocketAddr, error: io::Error) -> io::Error {
    let reason = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "another program listens there; stop it, or choose another port with --listen"
                .to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "that needs more rights; choose a port above 1023 with --listen".to_owned()
        }
        _ => format!("{error}; choose an address of this machine with --listen"),
    };
    io::Error::other(format!("cannot listen on {address}: {reason}"))
}

fn banner(address: SocketAddr, tls: bool) -> String {
    let version = env!("CARGO_PKG_VERSION");
    // Who listens everywhere is reached here.
    let here = if address.ip().is_unspecified() {
        format!("localhost:{}", address.port())
    } else {
        address.to_string()
    };
    let (scheme, plaintext) = if tls { ("https", "") } else { ("http", " -plaintext") };
    let server = if here == "127.0.0.1:50051" && !tls {
        String::new()
    } else {
        format!(" --server {scheme}://{here}")
    };
    format!(
        "herdsmand {version} listens on {address}\n\
         try: herdsman guess 0123=0b1c{server}\n\
         or:  grpcurl{plaintext} -d '{{\"rules\":{{\"preset\":\"bulls-and-cows\"}},\"history\":\
         [{{\"guess\":\"0123\",\"feedback\":{{\"bulls\":0,\"cows\":1}}}}]}}' \
         {here} herdsman.v1.SolverService/BestNextGuess"
    )
}

/// Resolves at the first signal to stop; a second one ends the process at once.
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::new()?;
    Ok(async move {
        signals.next().await;
        tokio::spawn(async move {
            signals.next().await;
            process::exit(KILLED);
        });
    })
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

/// The number of SIGXFSZ, which by itself ends a process that writes a file beyond the size it is allowed.
#[cfg(unix)]
const FILE_TOO_LARGE: i32 = 25;

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        // From here on such a write fails like that to a full disk.
        drop(signal(SignalKind::from_raw(FILE_TOO_LARGE))?);
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Signals> {
        Ok(Signals)
    }

    async fn next(&mut self) {
        // Without a signal to wait for, the process runs until it is ended from outside.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
