"""A client of the stand-in with nothing of ours in it: `requests`, which verifies the certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import requests
from requests.auth import AuthBase

from sandbox.infiniband.standin import StandIn
from sandbox.infiniband.subnet import LiveSubnet
from sandbox.infiniband.topology import hex16


@dataclass(frozen=True)
class TokenLogin(AuthBase):
    """UFM's own form: the raw token behind the word Basic."""

    token: str

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Basic {self.token}"
        return request


@dataclass(frozen=True)
class Caller:
    """Calls one stand-in, by password unless its profile wants a token."""

    standin: StandIn

    def __call__(self, method: str, path: str, body: Any = None, **query: str) -> requests.Response:
        prefix = self.standin.profile.prefixes[0]
        by_token = prefix == "/ufmRestV3"
        with requests.Session() as session:
            # Otherwise a bundle that the environment names would be trusted in place of this authority.
            session.trust_env = False
            session.verify = self.standin.ca_file
            session.auth = TokenLogin(self.standin.token) if by_token else (self.standin.user, self.standin.password)
            return session.request(method, f"{self.standin.url}{prefix}{path}", json=body, params=query, timeout=30)

    def members(self, key: int) -> dict[str, tuple[str, bool]]:
        """GUID -> membership and whether the key is at index 0."""
        answer = self("GET", f"/resources/pkeys/{key:#x}", guids_data="true")
        assert answer.status_code == 200, answer.text
        return {item["guid"]: (item["membership"], item["index0"]) for item in answer.json().get("guids", [])}

    def listed(self) -> set[str]:
        """Every key that is listed."""
        return set(self("GET", "/resources/pkeys").json())


def guid(subnet: LiveSubnet, name: str) -> str:
    """A GUID as UFM writes it."""
    return hex16(subnet.topology.guid(name))


def guids(subnet: LiveSubnet, *names: str) -> list[str]:
    """Several."""
    return [guid(subnet, name) for name in names]
