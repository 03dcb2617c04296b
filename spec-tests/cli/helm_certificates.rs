//! Certificates that charts make, as OpenSSL reads them.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use crate::support::Sandbox;

/// Makes an authority and a server's certificate with keys of the kind `.Values.kind`, or with those that they have without
/// one, and a certificate of its own.
const SECRET: &str = r#"{{- $names := list "web.svc" "*.web.svc" -}}
{{- $ips := list "10.0.0.1" "fd00::1" -}}
{{- $ca := "" -}}{{- $cert := "" -}}{{- $own := "" -}}
{{- with .Values.kind -}}
{{- $ca = genCAWithKey "shop-ca" 30 (genPrivateKey .) -}}
{{- $cert = genSignedCertWithKey "web.svc" $ips $names 30 $ca (genPrivateKey .) -}}
{{- $own = genSelfSignedCertWithKey "own" nil (list "own.svc") 30 (genPrivateKey .) -}}
{{- else -}}
{{- $ca = genCA "shop-ca" 30 -}}
{{- $cert = genSignedCert "web.svc" $ips $names 30 $ca -}}
{{- $own = genSelfSignedCert "own" nil (list "own.svc") 30 -}}
{{- end -}}
kind: Secret
stringData: {{ dict "ca" $ca "cert" $cert "own" $own | toJson }}
"#;

/// Returns what OpenSSL prints in the sandbox.
fn openssl(sandbox: &Sandbox, args: &str) -> Result<String, String> {
    let mut command = Command::new("openssl");
    command.args(args.split(' ')).current_dir(sandbox.path(".")).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    if output.status.success() { Ok(text) } else { Err(text) }
}

/// Returns `true` if OpenSSL is there. In continuous integration it has to be.
fn is_installed() -> bool {
    let found = Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_ok_and(|code| code.success());
    assert!(found || std::env::var_os("CI").is_none(), "openssl is missing");
    if !found {
        eprintln!("skipped: there is no openssl here");
    }
    found
}

/// Renders the chart, and writes its certificates and keys to `ca.crt`, `ca.key` and so on.
fn certificates(kind: &str) -> Sandbox {
    let sandbox = Sandbox::with(&[
        ("c/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("c/templates/secret.yaml", SECRET),
    ]);
    let set = format!("kind={kind}");
    let text = sandbox.run(&["render", "c", "--allow", "random", "--set", &set]).expect(0).stdout;
    let line = text.lines().find_map(|line| line.strip_prefix("stringData: ")).unwrap();
    let made: BTreeMap<String, BTreeMap<String, String>> = serde_json::from_str(line).unwrap();
    for (name, pair) in &made {
        sandbox.write(&format!("{name}.crt"), &pair["Cert"]);
        sandbox.write(&format!("{name}.key"), &pair["Key"]);
    }
    sandbox
}

#[test]
fn certificates_have_their_names_and_their_chain() {
    if !is_installed() {
        return;
    }
    for kind in ["", "ecdsa", "ed25519"] {
        let sandbox = certificates(kind);
        let read =
            |args: &str| openssl(&sandbox, args).unwrap_or_else(|error| panic!("{kind}: openssl {args}: {error}"));
        let cert = read(
            "x509 -in cert.crt -noout -nameopt RFC2253 -subject -issuer -ext subjectAltName,basicConstraints,extendedKeyUsage",
        );
        for part in [
            "subject=CN=web.svc\n",
            "issuer=CN=shop-ca\n",
            "DNS:web.svc, DNS:*.web.svc, IP Address:10.0.0.1, IP Address:FD00:0:0:0:0:0:0:1\n",
            "CA:FALSE",
            "TLS Web Server Authentication, TLS Web Client Authentication",
        ] {
            assert!(cert.contains(part), "{kind}: no {part:?} in {cert}");
        }
        let authority = read("x509 -in ca.crt -noout -nameopt RFC2253 -subject -ext basicConstraints,keyUsage");
        for part in ["subject=CN=shop-ca\n", "CA:TRUE", "Certificate Sign"] {
            assert!(authority.contains(part), "{kind}: no {part:?} in {authority}");
        }
        for name in ["ca", "cert", "own"] {
            read(&format!("pkey -in {name}.key -noout -check"));
            read(&format!("x509 -in {name}.crt -noout -text -checkend 86400"));
            let public = read(&format!("x509 -in {name}.crt -noout -pubkey"));
            assert_eq!(public, read(&format!("pkey -in {name}.key -pubout")), "{kind}: {name}");
            assert!(
                openssl(&sandbox, &format!("x509 -in {name}.crt -noout -checkend 2678400")).is_err(),
                "{kind}: {name}"
            );
        }
        for host in ["-verify_hostname a.web.svc", "-verify_ip 10.0.0.1", "-verify_ip fd00::1"] {
            read(&format!("verify -x509_strict -purpose sslserver {host} -CAfile ca.crt cert.crt"));
        }
        read("verify -verify_hostname own.svc -CAfile own.crt own.crt");
        for wrong in ["-CAfile own.crt cert.crt", "-verify_hostname own.svc -CAfile ca.crt cert.crt"] {
            assert!(openssl(&sandbox, &format!("verify {wrong}")).is_err(), "{kind}: {wrong}");
        }
    }
}
