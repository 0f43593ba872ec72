//! The certificate of the server, its key, and the authorities of its clients: read at start, and anew when they change.
//!
//! Owns those files and what rustls is told. Handshakes are in `connection`; who may call what is no matter of
//! certificates: one of a client lets its connection in, and says nothing more.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use rustls::{
    Error, InconsistentKeys, RootCertStore, ServerConfig,
    crypto::{CryptoProvider, ring},
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject as _},
    },
    server::{VerifierBuilderError, WebPkiClientVerifier},
    sign::{CertifiedKey, SingleCertAndKey},
};
use sha2::{Digest as _, Sha256};
use tokio_rustls::TlsAcceptor;

use crate::config::Config;

/// The files are looked at no oftener than this, however many connections come in.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// No file is read further: a bundle of all public authorities has a quarter of it.
const MAX_FILE_BYTES: u64 = 1 << 20;

const CERT: &str = "--tls-cert";
const KEY: &str = "--tls-key";
const CLIENT_CA: &str = "--tls-client-ca";

/// Why TLS cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("{CERT} and {KEY} go together, and {CLIENT_CA} needs both")]
    Incomplete,
    #[error("{setting} {}: {fault}", path.display())]
    File { setting: &'static str, path: PathBuf, fault: Fault },
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
    #[error(
        "it has no certificate: write PEM, first the one of the server, then those that signed it"
    )]
    NoCertificate,
    #[error("it has no certificate: write PEM, those that sign the certificates of clients")]
    NoAuthorities,
    #[error("it has no private key: write PEM, not encrypted")]
    NoKey,
    #[error("it is broken: {0}")]
    Broken(pem::Error),
    #[error("it is not the key of the certificate in {}", .0.display())]
    OtherKey(PathBuf),
    #[error("it cannot be used: {0}")]
    Unusable(Error),
    #[error("it cannot be used: {0}")]
    NoAuthority(VerifierBuilderError),
}

/// How connections are encrypted.
pub(crate) struct Tls {
    files: Files,
    acceptor: TlsAcceptor,
    /// What the files were when they were looked at last, or why they could not be read.
    seen: Result<[u8; 32], String>,
    looked: Instant,
}

struct Files {
    cert: PathBuf,
    key: PathBuf,
    client_ca: Option<PathBuf>,
}

/// What is in the files.
struct Contents {
    cert: Vec<u8>,
    key: Vec<u8>,
    client_ca: Option<Vec<u8>>,
}

impl Tls {
    /// What the settings ask for; nothing where they name no certificate.
    ///
    /// # Errors
    /// Names the file that cannot be used, or the setting that is missing.
    pub(crate) fn load(config: &Config) -> Result<Option<Tls>, TlsError> {
        let files = match (config.tls_cert.clone(), config.tls_key.clone()) {
            (Some(cert), Some(key)) => Files { cert, key, client_ca: config.tls_client_ca.clone() },
            (None, None) if config.tls_client_ca.is_none() => return Ok(None),
            // Settings from a program are not checked; who wants TLS must not be served without.
            _ => return Err(TlsError::Incomplete),
        };
        let contents = files.read()?;
        let acceptor = files.acceptor(&contents)?;
        let seen = Ok(contents.digest());
        Ok(Some(Tls { files, acceptor, seen, looked: Instant::now() }))
    }

    /// What the next connection is encrypted with. Now and then it looks at the files, which takes some microseconds.
    pub(crate) fn acceptor(&mut self) -> &TlsAcceptor {
        if self.looked.elapsed() >= LOOK_AGAIN {
            self.looked = Instant::now();
            match self.look() {
                Some(Ok(())) => tracing::info!("new connections have the new certificate"),
                Some(Err(error)) => {
                    tracing::warn!(%error, "the certificate in use stays, for the new one is no good");
                }
                None => {}
            }
        }
        &self.acceptor
    }

    /// Takes over what has changed. Nothing has, or it is known to be broken: `None`.
    fn look(&mut self) -> Option<Result<(), TlsError>> {
        let contents = self.files.read();
        let seen = contents.as_ref().map(Contents::digest).map_err(ToString::to_string);
        if seen == self.seen {
            return None;
        }
        self.seen = seen;
        let acceptor = contents.and_then(|contents| self.files.acceptor(&contents));
        Some(acceptor.map(|acceptor| self.acceptor = acceptor))
    }
}

impl Files {
    fn read(&self) -> Result<Contents, TlsError> {
        Ok(Contents {
            cert: read(CERT, &self.cert)?,
            key: read(KEY, &self.key)?,
            client_ca: self.client_ca.as_ref().map(|path| read(CLIENT_CA, path)).transpose()?,
        })
    }

    fn acceptor(&self, contents: &Contents) -> Result<TlsAcceptor, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .expect("ring speaks TLS 1.2 and 1.3");
        let builder = match (&self.client_ca, &contents.client_ca) {
            (Some(path), Some(text)) => {
                let roots = authorities(path, text)?;
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone())
                        .build()
                        .map_err(|error| wrong(CLIENT_CA, path, Fault::NoAuthority(error)))?;
                builder.with_client_cert_verifier(verifier)
            }
            _ => builder.with_no_client_auth(),
        };
        let certified = self.certified(contents, &provider)?;
        let mut config = builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Arc::new(config).into())
    }

    fn certified(
        &self,
        contents: &Contents,
        provider: &CryptoProvider,
    ) -> Result<CertifiedKey, TlsError> {
        let chain = certificates(CERT, &self.cert, &contents.cert)?;
        let key = PrivateKeyDer::from_pem_slice(&contents.key).map_err(|error| match error {
            pem::Error::NoItemsFound => Fault::NoKey,
            error => Fault::Broken(error),
        });
        let key = key
            .and_then(|key| provider.key_provider.load_private_key(key).map_err(Fault::Unusable))
            .map_err(|fault| wrong(KEY, &self.key, fault))?;
        let certified = CertifiedKey::new(chain, key);
        match certified.keys_match() {
            Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(certified),
            Err(Error::InconsistentKeys(_)) => {
                Err(wrong(KEY, &self.key, Fault::OtherKey(self.cert.clone())))
            }
            Err(error) => Err(wrong(CERT, &self.cert, Fault::Unusable(error))),
        }
    }
}

