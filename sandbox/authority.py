"""A certificate authority of one stand-in and the certificates that it signs; clients verify them as they would others.

Its key is in memory alone and is never written down, so nothing is signed later.
"""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

#: Names of a server that answers on this machine alone.
HERE = ("127.0.0.1", "localhost")


@dataclass(frozen=True)
class Authority:
    """Its certificate, its key, and how long what it signs is valid."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey
    life: datetime.timedelta

    def write(self, path: Path) -> None:
        """The certificate, as clients are told of it (PEM)."""
        path.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))

    def issue(
        self,
        subject: str,
        chain: Path,
        key_file: Path,
        names: Sequence[str] = (),
        purposes: Sequence[x509.ObjectIdentifier] = (),
    ) -> None:
        """A new key in `key_file`, which its owner alone reads, and its certificate in `chain` (PEM).

        `names`: host names and addresses; `purposes`: without any it is for all.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        builder = (
            _builder(_name(subject), self.certificate.subject, key.public_key(), self.life)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(identifier, critical=False)
            .add_extension(_usage(signs=False), critical=True)
        )
        if names:
            alternatives = x509.SubjectAlternativeName([_alternative(name) for name in names])
            builder = builder.add_extension(alternatives, critical=False)
        if purposes:
            builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        chain.write_bytes(builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        key_file.touch(mode=0o600)
        key_file.chmod(0o600)
        plain, form = serialization.NoEncryption(), serialization.PrivateFormat.PKCS8
        key_file.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))


def make_authority(name: str, life: datetime.timedelta) -> Authority:
    """A new one."""
    key, called = ec.generate_private_key(ec.SECP256R1()), _name(name)
    certificate = (
        _builder(called, called, key.public_key(), life)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(_usage(signs=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Authority(certificate, key, life)


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, life: datetime.timedelta
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + life)
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
