//! Trials of much to do: more load than there is time for, and the end of the server amid it.

mod deadline;
mod drive;
mod long;
mod overload;
mod requests;
mod soak;
mod stampede;
mod stop;
mod throughput;

use crate::trial::Trial;

/// All of them, the quick ones first.
pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial { name: "overhead", run: throughput::overhead },
        Trial { name: "bulk", run: throughput::bulk },
        Trial { name: "deadline", run: deadline::deadline },
        Trial { name: "stampede", run: stampede::stampede },
        Trial { name: "overload", run: overload::quick },
        Trial { name: "overload-dear", run: overload::slow },
        Trial { name: "burst", run: overload::burst },
        Trial { name: "stop", run: stop::stop },
        Trial { name: "histories", run: long::histories },
        Trial { name: "soak", run: soak::soak },
    ]
}
