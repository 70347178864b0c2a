"""A git server over HTTP: git's own http-backend on bare repositories, open to everybody, or to who sends one Authorization."""
import http.server
import os
import subprocess


class GitServer:
    """`handler` serves the repositories below `root`; `pushed` are the paths that wrote something."""

    def __init__(self, root, authorization=None):
        self.root, self.authorization = root, authorization
        self.pushed = []

    def make(self, name):
        """A bare repository with one commit on main; its path."""
        path = self.root / f"{name}.git"
        git = ["git", "-c", "user.name=Test", "-c", "user.email=test@a.test", "-c", "init.defaultBranch=main"]
        subprocess.run([*git, "init", "--quiet", "--bare", str(path)], check=True)
        for setting in ("http.receivepack", "receive.advertisePushOptions"):
            subprocess.run(["git", "-C", str(path), "config", setting, "true"], check=True)
        tree = subprocess.run(["git", "-C", str(path), "mktree"], input=b"", capture_output=True, check=True).stdout.decode().strip()
        commit = subprocess.run([*git, "-C", str(path), "commit-tree", "-m", "first", tree], capture_output=True, check=True).stdout.decode().strip()
        subprocess.run(["git", "-C", str(path), "update-ref", "refs/heads/main", commit], check=True)
        return path

    def branches(self, name):
        shown = subprocess.run(["git", "-C", str(self.root / f"{name}.git"), "for-each-ref", "--format=%(refname:short)"], capture_output=True, check=True)
        return shown.stdout.decode().split()

    def handler(self, connection, visit):
        _Request(connection, self, visit)


class _Request(http.server.BaseHTTPRequestHandler):
    """CGI (RFC 3875), as far as git needs it."""

    protocol_version = "HTTP/1.1"

    def __init__(self, connection, git, visit):
        self._git, self._visit = git, visit
        super().__init__(connection, ("", 0), None)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        self._visit.heads.append(self.requestline)
        size = int(self.headers.get("Content-Length") or 0)
        body = self._chunks() if self.headers.get("Transfer-Encoding") else self.rfile.read(size)
        if self._git.authorization not in (None, self.headers.get("Authorization")):
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if path.endswith("/git-receive-pack"):
            self._git.pushed.append(path)
        environment = {**os.environ, "GIT_PROJECT_ROOT": str(self._git.root), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
                       "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
                       "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""), "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                       "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        said = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=False).stdout
        head, _, content = said.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = next((value for name, value in fields if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET

    def _chunks(self):
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, format, *arguments):  # noqa: A002 - the name is the base class's
        """The log of visits is enough."""
