"""A SOCKS5 proxy (RFC 1928, 1929) of the test's Internet that wants a name and a password."""
import socket
import struct
import threading

from beyond import copy_until_closed

_TAKES_PASSWORD, _NOBODY = b"\x05\x02", b"\x05\xff"


class SocksProxy:
    """`handler` serves it; what it passes on comes from `address`. `asked` are the destinations, `refused` the logins that were wrong."""

    def __init__(self, namespace, names, address, login):
        self.asked, self.refused = [], []
        self._namespace, self._names, self._address, self._login = namespace, names, address, login

    def handler(self, connection, _visit):
        incoming = connection.makefile("rb", buffering=0)
        methods = incoming.read(2)
        if b"\x02" not in _exactly(incoming, methods[1]):
            connection.sendall(_NOBODY)
            return
        connection.sendall(_TAKES_PASSWORD)
        _exactly(incoming, 1)
        login = tuple(_exactly(incoming, _exactly(incoming, 1)[0]).decode() for _ in range(2))
        if login != self._login:
            self.refused.append(login)
            connection.sendall(b"\x01\x01")
            return
        connection.sendall(b"\x01\x00")
        kind = _exactly(incoming, 4)[3]
        host = _exactly(incoming, _exactly(incoming, 1)[0]).decode() if kind == 3 else socket.inet_ntoa(_exactly(incoming, 4))
        port = struct.unpack(">H", _exactly(incoming, 2))[0]
        self.asked.append((host, port))
        self._pass_on(connection, host, port)

    def _pass_on(self, connection, host, port):
        with self._namespace.entered():
            outside = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        with outside:
            outside.bind((self._address, 0))
            outside.connect((self._names.hosts.get(host, [host])[0], port))
            connection.sendall(b"\x05\x00\x00\x01" + bytes(6))
            up = threading.Thread(target=copy_until_closed, args=(connection, outside), daemon=True)
            up.start()
            copy_until_closed(outside, connection)
            up.join()


def _exactly(incoming, size):
    data = b""
    while len(data) < size:
        piece = incoming.read(size - len(data))
        if not piece:
            raise OSError("the client left")
        data += piece
    return data
