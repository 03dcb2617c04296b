//! Object stores and registries, on real servers. `spec-tests/remote/install` installs them.

mod servers;

#[test]
fn x() {
    drop(servers::Server::s3());
    drop(servers::Server::azure());
    drop(servers::Server::registry(true));
}
