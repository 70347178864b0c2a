"""A server of long bodies and of WebSockets."""
import base64
import hashlib

from http_request import Request

PIECE = bytes(range(256)) * 4096  # 1 MiB
_MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, 1.3


class _Request(Request):
    def do_GET(self):
        self.visit.heads.append(f"{self.requestline}\r\n{self.headers}")
        if self.headers.get("Upgrade", "").lower() == "websocket":
            return self._websocket()
        pieces = int(self.path.rsplit("/", 1)[1])
        self.send_response(200)
        self.send_header("Content-Length", str(pieces * len(PIECE)))
        self.end_headers()
        for _ in range(pieces):
            self.wfile.write(PIECE)

    def do_PUT(self):
        self.visit.heads.append(f"{self.requestline}\r\n{self.headers}")
        digest, left = hashlib.sha256(), int(self.headers["Content-Length"])
        while left:
            data = self.rfile.read(min(left, len(PIECE)))
            digest.update(data)
            left -= len(data)
        self.answer(200, digest.hexdigest().encode())

    def _websocket(self):
        """Sends each text message of less than 126 bytes back, in capitals."""
        accept = base64.b64encode(hashlib.sha1((self.headers["Sec-WebSocket-Key"] + _MAGIC).encode()).digest()).decode()
        self.send_response(101)
        for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept)):
            self.send_header(name, value)
        self.end_headers()
        while (head := self.rfile.read(2)) and head[0] & 15 == 1:
            mask, data = self.rfile.read(4), self.rfile.read(head[1] & 127)
            text = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data)).upper()
            self.wfile.write(bytes((0x81, len(text))) + text)
        self.close_connection = True


def streaming(connection, visit):
    _Request(connection, None, visit)
