//! Who may call, and how often: tokens and rate put together.
//!
//! Knows headers and addresses. Which calls need no token is `methods`.

use std::{net::IpAddr, sync::Arc};

use http::HeaderMap;

use crate::{
    config::Config,
    grpc::status::Failure,
    rate::{Key, Rate},
    tokens::{Holder, Tokens, Unusable},
};

/// What is asked of callers.
pub(crate) struct Callers {
    tokens: Option<Tokens>,
    rate: Option<Rate>,
}

impl Callers {
    /// Reads the tokens, if there are to be any.
    ///
    /// # Errors
    /// [`Unusable`] if their file cannot be used.
    pub(crate) fn new(config: &Config) -> Result<Callers, Unusable> {
        let tokens = config.tokens.as_deref().map(Tokens::new).transpose()?;
        Ok(Callers { tokens, rate: Rate::new(config) })
    }

    /// Counts a call by the name of whose it is, or by its address where nobody has to say.
    ///
    /// # Errors
    /// RATE_LIMITED.
    pub(crate) fn count(
        &self,
        name: Option<Arc<str>>,
        address: Option<IpAddr>,
    ) -> Result<(), Failure> {
        self.take(name.map_or_else(|| Key::of(address), Key::Name))
    }

    /// Whose token is in the headers, or nothing where nobody needs one. Wrong ones are counted by address. A right one
    /// is let in all the same: behind a balancer all have one address, and a stranger must not be able to shut the
    /// others out.
    ///
    /// # Errors
    /// UNAUTHENTICATED, or RATE_LIMITED where that was so too often.
    pub(crate) fn identify(
        &self,
        headers: &HeaderMap,
        address: Option<IpAddr>,
    ) -> Result<Option<Holder>, Failure> {
        let Some(tokens) = &self.tokens else { return Ok(None) };
        let Some(holder) = tokens.holder(headers) else {
            self.take(Key::of(address))?;
            return Err(Failure::Unauthenticated);
        };
        Ok(Some(holder))
    }

    fn take(&self, key: Key) -> Result<(), Failure> {
        let Some(rate) = &self.rate else { return Ok(()) };
        rate.take(key).map_err(|wait| Failure::RateLimited { wait })
    }

    /// Keeps up with the file of tokens, for ever.
    pub(crate) async fn follow(&self) {
        if let Some(tokens) = &self.tokens {
            tokens.follow().await;
        }
    }
}
