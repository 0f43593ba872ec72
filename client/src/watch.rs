//! What a long call shows while it runs, and how it is stopped.
//!
//! Owns Ctrl-C and the line on the terminal; what the line says is `progress`.

use indicatif::{ProgressBar, ProgressStyle};

use crate::failure::Failure;

/// A line on standard error, if that is a terminal: drawn from its first message on, and cleared when dropped.
pub(crate) fn line() -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_msg}").expect("the template is sound");
    ProgressBar::no_length().with_style(style)
}

/// What a call comes to, unless it is interrupted. Leaving it makes the server stop.
pub(crate) async fn interruptible<T>(
    call: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        // In this order, so that the signal is watched before there is anything to stop.
        biased;
        _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
        done = call => done,
    }
}
