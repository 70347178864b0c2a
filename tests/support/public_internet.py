"""A server with a public name, in an Internet that the test plays: for programs that were written for the real one.

What such programs ask for is in there: addresses everybody knows, a page that tells whether there is a way out, and the server's own
name, which leads to its TLS port over a front as it would in a data centre. Names are looked up by DNS, as anywhere.
"""
import base64
import contextlib
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading

from beyond import copy_until_closed
from client import Refused
from git_server import GitServer
from internet import HOST, RESOLVER, Internet
from server import Server
from services import answers, tls
from socks_proxy import SocksProxy

DOMAIN = "oyat.test"
FRONT = "203.0.113.80"        # the server's address as the world sees it
CONNECTIVITY = "203.0.113.90"
PROXY, GIT = "203.0.113.70", "203.0.113.50"
TEMPLATES = pathlib.Path("/var/lib/oyat/templates/names")

# A page that shows the fields of the request, as lists: what the template `httpbin` serves.
HEADERS_PAGE = """
import http.server, json
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"headers": {name: self.headers.get_all(name) for name in self.headers}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.ThreadingHTTPServer(("", 8080), Page).serve_forever()
"""


@contextlib.contextmanager
def public_server():
    """In namespaces of the caller's own (netns.run_in_own_namespace): they end with it, and the mounts made here as well."""
    with Internet() as internet, tempfile.TemporaryDirectory(prefix="oyat-test-", dir="/var/tmp") as folder:
        folder = pathlib.Path(folder)
        _name_resolver(folder)
        _name_template(folder, "httpbin")
        _open_services(internet)
        server = Server(tls_domain=DOMAIN)
        # What servers inside and outside prove themselves by: the test's authority, and the one of the server's own domain.
        egress = f'ca_files = ["{internet.authority.certificate}", "{server.state}/tls/ca.pem"]\n'
        server.options = [*internet.options(egress), "--tls-listen", f"{HOST}:8443"]
        with server, StartCommands(server.client, {"httpbin": ["python3", "-c", HEADERS_PAGE]}):
            yield server


def _name_resolver(folder):
    """Programs beside the server ask the test's name server, too."""
    own = folder / "resolv.conf"
    own.write_text(f"nameserver {RESOLVER}\n")
    subprocess.run(["mount", "--bind", own, pathlib.Path("/etc/resolv.conf").resolve()], check=True)


def _name_template(folder, name):
    """`base` by a second name, that nobody outside this mount namespace sees."""
    names = folder / "names"
    shutil.copytree(TEMPLATES, names)
    shutil.copy(TEMPLATES / "base", names / name)
    subprocess.run(["mount", "--bind", names, TEMPLATES], check=True)


def _open_services(internet):
    internet.names.otherwise = lambda name: FRONT if name.endswith(f".{DOMAIN}") else None
    internet.names.hosts["connectivitycheck.gstatic.com"] = [CONNECTIVITY]
    for name, address, status in (("connectivitycheck.gstatic.com", CONNECTIVITY, "204 No Content"), ("1.1.1.1", "1.1.1.1", "301 Moved Permanently"),
                                  ("8.8.8.8", "8.8.8.8", "302 Found")):
        context = internet.authority.server_context(name)
        internet.services.serve(443, tls({name: context}, answers(status)), address=address)
    internet.services.serve(443, _front, address=FRONT)
    proxy = SocksProxy(internet.namespace, internet.names, PROXY, ("agent", "password-of-the-proxy"))
    internet.names.hosts["proxy.test"] = [PROXY]
    internet.services.serve(1080, proxy.handler, address=PROXY)
    root = internet.folder / "git"
    root.mkdir()
    git = GitServer(root, authorization="Basic " + base64.b64encode(b"agent:password-of-git").decode())
    git.make("project")
    internet.names.hosts["git.test"] = [GIT]
    internet.services.serve(443, tls({"git.test": internet.authority.server_context("git.test")}, git.handler), address=GIT)


def _front(outside, _visit):
    with socket.create_connection((HOST, 8443), timeout=60) as inside:
        up = threading.Thread(target=copy_until_closed, args=(outside, inside), daemon=True)
        up.start()
        copy_until_closed(inside, outside)
        up.join()


class StartCommands:
    """Templates here have no start command yet, so the test starts what should be running in each sandbox of `commands`' templates."""

    def __init__(self, client, commands):
        self._client, self._commands = client, commands
        self._over = threading.Event()
        self._started = set()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self._watcher.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._watcher.join()

    def _watch(self):
        while not self._over.wait(0.25):
            for made in self._client.sandboxes():
                if made["templateID"] in self._commands and made["sandboxID"] not in self._started:
                    self._started.add(made["sandboxID"])
                    threading.Thread(target=self._start, args=(made["sandboxID"], self._commands[made["templateID"]]), daemon=True).start()

    def _start(self, sandbox, argv):
        with contextlib.suppress(Refused, OSError):  # it may be gone already
            self._client.connect(sandbox).run(argv)
