"""What ssh certificates are known by: their principals, and the id that sshd writes into its log."""

from __future__ import annotations

from dataclasses import dataclass

from .stacks import StackName


@dataclass(frozen=True)
class LoginPrincipal:
    """An account on the servers of a stack (`lyon-acme:ubuntu`), or of a vPOD or cluster (`lyon-acme/train:ubuntu`)."""

    stack: StackName
    account: str
    part: str | None = None

    def __str__(self) -> str:
        where = str(self.stack) if self.part is None else f"{self.stack}/{self.part}"
        return f"{where}:{self.account}"


@dataclass(frozen=True)
class CertificateId:
    """Who a certificate names: `lyon-acme/anne`."""

    stack: StackName
    person: str

    def __str__(self) -> str:
        return f"{self.stack}/{self.person}"
