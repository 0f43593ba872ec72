//! Certificates for one test: an authority, what it signs, and clients that trust it.

use std::{env, fs, net::SocketAddr, path::PathBuf, process};

use herdsman_proto::v1::solver_service_client::SolverServiceClient;
use herdsman_server::Config;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tonic::transport::{self, Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

pub(crate) struct Authority {
    folder: PathBuf,
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// With files in a folder of its own.
    pub(crate) fn new(name: &str) -> Authority {
        let folder = env::temp_dir().join(format!("herdsman-{name}-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        fs::write(folder.join("ca.pem"), &pem).unwrap();
        Authority { folder, pem, issuer: Issuer::new(params, key) }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A certificate for this machine and its key, in PEM.
    pub(crate) fn sign(&self) -> (String, String) {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let key = KeyPair::generate().unwrap();
        let cert = CertificateParams::new(names).unwrap().signed_by(&key, &self.issuer).unwrap();
        (cert.pem(), key.serialize_pem())
    }

    /// Settings of a server with a certificate of this authority: `cert.pem` and `key.pem`.
    pub(crate) fn config(&self) -> Config {
        let (cert, key) = self.sign();
        fs::write(self.file("cert.pem"), cert).unwrap();
        fs::write(self.file("key.pem"), key).unwrap();
        Config {
            threads: 2,
            tls_cert: Some(self.file("cert.pem")),
            tls_key: Some(self.file("key.pem")),
            ..Config::default()
        }
    }

    /// Who is signed by this authority, as a client says it.
    pub(crate) fn identity(&self) -> Identity {
        let (cert, key) = self.sign();
        Identity::from_pem(cert, key)
    }

    /// A connection to a server that this authority vouches for.
    pub(crate) async fn connect(
        &self,
        address: SocketAddr,
        identity: Option<Identity>,
    ) -> Result<SolverServiceClient<Channel>, transport::Error> {
        let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&self.pem));
        if let Some(identity) = identity {
            tls = tls.identity(identity);
        }
        let endpoint = Endpoint::from_shared(format!("https://{address}"))?;
        Ok(SolverServiceClient::new(endpoint.tls_config(tls)?.connect().await?))
    }
}
