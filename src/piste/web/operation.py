"""The addresses for whoever runs the server: whether it lives, whether it is ready, and its metrics."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from piste.core.errors import PisteError
from piste.web.network import is_loopback
from piste.web.settings import Settings
from piste.web.tables.service import TableService

READY_TIMEOUT_S = 3.0  # whoever asks whether this server is ready is told quickly that it is not


@dataclass(eq=False)
class OperationSite:
    """Handles what probes and monitors ask for."""

    service: TableService
    settings: Settings

    async def healthz(self, _request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(self, _request: Request) -> Response:
        if self.service.registry.closing:
            return PlainTextResponse("This server is stopping. Ask another one, or come back in a moment.\n", 503)
        try:
            await asyncio.wait_for(self.service.storage.read(self.service.storage.ready), READY_TIMEOUT_S)
        except TimeoutError:
            return PlainTextResponse(f"The storage did not answer within {READY_TIMEOUT_S:g} seconds.\n", 503)
        except PisteError as e:
            return PlainTextResponse(f"{e}\n", 503)
        return PlainTextResponse("ok\n")

    async def metrics(self, request: Request) -> Response:
        # How long a bot thought tells whether it had a choice. Its opponents must not know.
        if not self.settings.open_metrics and not is_loopback(request.client.host if request.client else ""):
            raise HTTPException(404)
        return Response(await self.service.metrics_text(), headers={"content-type": CONTENT_TYPE_LATEST})

    def routes(self) -> list[Route]:
        return [
            Route("/healthz", self.healthz),
            Route("/readyz", self.readyz),
            Route("/metrics", self.metrics),
        ]
