"""Serve the console to browsers on this machine: one process for each page, behind an address that nobody guesses."""

from __future__ import annotations

import logging
import secrets
import shlex
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence

import aiohttp_jinja2
import jinja2
from aiohttp import WSCloseCode, web
from team_console.console.defects import log_defect
from textual_serve.app_service import AppService
from textual_serve.server import Server

_LOOPBACK = "127.0.0.1"
_HEADERS = {
    # The page of textual-serve asks another site for its font, which would learn the address from the Referer.
    "Content-Security-Policy": "default-src 'self' 'unsafe-inline' data: blob:; "
    "connect-src 'self' ws:; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_HEAD = """<head>
<meta name="viewport" content="width=device-width">
<script>
  if (screen.width < 700 && !new URLSearchParams(location.search).has("fontsize"))
    location.search = "fontsize=" + Math.max(8, Math.floor(screen.width / 37));
</script>"""
"""What the page of textual-serve lacks on a phone: its real width, and letters so small that 60 columns fit into it."""
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class ConsoleServer(Server):
    """Pages of the console below `/TOKEN/`; every other address is forbidden, the websocket too.

    Attributes:
        url: The address to open.
    """

    def __init__(self, command: Sequence[str], *, port: int, title: str) -> None:
        """Listen on the loopback interface.

        Args:
            command: What runs in each page: a Textual app that takes its driver from the environment.
            port: Where; 0 for any free port.

        Raises:
            OSError: The port is not free.
        """
        self._socket = socket.create_server((_LOOPBACK, port))
        self._token = secrets.token_urlsafe(24)
        super().__init__(shlex.join(command), _LOOPBACK, self._socket.getsockname()[1], title)
        self.url = f"{self.public_url}/{self._token}/"

    def run(self) -> None:
        """Serve until the process is told to end."""
        # Anybody on this machine may send malformed requests: a log line for each would fill the terminal.
        logging.basicConfig(stream=sys.stderr, level=logging.CRITICAL)
        web.run_app(self._app(), sock=self._socket, print=None, shutdown_timeout=3)

    def _app(self) -> web.Application:
        """Return the web application: the pages of textual-serve below the token, and nothing else."""
        pages = web.Application()
        aiohttp_jinja2.setup(pages, loader=jinja2.FileSystemLoader(self.templates_path))
        pages.router.add_get("/", self.handle_index, name="index")
        pages.router.add_get("/ws", self.handle_websocket, name="websocket")
        pages.router.add_get("/download/{key}", self.handle_download, name="download")
        pages.router.add_static("/static", self.statics_path, name="static")
        app = web.Application(middlewares=[self._gate])
        app.add_subapp(f"/{self._token}/", pages)
        return app

    async def handle_index(self, request: web.Request) -> web.Response:
        """Return the page; see `Server.handle_index`, which is decorated to return it."""
        self.public_url = f"http://{request.host}"  # through ssh -L the port may be another
        page: web.Response = await super().handle_index(request)  # type: ignore[assignment]
        page.text = (page.text or "").replace("<head>", _HEAD, 1)
        return page

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Drive a console of its own for a page; see `Server.handle_websocket`, which takes any request for one.

        Raises:
            HTTPBadRequest: It is no websocket.
        """
        if not web.WebSocketResponse().can_prepare(request):
            raise web.HTTPBadRequest(text="This address is for the websocket of a page.\n")
        return await super().handle_websocket(request)

    async def _process_messages(self, websocket: web.WebSocketResponse, app_service: AppService) -> None:
        """Take what a page sends; a page that sends anything else, or whose console is gone, is closed."""
        try:
            await super()._process_messages(websocket, app_service)
        except (AssertionError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError):
            # guard: served-odd-frame-closes
            await websocket.close(code=WSCloseCode.POLICY_VIOLATION)

    @web.middleware
    async def _gate(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Let nobody in who does not know the token: other users of this machine reach its loopback, too."""
        _, _, path = request.path.partition("/")  # of `OPTIONS *` and CONNECT it has no slash
        token = path.partition("/")[0].encode("utf-8", "surrogateescape")
        # guard: served-behind-a-token
        if not secrets.compare_digest(token, self._token.encode()):
            raise web.HTTPForbidden(text="The address has a token, which team-console serve prints.\n")
        try:
            response = await handler(request)
        except web.HTTPException:
            raise
        except Exception as error:
            log_defect(error, where="a page of serve")
            raise web.HTTPInternalServerError(text="This is a defect in team-console; please report it.\n") from None
        if not response.prepared:
            response.headers.update(_HEADERS)
        return response
