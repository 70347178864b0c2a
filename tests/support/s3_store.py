"""An object store that takes requests signed by Signature Version 4 and checks everything about them: the signature over method, path,
query and fields, the digest of the body, the checksum behind a body in chunks."""
import base64
import datetime
import hashlib
import hmac
import urllib.parse
import zlib

from http_request import Request

UNSIGNED, TRAILER = "UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"


class Store:
    """`handler` serves one bucket after another, made as they are written to. `refused` says why requests were."""

    def __init__(self, key_id, secret_key):
        self.key_id, self.secret_key = key_id, secret_key
        self.objects = {}
        self.accepted, self.refused = [], []

    def handler(self, connection, visit):
        _Request(connection, self, visit)


class Refused(Exception):
    pass


class _Request(Request):
    def _serve(self):
        self.visit.heads.append(f"{self.requestline}\r\n{self.headers}")
        body = self.body()
        path, _, query = self.path.partition("?")
        pairs = urllib.parse.parse_qsl(query, keep_blank_values=True)
        try:
            how = self._check(path, pairs, body)
            body = self._unwrapped(body)
        except Refused as why:
            self.owner.refused.append(str(why))
            return self.answer(403, f"<Error><Code>SignatureDoesNotMatch</Code><Message>{why}</Message></Error>".encode())
        self.owner.accepted.append((self.command, how))
        key = urllib.parse.unquote(path)
        if self.command == "PUT":
            self.owner.objects[key] = body
            self.answer(200, b"", {"ETag": f'"{hashlib.md5(body).hexdigest()}"'})
        elif "list-type" in dict(pairs):
            prefix = key.rstrip("/") + "/" + dict(pairs).get("prefix", "")
            names = sorted(name for name in self.owner.objects if name.startswith(prefix))
            listed = "".join(f"<Contents><Key>{name.split('/', 2)[2]}</Key><Size>{len(self.owner.objects[name])}</Size></Contents>" for name in names)
            self.answer(200, f"<ListBucketResult><KeyCount>{len(names)}</KeyCount>{listed}</ListBucketResult>".encode())
        elif key in self.owner.objects:
            self.answer(200, self.owner.objects[key])
        else:
            self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

    do_GET = do_PUT = do_HEAD = _serve

    def _check(self, path, pairs, body):
        """What the body's digest is said to be, if all is as it was signed."""
        said = self.headers.get("Authorization", "")
        if said:
            algorithm, _, parts = said.partition(" ")
            claim = dict(part.strip().split("=", 1) for part in parts.split(","))
            credential, fields, signature = claim["Credential"], claim["SignedHeaders"], claim["Signature"]
            time, payload = self.headers.get("X-Amz-Date", ""), self.headers.get("X-Amz-Content-Sha256", "")
        else:
            claim = dict(pairs)
            algorithm, credential, fields = claim.get("X-Amz-Algorithm"), claim.get("X-Amz-Credential", ""), claim.get("X-Amz-SignedHeaders", "")
            signature, time, payload = claim.get("X-Amz-Signature", ""), claim.get("X-Amz-Date", ""), UNSIGNED
            pairs = [pair for pair in pairs if pair[0] != "X-Amz-Signature"]
        if algorithm != "AWS4-HMAC-SHA256":
            raise Refused("it is not signed")
        key_id, day, region, service, end = credential.split("/")
        if key_id != self.owner.key_id or end != "aws4_request" or not time.startswith(day):
            raise Refused(f"an unknown credential {credential}")
        age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.strptime(time + "+0000", "%Y%m%dT%H%M%SZ%z")
        if abs(age.total_seconds()) > 900:
            raise Refused(f"signed at {time}")
        missing = ({"host"} | {name.lower() for name in self.headers if name.lower().startswith("x-amz-")}) - set(fields.split(";"))
        if missing:
            raise Refused(f"{missing} are not signed")
        if payload not in (UNSIGNED, TRAILER) and payload != hashlib.sha256(body).hexdigest():
            raise Refused("the body is not the one that was signed")
        quoted = sorted((urllib.parse.quote(name, safe="-_.~"), urllib.parse.quote(value, safe="-_.~")) for name, value in pairs)
        canonical = "\n".join([self.command, urllib.parse.quote(urllib.parse.unquote(path), safe="/-_.~"), "&".join("=".join(pair) for pair in quoted),
                               *(f"{name}:{' '.join(','.join(self.headers.get_all(name, [])).split())}" for name in fields.split(";")), "", fields, payload])
        to_sign = "\n".join([algorithm, time, f"{day}/{region}/{service}/{end}", hashlib.sha256(canonical.encode()).hexdigest()])
        signing = f"AWS4{self.owner.secret_key}".encode()
        for step in (day, region, service, end, to_sign):
            signing = hmac.digest(signing, step.encode(), "sha256")
        if signing.hex() != signature:
            raise Refused("the signature does not match " + canonical)
        return ("query" if not said else "header", payload if payload in (UNSIGNED, TRAILER) else "digest")

    def _unwrapped(self, body):
        """What chunks carry whose checksum follows them, if that is right."""
        if self.headers.get("X-Amz-Content-Sha256") != TRAILER:
            return body
        content = b""
        while True:
            size, _, body = body.partition(b"\r\n")
            count = int(size, 16)
            if count == 0:
                break
            content, body = content + body[:count], body[count + 2:]
        trailer = dict(line.split(":", 1) for line in body.decode().split("\r\n") if line)
        if trailer.get("x-amz-checksum-crc32") != base64.b64encode(zlib.crc32(content).to_bytes(4, "big")).decode():
            raise Refused("the checksum behind the chunks is wrong")
        if int(self.headers["X-Amz-Decoded-Content-Length"]) != len(content):
            raise Refused("the chunks carry another length than was said")
        return content