impl Contents {
    fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        for part in [Some(&self.cert), Some(&self.key), self.client_ca.as_ref()] {
            let part = part.map_or(&[][..], Vec::as_slice);
            digest.update(part.len().to_le_bytes());
            digest.update(part);
        }
        digest.finalize().into()
    }
}

fn wrong(setting: &'static str, path: &Path, fault: Fault) -> TlsError {
    TlsError::File { setting, path: path.to_owned(), fault }
}

fn read(setting: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES).read_to_end(&mut text))
        .map_err(|error| wrong(setting, path, Fault::Unreadable(error)))?;
    Ok(text)
}

/// The certificates of a file; there is at least one.
fn certificates(
    setting: &'static str,
    path: &Path,
    text: &[u8],
) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    match certificates {
        Ok(none) if none.is_empty() && setting == CLIENT_CA => {
            Err(wrong(setting, path, Fault::NoAuthorities))
        }
        Ok(none) if none.is_empty() => Err(wrong(setting, path, Fault::NoCertificate)),
        Ok(some) => Ok(some),
        Err(error) => Err(wrong(setting, path, Fault::Broken(error))),
    }
}

fn authorities(path: &Path, text: &[u8]) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(CLIENT_CA, path, text)? {
        roots.add(certificate).map_err(|error| wrong(CLIENT_CA, path, Fault::Unusable(error)))?;
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rcgen::{CertifiedKey, generate_simple_self_signed};

    use super::*;

    /// A folder of this test with a certificate and its key, and settings that name them.
    fn config(name: &str) -> Config {
        let folder =
            std::env::temp_dir().join(format!("herdsman-tls-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let config = Config {
            tls_cert: Some(folder.join("cert.pem")),
            tls_key: Some(folder.join("key.pem")),
            ..Config::default()
        };
        renew(&config);
        config
    }

    fn renew(config: &Config) {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        write(&config.tls_cert, &cert.pem());
        write(&config.tls_key, &signing_key.serialize_pem());
    }

    fn write(path: &Option<PathBuf>, text: &str) {
        fs::write(path.as_ref().unwrap(), text).unwrap();
    }

    #[track_caller]
    fn check(config: &Config, parts: &[&str]) {
        let error = Tls::load(config).err().expect("it is wrong").to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }

    #[test]
    fn a_file_that_cannot_be_used_is_named_with_what_is_wrong() {
        let config = config("wrong");
        let cert = fs::read_to_string(config.tls_cert.as_ref().unwrap()).unwrap();
        let key = fs::read_to_string(config.tls_key.as_ref().unwrap()).unwrap();
        assert!(Tls::load(&config).unwrap().is_some());
        for (text, part) in [
            ("", "no certificate"),
            ("hello", "no certificate"),
            (&key, "no certificate"),
            (&cert[..200], "broken"),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "cannot be used"),
        ] {
            write(&config.tls_cert, text);
            check(&config, &["--tls-cert", "cert.pem", part]);
        }
        write(&config.tls_cert, &cert);
        write(&config.tls_key, &cert);
        check(&config, &["--tls-key", "key.pem", "no private key"]);
        fs::remove_file(config.tls_key.as_ref().unwrap()).unwrap();
        check(&config, &["--tls-key", "key.pem", "cannot be read"]);
        renew(&config);
        write(&config.tls_cert, &cert);
        check(&config, &["--tls-key", "key.pem", "not the key", "cert.pem"]);

        renew(&config);
        let with = |name: &str| Config { tls_client_ca: Some(name.into()), ..config.clone() };
        check(&with("no-such-file"), &["--tls-client-ca", "no-such-file", "cannot be read"]);
        let key = config.tls_key.as_ref().unwrap().to_str().unwrap();
        check(&with(key), &["--tls-client-ca", "no certificate", "of clients"]);
        check(&Config { tls_key: None, ..config }, &["--tls-key"]);
    }

    #[test]
    fn what_changed_is_taken_over_and_what_broke_is_told_once() {
        let config = config("changes");
        let mut tls = Tls::load(&config).unwrap().unwrap();
        assert!(tls.look().is_none());
        let first = tls.acceptor.config().clone();
        write(&config.tls_key, "half a key");
        assert!(tls.look().unwrap().is_err() && tls.look().is_none());
        fs::remove_file(config.tls_key.as_ref().unwrap()).unwrap();
        assert!(tls.look().unwrap().is_err() && tls.look().is_none());
        assert!(Arc::ptr_eq(&first, tls.acceptor.config()));
        renew(&config);
        assert!(tls.look().unwrap().is_ok() && tls.look().is_none());
        assert!(!Arc::ptr_eq(&first, tls.acceptor.config()));
    }
}
