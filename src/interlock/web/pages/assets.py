"""Assets: the files that pages load, held in memory. A changed file gets a new URL."""

import hashlib
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from interlock.web.http_problem import problem

PREFIX = "/static/"

_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


class Asset(msgspec.Struct, frozen=True):
    content: bytes
    type: str
    address: str


class Assets:
    """Everything in `static`, read once."""

    def __init__(self) -> None:
        self._found = {name: _asset(name, each) for name, each in _below(_FOLDER)}

    def address(self, name: str) -> str:
        return self._found[name].address

    async def answer(self, request: Request) -> Response:
        asset = self._found.get(request.path_params["name"])
        if asset is None:
            return problem(404, "not found")
        same = request.url.query and asset.address.endswith(f"?{request.url.query}")
        age = "public, max-age=31536000, immutable" if same else "no-cache"
        return Response(asset.content, headers={"Cache-Control": age}, media_type=asset.type)


def _below(folder: Traversable, before: str = "") -> list[tuple[str, Traversable]]:
    found = []
    for each in folder.iterdir():
        if each.is_dir():
            found += _below(each, f"{before}{each.name}/")
        elif each.name.rpartition(".")[2] in _TYPES:
            found.append((before + each.name, each))
    return found


def _asset(name: str, file: Traversable) -> Asset:
    content = file.read_bytes()
    digest = hashlib.sha256(content).hexdigest()[:12]
    kind = _TYPES[name.rpartition(".")[2]]
    return Asset(content, kind, f"{PREFIX}{name}?{digest}")


_FOLDER = files("interlock.web.pages") / "static"
