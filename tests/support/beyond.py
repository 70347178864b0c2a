"""The part of the test's Internet that is real: what the machine itself can reach, package registries above all. A name that the
test does not know is looked up where the test was started, gets an address in here, and what connects to that is passed on."""
import ipaddress
import socket
import threading

_FIRST = int(ipaddress.ip_address("192.0.2.1"))
_PORTS = (80, 443)


class Beyond:
    """`home` is the namespace that the test was started from."""

    def __init__(self, home, services, names):
        self._home, self._services = home, services
        self._lock = threading.Lock()
        self._known = {}
        names.otherwise = self.address_of

    def address_of(self, name):
        """The address that stands for this name in here; nothing when the machine does not know the name either."""
        with self._lock:
            if name not in self._known:
                real = self._look_up(name)
                if real is None:
                    return None
                address = str(ipaddress.ip_address(_FIRST + len(self._known)))
                for port in _PORTS:
                    self._services.serve(port, self._passing_on(real, port), address=address)
                self._known[name] = address
            return self._known[name]

    def _look_up(self, name):
        with self._home.entered():
            try:
                return socket.getaddrinfo(name, None, socket.AF_INET, socket.SOCK_STREAM)[0][4][0]
            except OSError:
                return None

    def _passing_on(self, real, port):
        def handler(inside, _visit):
            with self._home.entered():
                outside = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            with outside:
                outside.connect((real, port))
                up = threading.Thread(target=copy_until_closed, args=(inside, outside), daemon=True)
                up.start()
                copy_until_closed(outside, inside)
                up.join()
        return handler


def copy_until_closed(source, target):
    try:
        while data := source.recv(262144):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # one side left: the other one hears of it by the closing
