"""Frames of HTTP/2 (RFC 9113) as no library would send them, without compression: each field is a literal (RFC 7541, 6.2.2)."""
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 8, 9
END_STREAM, END_HEADERS = 1, 4
CANCEL = struct.pack(">I", 8)


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def greeting(*frames):
    return PREFACE + frame(SETTINGS, 0, 0) + b"".join(frames)


def _text(data):
    """Length and bytes, not Huffman-coded."""
    length = len(data)
    if length < 127:
        return bytes([length]) + data
    coded, length = b"\x7f", length - 127
    while length >= 128:
        coded, length = coded + bytes([length & 127 | 128]), length >> 7
    return coded + bytes([length]) + data


def fields(*pairs):
    return b"".join(b"\0" + _text(name.encode("latin-1")) + _text(value.encode("latin-1")) for name, value in pairs)


def indexed(name, value):
    """A field that the reader has to remember: the next ones may name it by one byte."""
    return b"\x40" + _text(name.encode()) + _text(value.encode())


LATEST_INDEXED = b"\xbe"  # the entry that was remembered last (62)


def head(method="GET", scheme="https", path="/open/x", authority="a.test", more=()):
    """A head's fields in the usual order; what is None is left out."""
    usual = ((":method", method), (":scheme", scheme), (":path", path), (":authority", authority))
    return fields(*[pair for pair in usual if pair[1] is not None], *more)


def request(stream, block, flags=END_HEADERS | END_STREAM):
    return frame(HEADERS, flags, stream, block)
