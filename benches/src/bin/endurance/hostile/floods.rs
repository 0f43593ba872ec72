//! Frames in great number: resets, provoked errors, frames that cost the peer nothing.
//!
//! Each attacker has a connection, makes a batch of frames, waits until they are read, and connects anew when the server
//! has had enough of it.

use std::{io, net::SocketAddr, thread};

use super::{
    Attacked, MIB, Tasks,
    frames::{
        CANCEL, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, RST_STREAM,
        SETTINGS, WIDE, WINDOW_UPDATE, Wire, frame, message, request, setting,
    },
};
use crate::{
    report::Report,
    trial::{Setup, Trouble},
};

/// Attackers at a time.
const ATTACKERS: u64 = 4;
/// Tasks of the server: for each attacker the 200 calls that a connection may have open and what one more read brings of
/// such batches, and some for all the rest. Without a bound there are tens of thousands.
const MOST_TASKS: u64 = ATTACKERS * 600 + 100;
/// What honest calls and a flood beside them may cost.
const MOST_MEMORY: u64 = 32 * MIB;
const SCORE: &str = "/herdsman.v1.SolverService/Score";
const WATCH: &str = "/grpc.health.v1.Health/Watch";
const REFLECT: &str = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

/// A kind of flood.
struct Flood {
    /// What is sent.
    name: &'static str,
    /// How many of it in all, in long form.
    count: u64,
    /// How many of it are in a unit.
    per_unit: u64,
    /// Units that are sent before the attacker looks whether they were read; one where each is to end its connection.
    batch: u32,
    /// Writes the unit of this number on its connection.
    unit: fn(&mut Vec<u8>, u32),
}

/// What the attackers saw.
#[derive(Default)]
struct Seen {
    units: u64,
    connections: u64,
    resets: u64,
    goaways: u64,
}

/// Calls that are given up at once (rapid reset, CVE-2023-44487).
pub(super) fn resets(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let unit = |to: &mut Vec<u8>, nth: u32| {
        frame(to, HEADERS, END_HEADERS, stream(nth), &request(SCORE, &[]));
        frame(to, RST_STREAM, 0, stream(nth), &CANCEL);
    };
    // As many at a time as are borne, and more.
    let floods = [
        Flood { name: "resets, 100 at a time", count: 50_000, per_unit: 1, batch: 100, unit },
        Flood { name: "resets, 250 at a time", count: 50_000, per_unit: 1, batch: 250, unit },
    ];
    attack(setup, report, &floods, MOST_MEMORY)
}

/// Streams that the server has to reset (MadeYouReset, CVE-2025-8671), and faults that cost the connection.
pub(super) fn stream_errors(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let reset = |to: &mut Vec<u8>, nth: u32| {
        let stream = stream(nth);
        let more: &[_] = match nth % 4 {
            0 => &[("content-length", "1")],
            1 => &[("connection", "close")],
            _ => &[],
        };
        frame(to, HEADERS, END_HEADERS, stream, &request(SCORE, more));
        match nth % 4 {
            0 => frame(to, DATA, END_STREAM, stream, b"longer than announced"),
            1 => {}
            2 => frame(to, WINDOW_UPDATE, 0, stream, &0x7fff_ffff_u32.to_be_bytes()),
            // Trailers that do not end the stream.
            _ => frame(to, HEADERS, END_HEADERS, stream, &[0, 1, b'a', 1, b'b']),
        }
    };
    let fatal = |to: &mut Vec<u8>, nth: u32| {
        frame(to, HEADERS, END_HEADERS, stream(nth), &request(SCORE, &[]));
        frame(to, WINDOW_UPDATE, 0, stream(nth), &[0; 4]);
    };
    let floods = [
        Flood { name: "stream errors", count: 100_000, per_unit: 1, batch: 100, unit: reset },
        Flood { name: "connection errors", count: 10_000, per_unit: 1, batch: 1, unit: fatal },
    ];
    attack(setup, report, &floods, MOST_MEMORY)
}

/// CONTINUATION, SETTINGS and PING.
pub(super) fn frames(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    // Of a call that ends and of one that never does: the library allows five for each.
    let whole = |to: &mut Vec<u8>, nth: u32| {
        let block = request("/none", &[]);
        let (first, rest) = block.split_at(block.len() / 5);
        frame(to, HEADERS, END_STREAM, stream(nth), first);
        for (at, part) in rest.chunks(rest.len().div_ceil(4)).enumerate() {
            let flags = if at == 3 { END_HEADERS } else { 0 };
            frame(to, CONTINUATION, flags, stream(nth), part);
        }
    };
    let endless = |to: &mut Vec<u8>, nth: u32| {
        frame(to, HEADERS, END_STREAM, stream(nth), &request("/none", &[]));
        (0..10).for_each(|_| frame(to, CONTINUATION, 0, stream(nth), &[]));
    };
    let settings = |to: &mut Vec<u8>, nth: u32| {
        frame(to, SETTINGS, 0, 0, &setting(4, WIDE + nth % 2));
    };
    let ping = |to: &mut Vec<u8>, _: u32| frame(to, PING, 0, 0, b"and now?");
    let floods = [
        Flood { name: "CONTINUATION", count: 100_000, per_unit: 4, batch: 100, unit: whole },
        Flood {
            name: "CONTINUATION without end",
            count: 50_000,
            per_unit: 10,
            batch: 1,
            unit: endless,
        },
        Flood { name: "SETTINGS", count: 100_000, per_unit: 1, batch: 1000, unit: settings },
        Flood { name: "PING", count: 100_000, per_unit: 1, batch: 1000, unit: ping },
    ];
    attack(setup, report, &floods, MOST_MEMORY)
}

