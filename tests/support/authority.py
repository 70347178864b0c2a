"""A certificate authority of a test, made by openssl, with certificates good and bad."""
import pathlib
import ssl
import subprocess
import tempfile


def _openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


def _kind(name):
    return "IP" if name.replace(".", "").isdigit() else "DNS"


class Authority:
    """Writes into `folder`; `certificate` is the authority's own file."""

    def __init__(self, folder, name="Test Authority"):
        self.folder = pathlib.Path(folder)
        self.certificate, self.key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        self._name = name
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 30, "-subj", f"/CN={name}",
                 "-keyout", self.key, "-out", self.certificate, "-addext", "keyUsage=critical,keyCertSign,cRLSign")

    def issue(self, *names, days=30):
        """(certificate file, key file) for these names. Zero or negative `days`: it has expired."""
        stem = str(self.folder / f"{self._name}-{names[0].replace('*', '_')}-{days}")
        certificate, key = pathlib.Path(stem + ".crt"), pathlib.Path(stem + ".key")
        listed = ",".join(f"{_kind(name)}:{name}" for name in names)
        with tempfile.TemporaryDirectory() as scratch:
            request, extensions = pathlib.Path(scratch) / "request", pathlib.Path(scratch) / "extensions"
            extensions.write_text(f"subjectAltName={listed}\nbasicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\n")
            _openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={names[0]}", "-keyout", key,
                     "-out", request)
            _openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial", "-days", days,
                     "-extfile", extensions, "-out", certificate)
        return certificate, key

    def as_server(self, name):
        """A server that shows the authority's own certificate: one that nobody has signed but itself."""
        certificate = self.folder / f"{name}-self-signed.crt"
        _openssl("req", "-x509", "-new", "-key", self.key, "-days", 30, "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
                 "-out", certificate)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, self.key)
        return context

    def server_context(self, *names, days=30, protocols=("http/1.1",)):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.issue(*names, days=days))
        context.set_alpn_protocols(list(protocols))
        return context
