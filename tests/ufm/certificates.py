"""A certificate authority of the tests' own, and what it signs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _pem(key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> bytes:
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, plain) + certificate.public_bytes(
        serialization.Encoding.PEM
    )


def issue(folder: Path, host: str = "localhost", *, days: int = 1) -> tuple[Path, Path]:
    """(certificate of the authority, certificate and key of the host). With negative `days` the second has expired."""
    now = datetime.now(UTC)
    own, theirs = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    start = now - timedelta(days=10)

    def build(subject: str, key: ec.EllipticCurvePrivateKey, until: datetime) -> x509.CertificateBuilder:
        builder = x509.CertificateBuilder().subject_name(_name(subject)).issuer_name(_name("authority of the tests"))
        builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
        return builder.not_valid_before(start).not_valid_after(until)

    authority = build("authority of the tests", own, now + timedelta(days=2))
    authority = authority.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    named = x509.SubjectAlternativeName([x509.DNSName(host)])
    host_certificate = build(host, theirs, now + timedelta(days=days)).add_extension(named, critical=False)
    ca, file = folder / "ca.pem", folder / f"{host}.pem"
    ca.write_bytes(authority.sign(own, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    file.write_bytes(_pem(theirs, host_certificate.sign(own, hashes.SHA256())))
    return ca, file
