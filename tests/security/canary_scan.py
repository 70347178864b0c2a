"""Looks for secrets in bytes and files, in every shape that programs give them.

Written from the list of shapes in SPECIFICATION.md and not from src/masking, so that each checks the other.
"""
import base64
import binascii
import http.client
import json
import os
import pathlib
import secrets
import string
import subprocess
import tempfile
import urllib.parse

from client import Client


def _random(length, letters=string.ascii_letters + string.digits):
    return "".join(secrets.choice(letters) for _ in range(length))


def generate():
    """Twenty secrets of the shapes that real ones have; none is like another or like anything on the machine."""
    base64_letters = string.ascii_letters + string.digits + "+/"
    lines = "\n".join(_random(64, base64_letters) for _ in range(6))
    made = [
        _random(8), _random(40, "0123456789abcdef"), "sk-" + _random(48), "ghp_" + _random(36), "AKIA" + _random(16, string.ascii_uppercase),
        _random(40, base64_letters), _random(43, base64_letters) + "=", "xoxb-" + _random(12, string.digits) + "-" + _random(24),
        ".".join(_random(n, string.ascii_letters + string.digits + "-_") for n in (36, 80, 43)),
        f"-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----\n",
        f"correct {_random(6)} battery {_random(6)}", f"p@ss/{_random(8)}?x={_random(4)}&y=#1", f"quo\"te{_random(8)}'s", f"back\\slash\\{_random(9)}",
        f"<html>&{_random(10)};", f"per%cent%{_random(8)}%20", json.dumps({"user": _random(8), "pass": _random(16)}), _random(600),
        "glpat-" + _random(20, string.ascii_letters + string.digits + "-_"), _random(32) + "\n",
    ]
    return {f"s{index:02}": value for index, value in enumerate(made)}


def _inside_base64(value, before, encode):
    """What is the same whatever stands around it."""
    text = encode(b"\0" * before + value).decode().rstrip("=")
    if (before + len(value)) % 3:
        text = text[:-1]  # the last letter takes bits of what follows
    return text[(0, 2, 3)[before]:]


def shapes(value):
    """{name of the shape: text} of one secret; only those that differ."""
    text = value.rstrip("\r\n")
    data = text.encode()
    quoted = urllib.parse.quote(text, safe="")
    plain_json = json.dumps(text)[1:-1]
    found = {
        "raw": text, "hex": data.hex(), "HEX": data.hex().upper(),
        "percent": quoted, "percent lower": "".join(c.lower() if i and (quoted[i - 1] == "%" or i > 1 and quoted[i - 2] == "%") else c
                                                    for i, c in enumerate(quoted)),
        "percent path": urllib.parse.quote(text), "percent all": "".join(f"%{b:02X}" for b in data), "form": urllib.parse.quote_plus(text),
        "json": plain_json, "json slash": plain_json.replace("/", "\\/"),
        "json html": plain_json.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
    }
    for before in range(3):
        found[f"base64 {before}"] = _inside_base64(data, before, base64.b64encode)
        found[f"base64url {before}"] = _inside_base64(data, before, base64.urlsafe_b64encode)
    lines = [line for line in text.split("\n") if len(line) >= 16 and not line.startswith("-----")]  # frames are the same for all keys
    if "\n" in text:
        del found["raw"]
        found.update({f"line {index}": line for index, line in enumerate(lines)})
    seen = set()
    return {name: shape for name, shape in found.items() if len(shape) >= 8 and not (shape in seen or seen.add(shape))}


class Scanner:
    """Finds the secrets of a {name: value} in places; a hit is (place, name, shape)."""

    def __init__(self, values):
        self.by_text = {}
        for name, value in values.items():
            for shape, text in shapes(value).items():
                self.by_text.setdefault(text, (name, shape))
        self.hits = set()

    def _grep(self, place_of, arguments, **options):
        with tempfile.NamedTemporaryFile("w", prefix="oyat-canary-") as patterns:
            patterns.write("\n".join(self.by_text) + "\n")
            patterns.flush()
            # One pattern that is within another would be hidden by it: both are reported below.
            done = subprocess.run(["grep", "-aFo", "-f", patterns.name, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                                  env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}, **options)
        for line in set(done.stdout.split(b"\n")):
            if not line:
                continue
            path, _, text = line.rpartition(b"\0") if b"\0" in line else (b"", b"", line)
            for known, (name, shape) in self.by_text.items():
                if known.encode() in text:
                    self.hits.add((place_of(path.decode(errors="replace")), name, shape))

    def bytes(self, place, data):
        self._grep(lambda _: place, ["-h", "-"], input=data)

    def tree(self, place_of, *paths):
        """`place_of` is a name, or a function of the path."""
        self._grep(place_of if callable(place_of) else lambda _: place_of, ["-rHZ", "--devices=skip", "--exclude=store.*", *map(str, paths)])

    def state(self, state):
        """All that a server keeps: its files, and its store's blocks, also those of deleted files."""
        os.sync()
        self.tree(place_of_file(state), state)
        for image in (state / "keeper").glob("store.*"):
            self.bytes("layers", _written(image))

    def in_place(self, place):
        return {(name, shape) for where, name, shape in self.hits if where == place}


def _written(image):
    """What of a sparse file was ever written."""
    found = []
    with image.open("rb") as file:
        at = 0
        while True:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:  # ENXIO: nothing but a hole up to the end
                return b"\n".join(found)
            end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
            found.append(os.pread(file.fileno(), end - at, at))
            at = end


class RecordingClient(Client):
    """A client that keeps all that the server says to it, heads and bodies, and what the output of commands decodes to."""

    def __init__(self, url, key, timeout=60):
        super().__init__(url, key, timeout)
        self.seen = []

    def connection(self):
        seen = self.seen

        class Response(http.client.HTTPResponse):
            def begin(self):
                super().begin()
                seen.append(str(self.headers).encode())

            def read(self, amt=None):
                data = super().read(amt)
                seen.append(data)
                if data[:1] == b"{":
                    seen.extend(_decoded(data))
                return data

        made = super().connection()
        made.response_class = Response
        return made


def _decoded(message):
    try:
        data = json.loads(message).get("event", {}).get("data", {})
        return [base64.b64decode(text) for text in data.values() if isinstance(text, str)]
    except (ValueError, AttributeError, binascii.Error):
        return []


def place_of_file(state):
    """Which of the places a file below the state directory belongs to."""
    def place(path):
        parts = pathlib.Path(path).relative_to(state).parts
        if parts[0] in ("audit", "log"):
            return {"audit": "record", "log": "logs"}[parts[0]]
        if parts[-1].startswith("core"):
            return "core dumps"
        if ".sqlite" in parts[-1] or ".db" in parts[-1]:
            return "database"
        return {"api-key": "key file", "ready.json": "key file", "sealed": "sealed store"}.get(parts[0], "layers")
    return place
