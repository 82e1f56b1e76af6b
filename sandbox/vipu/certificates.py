"""Certificates of one controller: an authority, its server's, and a client's, since both sides prove who they are."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from .storage import CERTIFICATES

_LIFE = datetime.timedelta(days=365)


@dataclass(frozen=True)
class VipuCertificates:
    """Files below `vipu-certs`. The folder `client` is what a client gets; names of files are assumed."""

    folder: Path

    @property
    def there(self) -> bool:
        """True once they were made."""
        return self.server_chain.exists()

    @property
    def server_chain(self) -> Path:
        """The server's certificate."""
        return self.folder / "server" / "server.pem"

    @property
    def server_key(self) -> Path:
        """Its key."""
        return self.folder / "server" / "server.key"

    @property
    def authority(self) -> Path:
        """What both sides trust."""
        return self.folder / "client" / "ca.pem"

    @property
    def client_chain(self) -> Path:
        """A client's certificate."""
        return self.folder / "client" / "client.pem"

    @property
    def client_key(self) -> Path:
        """Its key."""
        return self.folder / "client" / "client.key"

    def server_context(self) -> ssl.SSLContext:
        """TLS of the server, which takes clients of its own authority alone."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(self.server_chain, self.server_key)
        context.load_verify_locations(self.authority)
        context.verify_mode = ssl.CERT_REQUIRED
        return context


def certificates_of(folder: Path) -> VipuCertificates:
    """Those of a controller's folder, whether they are there or not."""
    return VipuCertificates(folder / CERTIFICATES)


def make_certificates(folder: Path, names: tuple[str, ...] = ()) -> VipuCertificates:
    """New ones, for 127.0.0.1, localhost and further names or addresses. The authority's key is not kept."""
    files = certificates_of(folder)
    for place in ("server", "client"):
        (files.folder / place).mkdir(parents=True, exist_ok=True)
    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca_name = _name("simulator of V-IPU, authority")
    ca = (
        _builder(ca_name, ca_name, ca_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(ca_key.public_key()), critical=False)
        .add_extension(_usage(signs=True), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    files.authority.write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    alternatives = [_alternative(name) for name in ("127.0.0.1", "localhost", *names)]
    _leaf(files.server_chain, files.server_key, ca, ca_key, ExtendedKeyUsageOID.SERVER_AUTH, alternatives)
    _leaf(files.client_chain, files.client_key, ca, ca_key, ExtendedKeyUsageOID.CLIENT_AUTH, [])
    return files


def _leaf(
    chain: Path,
    key_file: Path,
    ca: x509.Certificate,
    ca_key: ec.EllipticCurvePrivateKey,
    purpose: x509.ObjectIdentifier,
    alternatives: list[x509.GeneralName],
) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    builder = (
        _builder(_name("simulator of V-IPU"), ca.subject, key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
        .add_extension(_usage(signs=False), critical=True)
    )
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    chain.write_bytes(builder.sign(ca_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    key_file.touch(mode=0o600)
    key_file.chmod(0o600)
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + _LIFE)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )
