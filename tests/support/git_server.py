"""A git server over HTTP: git's own http-backend on bare repositories, open to everybody, or to who sends one Authorization."""
import os
import subprocess

from http_request import Request


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


class _Request(Request):
    """CGI (RFC 3875), as far as git needs it."""

    def do_GET(self):
        path, _, query = self.path.partition("?")
        self.visit.heads.append(self.requestline)
        body = self.body()
        if self.owner.authorization not in (None, self.headers.get("Authorization")):
            return self.answer(401, b"", {"WWW-Authenticate": 'Basic realm="git"'})
        if path.endswith("/git-receive-pack"):
            self.owner.pushed.append(path)
        environment = {**os.environ, "GIT_PROJECT_ROOT": str(self.owner.root), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
                       "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
                       "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""), "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                       "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        said = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=False).stdout
        head, _, content = said.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = next((value for name, value in fields if name == "Status"), "200 OK")
        self.answer(int(status.split()[0]), content, {name: value for name, value in fields if name != "Status"})

    do_POST = do_GET
