//! What the system knows of this process: read from `/proc`, and left out where there is none.

use std::fs;

/// What a process uses.
pub(crate) struct Process {
    /// Bytes of memory that are its own.
    pub(crate) resident_bytes: u64,
    /// Files, sockets and the like that it has open.
    pub(crate) open_descriptors: u64,
    /// Time that it computed, in seconds.
    pub(crate) cpu_seconds: f64,
}

/// Ticks of a second in `/proc`, the same on every Linux that people run.
const TICKS: f64 = 100.0;

impl Process {
    /// This one, now.
    pub(crate) fn now() -> Option<Process> {
        Some(Process {
            resident_bytes: resident(&fs::read_to_string("/proc/self/status").ok()?)?,
            // One of them reads this folder.
            open_descriptors: fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1) as u64,
            cpu_seconds: computed(&fs::read_to_string("/proc/self/stat").ok()?)?,
        })
    }
}

/// From a line `VmRSS:  1234 kB`.
fn resident(status: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    value.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The fields 14 and 15, by the program and by the system for it. The second is the program's name in parentheses,
/// which may hold anything.
fn computed(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_whitespace().skip(11).map(|field| field.parse::<u64>().ok());
    Some((ticks.next()?? + ticks.next()??) as f64 / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_tells_is_read_as_it_is_meant() {
        assert_eq!(resident("VmHWM:\t 900 kB\nVmRSS:\t  12 kB\n"), Some(12 * 1024));
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 100 0 0 0 150 50 0 0 20 0 3 0 123 0 0";
        assert_eq!(computed(stat), Some(2.0));
        for broken in ["", "VmRSS: x kB", "1 (a) S 1"] {
            assert_eq!((resident(broken), computed(broken)), (None, None));
        }
    }
}