/// Empty DATA on streams whose handlers do not read: one that cannot send and one that has what it wants (RB-105).
pub(super) fn empty_data(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let attacked = Attacked::start(setup, &[])?;
    let frames: u64 = setup.scale(1_000_000, 20_000);
    let mut seen = Seen::default();
    for (path, messages) in [(REFLECT, 200), (WATCH, 1)] {
        let before = seen.units;
        while seen.units < before + frames / 2 {
            let wanted = before + frames / 2 - seen.units;
            match starve(attacked.server.address(), path, messages, wanted, &mut seen) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error.into()),
                // It closed the connection, which is its right.
                Err(_) => {}
            }
        }
    }
    let asked = format!("{frames} empty DATA on streams that no handler reads");
    report.law(asked, told(&seen), seen.units >= frames);
    // All but those on which enough was sent.
    let ended = seen.goaways + seen.resets;
    report.law("each ends its connection or stream", told(&seen), ended + 2 >= seen.connections);
    attacked.end(report, 16 * MIB);
    Ok(())
}

/// Opens a call whose replies have no window, and sends it empty DATA, until enough or until the server ends it.
fn starve(
    address: SocketAddr,
    path: &str,
    messages: usize,
    wanted: u64,
    seen: &mut Seen,
) -> io::Result<()> {
    const BATCH: u64 = 1000;
    let mut wire = Wire::open(address, 0)?;
    seen.connections += 1;
    let mut bytes = Vec::new();
    frame(&mut bytes, HEADERS, END_HEADERS, 1, &request(path, &[]));
    // `list_services` of reflection, `service` of health: field 7 and field 1, empty.
    let ask: &[u8] = if path == REFLECT { &[0x3a, 0] } else { &[0x0a, 0] };
    (0..messages).for_each(|_| frame(&mut bytes, DATA, 0, 1, &message(ask)));
    let mut sent = 0;
    loop {
        let mut over = false;
        wire.send_and_sync(std::mem::take(&mut bytes), |frame| {
            over |= matches!(frame.kind, RST_STREAM | GOAWAY);
            seen.resets += u64::from(frame.kind == RST_STREAM);
            seen.goaways += u64::from(frame.kind == GOAWAY);
        })?;
        if over || sent >= wanted {
            return Ok(());
        }
        (0..BATCH).for_each(|_| frame(&mut bytes, DATA, 0, 1, &[]));
        sent += BATCH;
        seen.units += BATCH;
    }
}

/// The stream of the call of this number.
fn stream(nth: u32) -> u32 {
    2 * nth + 1
}

/// Floods a server that honest callers use.
fn attack(setup: &Setup, report: &mut Report, floods: &[Flood], most: u64) -> Result<(), Trouble> {
    let attacked = Attacked::start(setup, &[])?;
    let address = attacked.server.address();
    let tasks = Tasks::watch(&attacked.server);
    for flood in floods {
        let count = flood.count / setup.scale(1, 50);
        let units = count.div_ceil(flood.per_unit * ATTACKERS);
        let attackers: Vec<_> = thread::scope(|scope| {
            let attackers: Vec<_> =
                (0..ATTACKERS).map(|_| scope.spawn(|| flood.run(address, units))).collect();
            attackers.into_iter().map(|one| one.join().expect("it only counts")).collect()
        });
        let mut all = Seen::default();
        for seen in attackers {
            let seen = seen?;
            all.units += seen.units * flood.per_unit;
            all.connections += seen.connections;
            all.resets += seen.resets;
            all.goaways += seen.goaways;
        }
        report.law(format!("{count} {}", flood.name), told(&all), all.units >= count);
        if flood.batch == 1 {
            let ended = all.goaways == all.connections;
            report.law("each ends its connection", told(&all), ended);
        }
    }
    let tasks = tasks.most()?;
    report.law(format!("tasks at the most {MOST_TASKS}"), tasks, tasks <= MOST_TASKS);
    attacked.end(report, most);
    Ok(())
}

fn told(seen: &Seen) -> String {
    let Seen { units, connections, resets, goaways } = seen;
    format!("{units} sent on {connections} connections; {goaways} GOAWAY and {resets} resets came")
}

impl Flood {
    fn run(&self, address: SocketAddr, units: u64) -> io::Result<Seen> {
        let mut seen = Seen::default();
        while seen.units < units {
            let mut wire = Wire::open(address, WIDE)?;
            seen.connections += 1;
            let (mut nth, mut open) = (0, true);
            while open && seen.units < units {
                let mut bytes = Vec::new();
                (nth..nth + self.batch).for_each(|nth| (self.unit)(&mut bytes, nth));
                nth += self.batch;
                seen.units += u64::from(self.batch);
                let sent = wire.send_and_sync(bytes, |frame| {
                    seen.resets += u64::from(frame.kind == RST_STREAM);
                    seen.goaways += u64::from(frame.kind == GOAWAY);
                });
                match sent {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
                    sent => open = sent.is_ok(),
                }
            }
        }
        Ok(seen)
    }
}
