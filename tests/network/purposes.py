"""The sandbox of this suite: an agent's workplace whose policy names its purposes, and the services that these stand for."""
from git_server import GitServer
from services import http, tls

ORDERS, OPEN, GIT, DATABASE = "203.0.113.51", "203.0.113.52", "203.0.113.50", "203.0.113.54"
ALLOWED, REFUSED = "https://orders.test/v2/orders/7", "https://orders.test/v2/customers/7"
UNREAD, UNKNOWN = "https://open.test/", "https://c.test/"

# Package registries, one path of an internal service, another service as a whole, reading (not writing) git, one database.
POLICY = {"preset": "packages-only", "rule": [
    {"id": "orders", "category": "internal-apis", "action": "allow", "host": ["orders.test"], "port": [443], "protocol": "https",
     "method": ["GET"], "path": ["/v2/orders/**"]},
    {"id": "open", "category": "internal-apis", "action": "allow", "host": ["open.test"], "port": [443]},
    {"id": "git-read", "category": "git", "action": "allow", "host": ["git.test"], "port": [443], "method": ["GET", "POST"],
     "path": ["/**/info/refs?service=git-upload-pack", "/**/git-upload-pack"]},
    {"id": "git-write-fork", "category": "git", "action": "allow", "host": ["git.test"], "port": [443], "method": ["GET", "POST"],
     "path": ["/fork.git/info/refs?service=git-receive-pack", "/fork.git/git-receive-pack"]},
    {"id": "database", "category": "internal-apis", "action": "allow", "host": ["db.test"], "port": [5432]},
]}


class Purposes:
    """The services, in the test's Internet."""

    def __init__(self, internet):
        root = internet.folder / "git"
        root.mkdir()
        self.git = GitServer(root)
        for name in ("project", "fork"):
            self.git.make(name)
        for name, address, handler in (("orders.test", ORDERS, http), ("open.test", OPEN, http), ("git.test", GIT, self.git.handler)):
            internet.names.hosts[name] = [address]
            internet.services.serve(443, tls({name: internet.authority.server_context(name)}, handler), address=address)
        internet.names.hosts["db.test"] = [DATABASE]
