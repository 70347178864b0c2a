"""The Internet of a test: a network namespace that answers for every address and every name, and keeps a log of what reached it.

The program that uses it runs in a namespace of its own (netns.run_in_own_namespace), as does the server that it starts, so that
whatever oyatd connects to or asks is in here. No test needs the real Internet, and none can reach it.
"""
import pathlib
import shutil
import subprocess
import tempfile

from authority import Authority
from name_server import Names
from netns import Namespace
from packets import Packets
from services import Services, echo, http, speaks_first, tls

HOST = "198.51.100.1"      # the machine that the server under test runs on
ROUTER = "198.51.100.2"    # the other end of its cable
RESOLVER = "198.51.100.53"
SHARED = "203.0.113.10"    # a.test and b.test live at one address
OTHER = "203.0.113.20"     # c.test
METADATA = "169.254.169.254"
PRIVATE = "10.9.9.9"
EXTRA_AUTHORITIES = pathlib.Path("/usr/local/share/ca-certificates")
BUNDLE = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
SILENT = "203.0.113.99"    # takes connections and never says a word


class Internet:
    """with Internet() as internet: ... Server(options=internet.options())"""

    def __init__(self):
        self.folder = None

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="oyat-internet-", dir="/var/tmp")
        self.folder = pathlib.Path(self._folder.name)
        self.folder.chmod(0o755)
        self.namespace = Namespace()
        self.namespace.cable("oyat-cable", "cable")
        self._addresses()
        # oyatd asks the resolver, and its kernel says when an answer came too late (ICMP).
        self.packets = Packets(self.namespace, "cable", ROUTER, {("udp", RESOLVER, 53), ("tcp", RESOLVER, 53), ("protocol 1", RESOLVER, 0)})
        self.names = Names(self.namespace, RESOLVER)
        self.names.hosts = {"a.test": [SHARED], "b.test": [SHARED], "c.test": [OTHER], "metadata.test": [METADATA], "private.test": [PRIVATE]}
        self.authority = Authority(self.folder)
        self._be_trusted()
        self.services = Services(self.namespace)
        self._open_services()
        return self

    def __exit__(self, *_):
        subprocess.run(["ip", "link", "delete", "oyat-cable"], check=True)
        for shown in (EXTRA_AUTHORITIES, BUNDLE):
            subprocess.run(["umount", shown], check=True)
        self.namespace.close()
        self._folder.cleanup()

    def _addresses(self):
        for words in (["address", "add", f"{HOST}/24", "dev", "oyat-cable"], ["-6", "address", "add", "2001:db8::1/64", "dev", "oyat-cable", "nodad"],
                      ["link", "set", "oyat-cable", "up"]):
            subprocess.run(["ip", *words], check=True)
        self.namespace.run("ip", "link", "set", "lo", "up")
        self.namespace.run("ip", "address", "add", f"{ROUTER}/24", "dev", "cable")
        self.namespace.run("ip", "-6", "address", "add", "2001:db8::2/64", "dev", "cable", "nodad")
        self.namespace.run("ip", "link", "set", "cable", "up")
        # Every address there is stands for this namespace, but for the one at the other end.
        self.namespace.run("ip", "route", "add", "local", "0.0.0.0/0", "dev", "lo", "table", "main")
        self.namespace.run("ip", "address", "add", f"{RESOLVER}/32", "dev", "lo")
        for words in (["route", "add", "default", "via", ROUTER], ["-6", "route", "add", "default", "via", "2001:db8::2"]):
            subprocess.run(["ip", *words], check=True)

    def _be_trusted(self):
        """The machine's own list of authorities has the test's, too, for whoever lives in this mount namespace."""
        extra = self.folder / "ca-certificates"
        shutil.copytree(EXTRA_AUTHORITIES, extra)
        shutil.copy(self.authority.certificate, extra / "oyat-test.crt")
        bundle = self.folder / "bundle.pem"
        bundle.write_bytes(BUNDLE.read_bytes() + self.authority.certificate.read_bytes())
        for shown, instead_of in ((extra, EXTRA_AUTHORITIES), (bundle, BUNDLE)):
            subprocess.run(["mount", "--bind", shown, instead_of], check=True)

    def _open_services(self):
        contexts = {name: self.authority.server_context(name) for name in ("a.test", "b.test", "c.test")}
        for port in (443, 8443):
            self.services.serve(port, tls(contexts, http))
        self.services.serve(80, http)
        self.services.serve(7, echo)
        self.services.serve(22, speaks_first(b"SSH-2.0-Test_1.0\r\n"))
        for port in (25, 465, 587):
            self.services.serve(port, speaks_first(b"220 mail.test ESMTP\r\n"))
        for port in (80, 443):
            self.services.serve(port, keep_silent, address=SILENT)

    def options(self, egress=""):
        """What oyatd has to be told to live in here; `egress` are more lines of its section."""
        config = self.folder / "oyat.toml"
        config.write_text(f'[dns]\nupstream = ["{RESOLVER}"]\n[egress]\n{egress}')
        config.chmod(0o644)
        return ["--config", str(config)]

    def forget(self):
        self.packets.forget()
        self.services.visits.clear()
        self.names.asked.clear()


def keep_silent(connection, visit):
    """Reads to the end and says nothing."""
    while data := connection.recv(65536):
        visit.bytes = (visit.bytes + data)[-65536:]
