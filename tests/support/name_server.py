"""The name server of the test's Internet: tells what it is told to tell, lies, keeps silent or floods."""
import socket
import struct
import threading

import dns_wire


class Names:
    """`hosts` maps names to their addresses; `scripts` maps names to functions (question bytes, name, type number, by_stream) that give
    the whole answer as bytes, a list of answers, or None for silence. What was asked stands in `asked`."""

    def __init__(self, namespace, address):
        self.hosts = {}
        self.scripts = {}
        self.asked = []
        self.otherwise = lambda name: None  # the address of a name that is not in `hosts`
        with namespace.entered():
            self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._datagrams.bind((address, 53))
            self._streams = socket.create_server((address, 53), backlog=64)
        for serve in (self._serve_datagrams, self._serve_streams):
            threading.Thread(target=serve, daemon=True).start()

    def answers(self, message, by_stream):
        name, kind, _ = dns_wire.question(message)
        name = name.lower()
        self.asked.append((name, kind))
        if name in self.scripts:
            said = self.scripts[name](message, name, kind, by_stream)
            return said if isinstance(said, list) else [] if said is None else [said]
        addresses = self.hosts.get(name) or [found for found in [self.otherwise(name)] if found]
        if not addresses:
            return [dns_wire.reply(message, rcode=3)]
        if kind != dns_wire.TYPES["A"]:
            addresses = []
        return [dns_wire.reply(message, [dns_wire.record(name, "A", address) for address in addresses])]

    def asked_for(self, name):
        return [kind for asked, kind in self.asked if asked == name]

    def _serve_datagrams(self):
        while True:
            message, peer = self._datagrams.recvfrom(65535)
            threading.Thread(target=self._serve_datagram, args=(message, peer), daemon=True).start()

    def _serve_datagram(self, message, peer):
        for answer in self.answers(message, False):
            self._datagrams.sendto(answer, peer)

    def _serve_streams(self):
        while True:
            connection, _ = self._streams.accept()
            threading.Thread(target=self._serve_stream, args=(connection,), daemon=True).start()

    def _serve_stream(self, connection):
        with connection, connection.makefile("rb") as incoming:
            try:
                while size := incoming.read(2):
                    for answer in self.answers(incoming.read(struct.unpack(">H", size)[0]), True):
                        connection.sendall(struct.pack(">H", len(answer)) + answer)
            except OSError:
                pass  # the other side left
