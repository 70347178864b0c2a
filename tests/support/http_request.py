"""What the HTTP servers of the test's Internet share: a request of one accepted connection, its body, its answer."""
import http.server


class Request(http.server.BaseHTTPRequestHandler):
    """Serves the requests of one connection; the subclass has do_GET and the like. `owner` is the server that it belongs to."""

    protocol_version = "HTTP/1.1"

    def __init__(self, connection, owner, visit):
        self.owner, self.visit = owner, visit
        super().__init__(connection, ("", 0), None)

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def answer(self, status, body, fields=()):
        self.send_response(status)
        for name, value in {**dict(fields), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format, *arguments):  # noqa: A002 - the name is the base class's
        """The log of visits is enough."""
