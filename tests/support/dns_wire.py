"""Just enough of DNS's encoding (RFC 1035) for a name server that may say anything."""
import ipaddress
import struct

TYPES = {"A": 1, "NS": 2, "CNAME": 5, "NULL": 10, "PTR": 12, "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33, "OPT": 41, "SVCB": 64, "HTTPS": 65,
         "AXFR": 252, "ANY": 255}
RESPONSE, AUTHORITATIVE, TRUNCATED, RECURSION = 0x8000, 0x0400, 0x0200, 0x0180


def encode_name(text):
    labels = [label.encode() if isinstance(label, str) else label for label in text.rstrip(".").split(".") if label]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def decode_name(message, at):
    """(text, offset behind it); follows pointers."""
    labels, end = [], None
    for _ in range(128):
        length = message[at]
        if length >= 0xC0:
            end = end or at + 2
            at = (length & 0x3F) << 8 | message[at + 1]
        elif length == 0:
            return ".".join(labels), end or at + 1
        else:
            labels.append(message[at + 1:at + 1 + length].decode("latin-1"))
            at += 1 + length
    raise ValueError("a name without an end")


def question(message):
    """(name, type number, offset behind the question)."""
    name, at = decode_name(message, 12)
    return name, struct.unpack_from(">H", message, at)[0], at + 4


def record(name, kind, data, ttl=60):
    if kind in ("A", "AAAA"):
        data = ipaddress.ip_address(data).packed
    elif kind in ("CNAME", "NS", "PTR"):
        data = encode_name(data)
    elif kind == "TXT":
        data = bytes([len(data)]) + data.encode()
    return encode_name(name) + struct.pack(">HHIH", TYPES[kind], 1, ttl, len(data)) + data


def reply(message, records=(), rcode=0, flags=0):
    """An answer to `message` that holds these records."""
    _, _, end = question(message)
    head = struct.pack(">HHHHHH", struct.unpack_from(">H", message)[0], RESPONSE | RECURSION | flags | rcode, 1, len(records), 0, 0)
    return head + message[12:end] + b"".join(records)


def ask(name, kind, number=0x5A5A):
    """A question as a stub resolver puts it."""
    return struct.pack(">HHHHHH", number, 0x0100, 1, 0, 0, 0) + encode_name(name) + struct.pack(">HH", TYPES.get(kind, kind), 1)
