"""Certificates of one controller: an authority, its server's, and a client's, since both sides prove who they are."""

from __future__ import annotations

import datetime
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography.x509.oid import ExtendedKeyUsageOID

from sandbox.authority import HERE, make_authority

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
    authority, subject = make_authority("simulator of V-IPU, authority", _LIFE), "simulator of V-IPU"
    authority.write(files.authority)
    server, client = [ExtendedKeyUsageOID.SERVER_AUTH], [ExtendedKeyUsageOID.CLIENT_AUTH]
    authority.issue(subject, files.server_chain, files.server_key, (*HERE, *names), server)
    authority.issue(subject, files.client_chain, files.client_key, purposes=client)
    return files
