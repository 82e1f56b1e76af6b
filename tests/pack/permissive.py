"""A provider that lets everything pass and makes nothing, so that only the policy pack stands in the way."""

from __future__ import annotations

import sys
from uuid import uuid4

from pulumi.provider.experimental import provider
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.provider.experimental.server import main


class Permissive(provider.Provider):
    """Echoes inputs as outputs, at preview too."""

    async def check_config(self, request: provider.CheckRequest) -> provider.CheckResponse:
        return provider.CheckResponse(inputs=request.new_inputs)

    async def diff_config(self, request: provider.DiffRequest) -> provider.DiffResponse:
        return provider.DiffResponse(changes=False)

    async def configure(self, request: provider.ConfigureRequest) -> provider.ConfigureResponse:
        return provider.ConfigureResponse()

    async def invoke(self, request: provider.InvokeRequest) -> provider.InvokeResponse:
        return provider.InvokeResponse(return_value={"faults": PropertyValue([])})

    async def check(self, request: provider.CheckRequest) -> provider.CheckResponse:
        return provider.CheckResponse(inputs=request.new_inputs)

    async def diff(self, request: provider.DiffRequest) -> provider.DiffResponse:
        return provider.DiffResponse(changes=dict(request.old_state) != dict(request.new_inputs))

    async def update(self, request: provider.UpdateRequest) -> provider.UpdateResponse:
        return provider.UpdateResponse(properties=dict(request.news))

    async def create(self, request: provider.CreateRequest) -> provider.CreateResponse:
        ident = "" if request.preview else str(uuid4())
        return provider.CreateResponse(resource_id=ident, properties=dict(request.properties))

    async def delete(self, request: provider.DeleteRequest) -> None:
        """Nothing was made."""


if __name__ == "__main__":
    main(sys.argv[1:], "0.1.0", Permissive())
