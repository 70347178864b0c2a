"""What arrives at the end of a cable: every packet, whatever its protocol. "Does not leave" means that nothing is in here."""
import ipaddress
import os
import socket
import struct
import threading
import time

_ETH_P_ALL = 3
_ETH_P_IP, _ETH_P_ARP, _ETH_P_IPV6 = 0x0800, 0x0806, 0x86DD
_PORTS = {6: "tcp", 17: "udp", 132: "sctp"}
_MARK_PORT = 9  # "discard": what marks a place in the log is sent here


def describe(protocol, packet):
    """((protocol, destination, port), port of the sender) of one packet, or None for the cable's own housekeeping."""
    if protocol == _ETH_P_IP:
        number, target, after = packet[9], str(ipaddress.ip_address(packet[16:20])), packet[(packet[0] & 15) * 4:]
    elif protocol == _ETH_P_IPV6:
        number, target, after = packet[6], str(ipaddress.ip_address(packet[24:40])), packet[40:]
        # The kernel looks for neighbours and routers by itself (RFC 4861), for multicast listeners too (hop-by-hop header).
        if number in (0, 58):
            return None
    else:
        return None if protocol == _ETH_P_ARP else ((f"ethertype {protocol:#06x}", "", 0), 0)
    name = _PORTS.get(number, f"protocol {number}")
    sender, port = struct.unpack_from(">HH", after) if number in _PORTS else (0, 0)
    return (name, target, port), sender


class Packets:
    """The log of device `device` in `namespace`. `ignored` are destinations (protocol, address, port) that do not count."""

    def __init__(self, namespace, device, marks_to, ignored):
        self._lock = threading.Lock()
        self._seen = []
        self._over = set()
        self.total = 0  # of packets, forgotten ones too
        self._marks = set()
        self._marks_to = marks_to
        self._ignored = ignored
        with namespace.entered():
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_ALL))
        self._socket.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
        self._socket.bind((device, _ETH_P_ALL))
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while True:
            try:
                packet, (_, protocol, direction, _, _) = self._socket.recvfrom(65535)
            except OSError:
                return  # the cable is gone
            if direction == socket.PACKET_OUTGOING:
                continue
            seen = describe(protocol, packet)
            with self._lock:
                if not seen or seen[0] in self._ignored:
                    continue
                if seen[0] == ("udp", self._marks_to, _MARK_PORT):
                    self._marks.add(packet[-16:])
                    continue
                self.total += 1
                if seen not in self._over:
                    self._seen.append(seen)

    def all(self):
        """Everything that was sent before this call: waits until a mark that is sent now has arrived behind it."""
        mark = os.urandom(16)
        end = time.monotonic() + 10
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(mark, (self._marks_to, _MARK_PORT))
        while time.monotonic() < end:
            with self._lock:
                if mark in self._marks:
                    self._marks.discard(mark)
                    return [what for what, _ in self._seen]
            time.sleep(0.002)
        raise RuntimeError("the log of packets does not keep up")

    def forget(self):
        """What comes late of connections that are in the log by now is forgotten with them."""
        self.all()
        with self._lock:
            self._over |= set(self._seen)
            self._seen.clear()
