//! TLS to the server: whom we trust, who we are, and what a connection that failed was about.
//!
//! Owns the files that `--ca`, `--cert` and `--key` name, and reads the errors of rustls.

use std::{env, error::Error, fs, io, iter, path::PathBuf, time::Duration};

use rustls::{
    AlertDescription, CertificateError,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

use crate::{args::Options, failure::Failure};

/// Why a server cannot be spoken to over TLS.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(
        "its certificate is not trusted ({0}): name the authority that signed it with --ca FILE"
    )]
    Untrusted(CertificateError),
    #[error(
        "its certificate is for another name ({0}): call it by a name that the certificate has"
    )]
    OtherName(CertificateError),
    #[error("it speaks no TLS: write it as http://")]
    Plain,
    #[error(
        "it lets in only clients with a certificate that it knows: give one with --cert FILE and --key FILE ({0})"
    )]
    NotAdmitted(rustls::Error),
    #[error("TLS failed: {0}")]
    Other(rustls::Error),
}

/// `endpoint` over TLS that is agreed on within `timeout`, as the flags say, or else the environment.
///
/// # Errors
/// Names the file that cannot be used.
pub(crate) fn secure(
    endpoint: Endpoint,
    timeout: Duration,
    options: &Options,
) -> Result<Endpoint, Failure> {
    let mut tls = ClientTlsConfig::new().timeout(timeout);
    tls = match named(&options.ca, "HERDSMAN_CA") {
        Some(path) => tls.ca_certificate(Certificate::from_pem(certificates("--ca", &path)?)),
        None => tls.with_native_roots(),
    };
    match (named(&options.cert, "HERDSMAN_CERT"), named(&options.key, "HERDSMAN_KEY")) {
        (Some(cert), Some(key)) => {
            let cert = certificates("--cert", &cert)?;
            tls = tls.identity(Identity::from_pem(cert, private_key("--key", &key)?));
        }
        (None, None) => {}
        _ => return Err(Failure::Usage("--cert and --key go together: give both".to_owned())),
    }
    endpoint.tls_config(tls).map_err(|error| {
        let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        Failure::Usage(format!(
            "no TLS with what --ca (without it, this system), --cert and --key name: {cause}"
        ))
    })
}

/// A server without TLS is not to be called by whoever asks for it.
pub(crate) fn refuse_flags(options: &Options) -> Result<(), Failure> {
    if options.ca.is_none() && options.cert.is_none() && options.key.is_none() {
        return Ok(());
    }
    Err(Failure::Usage("--ca, --cert and --key are for TLS: write --server https://...".to_owned()))
}

/// What rustls says in the causes of `error`.
pub(crate) fn fault(error: &(dyn Error + 'static)) -> Option<Fault> {
    let error = iter::successors(Some(error), |&cause| cause.source()).find_map(|cause| {
        // What is within an io::Error is not its source.
        let within = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let within = within.and_then(|inner| inner.downcast_ref::<rustls::Error>());
        within.or_else(|| cause.downcast_ref())
    })?;
    Some(match error.clone() {
        rustls::Error::InvalidCertificate(
            reason @ (CertificateError::NotValidForName
            | CertificateError::NotValidForNameContext { .. }),
        ) => Fault::OtherName(reason),
        rustls::Error::InvalidCertificate(
            reason @ (CertificateError::UnknownIssuer | CertificateError::BadSignature),
        ) => Fault::Untrusted(reason),
        rustls::Error::InvalidMessage(_) => Fault::Plain,
        alert @ rustls::Error::AlertReceived(
            AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
            | AlertDescription::DecryptError,
        ) => Fault::NotAdmitted(alert),
        other => Fault::Other(other),
    })
}

/// The file of a flag, or of its variable; an empty one names none.
fn named(flag: &Option<PathBuf>, variable: &str) -> Option<PathBuf> {
    flag.clone()
        .or_else(|| env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from))
}

fn certificates(flag: &str, path: &PathBuf) -> Result<Vec<u8>, Failure> {
    read::<CertificateDer<'_>>(flag, path, "certificate")
}

fn private_key(flag: &str, path: &PathBuf) -> Result<Vec<u8>, Failure> {
    read::<PrivateKeyDer<'_>>(flag, path, "private key")
}

/// A file in PEM, which has at least one `T` and none that is broken.
fn read<T: PemObject>(flag: &str, path: &PathBuf, what: &str) -> Result<Vec<u8>, Failure> {
    let source_name = format!("{flag} {}", path.display());
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) => return Err(Failure::Read { source_name, error }),
    };
    let items: Result<Vec<T>, pem::Error> = T::pem_slice_iter(&text).collect();
    match items {
        Ok(items) if !items.is_empty() => Ok(text),
        Ok(_) => Err(Failure::Usage(format!("{source_name}: it has no {what} in PEM"))),
        Err(error) => Err(Failure::Usage(format!("{source_name}: it is broken: {error}"))),
    }
}
