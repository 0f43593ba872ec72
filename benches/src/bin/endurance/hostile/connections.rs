//! Connections that say nothing, or something else, or are more than a process can hold.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpStream},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use herdsman_engine::Random;
use rustix::{
    io::Errno,
    net::{
        AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt::set_socket_linger,
    },
};

use super::{
    Attacked, MIB, Scratch,
    frames::{DATA, END_HEADERS, END_STREAM, HEADERS, PATIENCE, PREFACE, frame, request},
    whole,
};
use crate::{
    report::{Report, ms},
    server::Server,
    trial::{Setup, Trouble},
};

/// An honest call must be answered within this, from connecting on.
const HONEST: Duration = Duration::from_secs(1);
/// Silent connections must be closed within this.
const CLOSED: Duration = Duration::from_secs(15);

/// Connections that never say anything (RB-111).
pub(super) fn silent(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    hold_silent(setup, report, None)
}

/// The same where TLS is spoken.
pub(super) fn silent_tls(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let directory = Scratch::new("tls")?;
    let (certificate, key) = (directory.file("cert.pem"), directory.file("key.pem"));
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()])?;
    fs::write(&certificate, made.cert.pem())?;
    fs::write(&key, made.signing_key.serialize_pem())?;
    hold_silent(setup, report, Some((&certificate, &key)))
}

/// Opens them, calls honestly, and waits until they are closed; over TLS with a certificate and its key.
fn hold_silent(
    setup: &Setup,
    report: &mut Report,
    tls: Option<(&str, &str)>,
) -> Result<(), Trouble> {
    let mut flags = setup.scale(vec![], vec!["--handshake-timeout-ms", "1000"]);
    if let Some((certificate, key)) = tls {
        flags.extend(["--tls-cert", certificate, "--tls-key", key]);
    }
    let mut server = Server::start(setup, &flags)?;
    let before = server.descriptors();
    let begun = Instant::now();
    let count: u16 = setup.scale(500, 100);
    let silent: Vec<TcpStream> =
        (0..count).map(|_| TcpStream::connect(server.address())).collect::<Result<_, _>>()?;
    let mut slowest = Duration::ZERO;
    for _ in 0..5 {
        slowest = slowest.max(honest_call(setup, server.address(), tls.map(|(cert, _)| cert))?);
    }
    report.timing(
        format!("{count} silent connections: an honest call beside within 1 s"),
        ms(slowest),
        slowest < HONEST,
    );
    let mut open = 0;
    for mut silent in silent {
        open += usize::from(!ends(&mut silent));
    }
    let took = begun.elapsed();
    report.timing("closed within 15 s", ms(took), open == 0 && took <= CLOSED);
    let back = server.until(HONEST, |server| server.descriptors() <= before);
    report.law(
        "all closed; descriptors as before",
        format!("{open} open, {} descriptors; {before} before", server.descriptors()),
        open == 0 && back,
    );
    whole(&mut server, report);
    Ok(())
}

/// A Score by the command line program, on a connection of its own. The time includes its start.
fn honest_call(
    setup: &Setup,
    address: SocketAddr,
    authority: Option<&str>,
) -> Result<Duration, Trouble> {
    let scheme = if authority.is_some() { "https" } else { "http" };
    let begun = Instant::now();
    let status = Command::new(&setup.client)
        .args(["score", "0123", "0132", "--server"])
        .arg(format!("{scheme}://localhost:{}", address.port()))
        .args(authority.iter().flat_map(|file| ["--ca", file]))
        .stdout(Stdio::null())
        .status()?;
    let took = begun.elapsed();
    if status.success() {
        Ok(took)
    } else {
        Err(format!("an honest call ended with {status}").into())
    }
}

/// Reads until the server closes a connection; false if it does not.
fn ends(stream: &mut TcpStream) -> bool {
    let mut buffer = [0; 4096];
    if stream.set_read_timeout(Some(PATIENCE)).is_err() {
        return false;
    }
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() != io::ErrorKind::WouldBlock,
        }
    }
}

/// Connections that speak something else (RB-117).
pub(super) fn wrong_protocol(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let attacked = Attacked::start(setup, &[])?;
    let (count, mut random) = (setup.scale(2000, 210), Random::new(117));
    let (mut said, mut open) = (0_usize, 0_usize);
    for nth in 0..count {
        let mut stream = TcpStream::connect(attacked.server.address())?;
        // The server may have had enough before it is told everything.
        let _ = stream.write_all(&nonsense(nth % KINDS, &mut random));
        match nth % (2 * KINDS) < KINDS {
            // Leaves rudely, at the latest while the server answers.
            true => set_socket_linger(&stream, Some(Duration::ZERO))?,
            false => {
                let _ = stream.shutdown(Shutdown::Write);
                said += 1;
                open += usize::from(!ends(&mut stream));
            }
        }
    }
    report.law(
        format!("{count} connections of {KINDS} wrong sorts, half of them reset: the others end"),
        format!("{open} of {said} stay open"),
        open == 0,
    );
    attacked.end(report, 32 * MIB);
    Ok(())
}

/// Sorts of [`nonsense`].
const KINDS: usize = 7;

/// What a client says that takes the server for another, or does not know what it says.
fn nonsense(kind: usize, random: &mut Random) -> Vec<u8> {
    let mut any = |length| (0..length).map(|_| random.below(256) as u8).collect::<Vec<_>>();
    match kind {
        0 => b"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n"
            .into(),
        // A ClientHello: its record of 200 bytes, itself of 196, TLS 1.2, and then anything.
        1 => [&[22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3][..], &any(194)].concat(),
        2 => any(64),
        3 => PREFACE[..PREFACE.len() / 2].into(),
        4 => {
            let mut bytes = PREFACE.to_vec();
            frame(&mut bytes, 4, 0, 0, &[]);
            let block = request("/herdsman.v1.SolverService/Score", &[]);
            frame(&mut bytes, HEADERS, END_HEADERS | END_STREAM, 1, &block);
            frame(&mut bytes, HEADERS, END_HEADERS | END_STREAM, 1, &block);
            frame(&mut bytes, DATA, END_STREAM, 1, b"late");
            bytes
        }
        // A frame longer than any may be.
        5 => [PREFACE, &[0xff; 9], &any(1000)].concat(),
        _ => Vec::new(),
    }
}

/// More connections than the process has descriptors for, half of them reset (RB-095).
pub(super) fn descriptors(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 64; exec \"$0\""]).arg(&setup.server);
    let mut server = Server::start_by(command)?;
    let (mut held, mut reset) = (Vec::new(), Vec::new());
    for nth in 0..200 {
        let new =
            socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::NONBLOCK, None)?;
        // Those beyond the backlog are not connected while the others last.
        match connect(&new, &server.address()) {
            Ok(()) | Err(Errno::INPROGRESS) if nth % 2 == 0 => held.push(new),
            Ok(()) | Err(Errno::INPROGRESS) => {
                set_socket_linger(&new, Some(Duration::ZERO))?;
                reset.push(new);
            }
            Err(error) => return Err(error.into()),
        }
    }
    server.until(HONEST, |server| server.descriptors() >= 64);
    drop(reset);
    // It is short of descriptors all the while; that is the trial.
    thread::sleep(setup.scale(Duration::from_secs(10), Duration::from_secs(1)));
    drop(held);
    let took = honest_call(setup, server.address(), None)?;
    let asked = "200 connections, 64 descriptors, then an honest call within 1 s";
    report.timing(asked, ms(took), took < HONEST);
    whole(&mut server, report);
    Ok(())
}
