//! Certificates: those of the authorities that a client trusts, and its own.

use std::fmt;

use rustls::Error;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};

/// The certificates of a client.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// Authorities to trust instead of the public ones, in PEM form.
    pub authorities: Option<Vec<u8>>,
    /// The certificate that the client shows to servers that ask for one.
    pub identity: Option<Identity>,
    /// The certificates of servers are not checked.
    pub unchecked: bool,
}

/// A certificate with those of its authorities, and its key, in PEM form.
#[derive(Clone)]
pub struct Identity {
    /// The certificates, that of the client first.
    pub certificates: Vec<u8>,
    /// The key.
    pub key: Vec<u8>,
}

impl fmt::Debug for Identity {
    /// Leaves out the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

/// The reason why certificates cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoCertificate {
    /// There is none in the file of authorities.
    Authorities,
    /// There is none in the file of the client's certificate.
    Own,
    /// There is no key in the file of the client's key.
    Key,
    /// The key cannot be used with the certificate.
    Unfit(String),
}

impl fmt::Display for NoCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Authorities => f.write_str("the file of authorities to trust has no certificate in PEM form"),
            Self::Own => f.write_str("the file of the client's certificate has no certificate in PEM form"),
            Self::Key => f.write_str("the file of the client's key has no key in PEM form without a passphrase"),
            Self::Unfit(why) => write!(f, "the client's key cannot be used with its certificate: {why}"),
        }
    }
}

impl Trust {
    pub(super) fn config(&self) -> Result<TlsConfig, NoCertificate> {
        let mut config = TlsConfig::builder().disable_verification(self.unchecked);
        if let Some(pem) = &self.authorities {
            config = config.root_certs(RootCerts::new_with_certs(&certificates(pem, NoCertificate::Authorities)?));
        }
        let identity = self.identity.as_ref().map(Identity::read).transpose()?;
        Ok(config.client_cert(identity).build())
    }
}

impl Identity {
    fn read(&self) -> Result<ClientCert, NoCertificate> {
        let own = certificates(&self.certificates, NoCertificate::Own)?;
        let key = PrivateKey::from_pem(&self.key).map_err(|_| NoCertificate::Key)?;
        // The client itself would panic.
        let chain = CertificateDer::pem_slice_iter(&self.certificates).filter_map(Result::ok).collect();
        let der = PrivateKeyDer::from_pem_slice(&self.key).map_err(|_| NoCertificate::Key)?;
        CertifiedKey::from_der(chain, der, &default_provider()).map_err(|error| match error {
            Error::InconsistentKeys(_) => NoCertificate::Unfit("it is the key of another one".to_owned()),
            Error::InvalidCertificate(_) => NoCertificate::Unfit("the certificate is damaged".to_owned()),
            other => NoCertificate::Unfit(other.to_string()),
        })?;
        Ok(ClientCert::new_with_certs(&own, key))
    }
}

/// Returns the certificates in a file.
fn certificates(pem: &[u8], none: NoCertificate) -> Result<Vec<Certificate<'static>>, NoCertificate> {
    let certificate = |item: Result<PemItem<'static>, _>| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    };
    let found: Vec<_> = parse_pem(pem).filter_map(certificate).collect();
    if found.is_empty() { Err(none) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_certificates_or_keys_are_named() {
        let of = |certificates: &[u8], key: &[u8]| {
            let identity = Some(Identity { certificates: certificates.to_vec(), key: key.to_vec() });
            Trust { identity, ..Trust::default() }.config().err()
        };
        let certificate = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let key = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        assert_eq!(of(b"", key), Some(NoCertificate::Own));
        assert_eq!(of(key, key), Some(NoCertificate::Own));
        assert_eq!(of(certificate, certificate), Some(NoCertificate::Key));
        assert!(matches!(of(certificate, key), Some(NoCertificate::Unfit(_))));
        assert!(!format!("{:?}", Identity { certificates: Vec::new(), key: b"s3cret".to_vec() }).contains("s3cret"));
        let authorities = Trust { authorities: Some(key.to_vec()), ..Trust::default() };
        assert_eq!(authorities.config().err(), Some(NoCertificate::Authorities));
        assert!(Trust::default().config().is_ok());
    }
}
