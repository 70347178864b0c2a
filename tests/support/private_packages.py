"""Private package indexes: files behind credentials, of the kinds that pip, npm and apt read."""
import base64
import gzip
import hashlib
import io
import json
import pathlib
import subprocess
import tarfile
import tempfile
import zipfile

from http_request import Request


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class Guarded:
    """`files` by path, for whoever sends exactly this Authorization. `refused` are the values of others."""

    def __init__(self, authorization, files):
        self.authorization, self.files = authorization, files
        self.served, self.refused = [], []

    def handler(self, connection, visit):
        _Request(connection, self, visit)


class _Request(Request):
    def do_GET(self):
        self.visit.heads.append(f"{self.requestline}\r\n{self.headers}")
        path = self.path.partition("?")[0]
        if (said := self.headers.get("Authorization")) != self.owner.authorization:
            self.owner.refused.append(said)
            return self.answer(401, b"who are you?", {"WWW-Authenticate": 'Basic realm="private"'})
        if path not in self.owner.files:
            return self.answer(404, b"no such file")
        self.owner.served.append(path)
        content_type = "text/html" if path.endswith("/") else "application/octet-stream"
        self.answer(200, self.owner.files[path], {"Content-Type": content_type})

    do_HEAD = do_GET


def python_index():
    """An index (PEP 503) with one wheel, `greeting`."""
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("greeting.py", "WORDS = 'hello from a private index'\n")
        archive.writestr("greeting-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
        archive.writestr("greeting-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("greeting-1.0.dist-info/RECORD", "greeting.py,,\ngreeting-1.0.dist-info/METADATA,,\ngreeting-1.0.dist-info/WHEEL,,\n"
                                                          "greeting-1.0.dist-info/RECORD,,\n")
    name = "greeting-1.0-py3-none-any.whl"
    return {"/simple/greeting/": f'<!DOCTYPE html><a href="/files/{name}">{name}</a>'.encode(), f"/files/{name}": wheel.getvalue()}


def npm_registry(url):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in (("package.json", json.dumps({"name": "greeting", "version": "1.0.0", "main": "index.js"})),
                           ("index.js", "module.exports = 'hello from a private registry'\n")):
            entry = tarfile.TarInfo("package/" + name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(packed.getvalue()).digest()).decode()
    version = {"name": "greeting", "version": "1.0.0", "dist": {"tarball": f"{url}/greeting/-/greeting-1.0.0.tgz", "integrity": integrity}}
    shown = {"name": "greeting", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
    return {"/greeting": json.dumps(shown).encode(), "/greeting/-/greeting-1.0.0.tgz": packed.getvalue()}


def apt_repository():
    """A flat repository with one package, `greeting`."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "greeting"
        control, words = root / "DEBIAN" / "control", root / "usr" / "share" / "greeting" / "words"
        for path, text in ((control, "Package: greeting\nVersion: 1.0\nArchitecture: all\nMaintainer: Test <test@a.test>\nDescription: greeting\n"),
                           (words, "hello from a private repository\n")):
            path.parent.mkdir(parents=True)
            path.write_text(text)
        package = pathlib.Path(folder) / "greeting.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", str(root), str(package)], check=True, capture_output=True)
        content, described = package.read_bytes(), control.read_text()
    listed = (described + f"Filename: ./greeting.deb\nSize: {len(content)}\nSHA256: {hashlib.sha256(content).hexdigest()}\n\n").encode()
    sums = "".join(f" {hashlib.sha256(data).hexdigest()} {len(data)} {name}\n" for name, data in (("Packages", listed), ("Packages.gz", gzip.compress(listed, mtime=0))))
    return {"/./Release": f"Suite: private\nDate: Mon, 02 Nov 2026 00:00:00 UTC\nSHA256:\n{sums}".encode(), "/./Packages": listed,
            "/./Packages.gz": gzip.compress(listed, mtime=0), "/./greeting.deb": content}
