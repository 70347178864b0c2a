"""TLS greetings (RFC 8446, 4.1.2) as no library would send them: bytes that a server would answer, if they reached one."""
import os
import struct

SERVER_NAME, PADDING, ENCRYPTED_HELLO, ENCRYPTED_NAME = 0, 21, 0xFE0D, 0xFFCE


def _sized(data, bytes_of_length=2):
    return len(data).to_bytes(bytes_of_length, "big") + data


def server_names(*names):
    """The extension with these host names, as bytes."""
    return SERVER_NAME, _sized(b"".join(b"\0" + _sized(name) for name in names))


def hello(*extensions):
    """A handshake message of TLS 1.2 with one cipher that the test's servers have, and these extensions first."""
    usual = [(10, _sized(struct.pack(">H", 23))),              # groups: P-256
             (11, _sized(b"\0", 1)),                            # points: uncompressed
             (13, _sized(struct.pack(">HH", 0x0403, 0x0804)))]  # signatures: ECDSA with P-256, RSA-PSS
    listed = b"".join(struct.pack(">H", kind) + _sized(data) for kind, data in [*extensions, *usual])
    body = b"\x03\x03" + os.urandom(32) + b"\0" + _sized(struct.pack(">H", 0xC02B)) + _sized(b"\0", 1) + _sized(listed)
    return b"\x01" + _sized(body, 3)


def records(message, size=16384):
    """The message cut into records of at most `size` bytes."""
    return b"".join(b"\x16\x03\x01" + _sized(message[at:at + size]) for at in range(0, len(message), size))


def greeting(*names, more=(), size=16384):
    return records(hello(*([server_names(*names)] if names else []), *more), size)
