//! Settings that cannot be used: the server says which, and ends before it listens.

use std::{
    io::Read as _,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    report::{Report, ms},
    trial::{Setup, Trouble},
};

/// How long the server may take to refuse.
const SOON: Duration = Duration::from_millis(200);
/// Refusals that are printed.
const SHOWN: usize = 5;

/// Settings that are numbers, each with one below its range and one above it where there are such.
const NUMBERS: [(&str, &str, &str); 23] = [
    ("threads", "-1", "1025"),
    ("max-queue", "-1", "100001"),
    ("max-calls", "0", "1000001"),
    ("max-deadline-ms", "0", "3600001"),
    ("max-scores", "0", "9223372036854775808"),
    ("solve-threads", "-1", "1025"),
    ("max-solve-queue", "-1", "100001"),
    ("solve-memo-bytes", "1", "1099511627777"),
    ("max-solve-deadline-ms", "0", "86400001"),
    ("max-codes", "0", "4294967296"),
    ("max-message-bytes", "1023", "2147483648"),
    ("max-turns", "0", "65"),
    ("max-pairs", "0", "10000001"),
    ("max-page-size", "0", "100001"),
    ("max-top-k", "0", "10001"),
    ("max-connections", "0", "1000001"),
    ("max-streams", "0", "100001"),
    ("max-early-cancels", "0", "100001"),
    ("max-header-bytes", "1023", "1048577"),
    ("handshake-timeout-ms", "0", "3600001"),
    ("keepalive-interval-ms", "99", "3600001"),
    ("drain-ms", "-1", "600001"),
    ("grace-ms", "-1", "600001"),
];

/// Others, as flag, value and what the refusal must name.
const OTHERS: [(&str, &str, &str); 12] = [
    ("listen", "localhost", "listen"),
    ("listen", "127.0.0.1", "listen"),
    ("listen", "127.0.0.1:65536", "listen"),
    ("listen", "", "listen"),
    // Of no machine: it is for documents.
    ("listen", "192.0.2.1:50051", "--listen"),
    ("log", "herdsman_server=loudest", "log"),
    ("dictionary", "no-file", "dictionary"),
    ("dictionary", "daily=/none/such", "/none/such"),
    ("max-reply-bytes", "1024", "max-reply-bytes"),
    ("max-cells", "20000000", "max-cells"),
    ("max-code", "7", "max-code"),
    ("treads", "2", "treads"),
];

/// Starts the server with one fault at a time.
pub(super) fn bad(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let mut faults = Vec::new();
    for (at, (name, low, high)) in NUMBERS.into_iter().enumerate() {
        for (nth, value) in [low, high, "many", "", "1.5"].into_iter().enumerate() {
            // By turns as a flag and as a variable.
            faults.push(Fault { name, value, variable: (at + nth) % 2 == 1, names: name });
        }
    }
    faults.extend(OTHERS.map(|(name, value, names)| Fault { name, value, variable: false, names }));
    let (mut slowest, mut kept) = (Duration::ZERO, 0);
    let mut other = Vec::new();
    for fault in &faults {
        let begun = Instant::now();
        let refusal = fault.refusal(setup)?;
        slowest = slowest.max(begun.elapsed());
        match refusal {
            Ok(text) if fault.is_named_in(&text) => kept += 1,
            Ok(text) => other.push(format!("{fault:?}: does not name it: {text}")),
            Err(text) => other.push(format!("{fault:?}: {text}")),
        }
    }
    other.iter().take(SHOWN).for_each(|fault| eprintln!("{fault}"));
    report.law(
        format!("{} bad settings: refused by name", faults.len()),
        format!("{kept} were"),
        kept == faults.len(),
    );
    report.timing("within 200 ms each", format!("the slowest {}", ms(slowest)), slowest <= SOON);
    Ok(())
}

/// A setting that cannot be used.
#[derive(Debug)]
struct Fault {
    name: &'static str,
    value: &'static str,
    /// Whether it comes from the environment.
    variable: bool,
    /// What the refusal must name.
    names: &'static str,
}

impl Fault {
    /// What the server says to it when it ends with a code that is not 0, or what it does instead.
    fn refusal(&self, setup: &Setup) -> Result<Result<String, String>, Trouble> {
        let mut command = Command::new(&setup.server);
        command.env("HERDSMAN_LISTEN", "127.0.0.1:0");
        match self.variable {
            true => command.env(self.variable_name(), self.value),
            false => command.arg(format!("--{}={}", self.name, self.value)),
        };
        let mut server = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut output = [0];
        // One that listens says so; one that ends closes its output.
        if let Some(stdout) = &mut server.stdout
            && stdout.read(&mut output)? > 0
        {
            server.kill()?;
            server.wait()?;
            return Ok(Err("accepted".to_owned()));
        }
        let output = server.wait_with_output()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let refused = matches!(output.status.code(), Some(1..));
        Ok(if refused { Ok(text) } else { Err(format!("{}: {text}", output.status)) })
    }

    fn variable_name(&self) -> String {
        format!("HERDSMAN_{}", self.name.replace('-', "_").to_uppercase())
    }

    fn is_named_in(&self, text: &str) -> bool {
        let text = text.replace('_', "-").to_lowercase();
        text.contains(self.names) && !text.contains("panicked")
    }
}
