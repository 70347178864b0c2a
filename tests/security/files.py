"""F: the file API against hostile trees, names and clients."""
import hashlib
import base64
import socket
import threading
import time
import urllib.parse

from client import Refused


def refused(body, statuses):
    try:
        body()
    except Refused as error:
        assert error.status in statuses, f"{error.status} {error.body}"
        return error
    raise AssertionError("it was accepted")


def swapped_component(server, sandbox):
    """F-01, F-02: a path component that flips between a directory and a link to the root while files are read and written."""
    sandbox.run("mkdir -p /home/user/a /home/user/b && echo inside > /home/user/a/f && ln -sfn / /home/user/c")
    swapper = ("import os,ctypes,time\nlibc=ctypes.CDLL(None)\nend=time.time()+6\n"
               "while time.time()<end: libc.syscall(316,-100,b'/home/user/a',-100,b'/home/user/c',2)")
    thread = threading.Thread(target=lambda: sandbox.run(["python3", "-c", swapper]))
    thread.start()
    canary = server.state / "canary"
    canary.write_text("host canary")
    end = time.monotonic() + 5
    try:
        while time.monotonic() < end:
            for path in ("/home/user/a/f", f"/home/user/a{canary}"):
                try:
                    data = sandbox.read(path)
                except Refused:
                    continue
                assert b"host canary" not in data, "a file of the host was read"
    finally:
        thread.join()
        canary.unlink()


def magic_links(sandbox):
    """F-03: links of /proc never lead out."""
    for path in ("/proc/1/root/etc/passwd", "/proc/self/root/etc/hostname", "/dev/fd/3", "/proc/1/fd/3", "/proc/1/cwd/etc/passwd"):
        try:
            data = sandbox.read(path, user="root")
        except Refused:
            continue
        inside = sandbox.run(["cat", "/etc/passwd"]).stdout.encode() + sandbox.run(["cat", "/etc/hostname"]).stdout.encode()
        assert data in inside or data == b"", f"{path} gave {data[:80]!r}"


def odd_types(sandbox):
    """F-04: FIFOs, sockets, devices and directories are refused by type, at once."""
    sandbox.run("rm -rf /tmp/odd; mkdir -p /tmp/odd/dir && mkfifo /tmp/odd/fifo && python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('/tmp/odd/sock')\"")
    for path in ("/tmp/odd/fifo", "/tmp/odd/sock", "/tmp/odd/dir", "/dev/zero", "/dev/tty", "/dev/ptmx"):
        began = time.monotonic()
        refused(lambda path=path: sandbox.read(path), (400, 403, 404))
        assert time.monotonic() - began < 1, f"{path} blocked"
    refused(lambda: sandbox.write("/tmp/odd/fifo", b"x"), (400, 403))
    refused(lambda: sandbox.write("/tmp/odd/dir", b"x"), (400,))


def links_of_others(sandbox):
    """F-05, F-09: the file API acts with the rights of the named user; links to root's files open nothing."""
    sandbox.run("echo secret > /root/s && chmod 600 /root/s", user="root")
    sandbox.run("rm -f /home/user/l /home/user/h; ln -s /root/s /home/user/l; ln -s /root /home/user/h")
    for path in ("/root/s", "/home/user/l", "/home/user/h/s"):
        refused(lambda path=path: sandbox.read(path), (400, 401, 403, 404))
        refused(lambda path=path: sandbox.write(path, b"x"), (400, 401, 403, 404))
    assert sandbox.run(["cat", "/root/s"], user="root").stdout == "secret\n"
    refused(lambda: sandbox.read("~root/s"), (400,))
    refused(lambda: sandbox.read("~other"), (400,))
    assert sandbox.run("stat -c %U /root/s", user="root").stdout == "root\n"


def strange_account_files(sandbox):
    """F-04: whatever stands where the accounts should be, the API answers at once and goes on when they are back."""
    for put in ("mkfifo /etc/passwd", "mkdir /etc/passwd", "ln -s /dev/zero /etc/passwd", "ln -s /etc/passwd /etc/passwd",
                "ln -s /proc/1/mem /etc/passwd", "truncate -s 20G /etc/passwd", "yes user:x:1000:1000 | tr -d '\\n' | head -c 30000000 > /etc/passwd",
                "printf 'user:x:4294967295:4294967295::/:/bin/sh\\n' > /etc/passwd"):
        assert sandbox.run(["/bin/sh", "-c", f"mv /etc/passwd /etc/kept; {put}"], user="root").exit_code == 0, put
        began = time.monotonic()
        refused(lambda: sandbox.run(["id"]), (200, 400))
        refused(lambda: sandbox.read("/etc/hostname"), (400, 401))
        assert time.monotonic() - began < 5, f"{put}: the answer took {time.monotonic() - began:.1f} s"
        # Root needs no such file, so it can put the accounts back.
        assert sandbox.run(["/bin/sh", "-c", "rm -rf /etc/passwd; mv /etc/kept /etc/passwd"], user="root").exit_code == 0, put
        assert sandbox.run("id -u").stdout == "1000\n", put


def strange_sizes(sandbox):
    """F-06: sparse, growing and shrinking files end when they end."""
    sandbox.run("truncate -s 64M /tmp/sparse; echo -n x >> /tmp/sparse")
    assert len(sandbox.read("/tmp/sparse")) == 64 * 2**20 + 1
    result = sandbox.run("truncate -s 8E /tmp/huge; echo $?")
    if result.stdout.strip().endswith("0"):
        status, headers, _ = sandbox.client.raw("GET", "/files?path=/tmp/huge", None, {**sandbox.headers(), "Range": "bytes=0-9"})
        assert status in (206, 400, 413, 416), status
    sandbox.run("rm -f /tmp/huge /tmp/sparse")
    assert b"processor" in sandbox.read("/proc/cpuinfo"), "a file of /proc has no size and is read to its end"


def listed_names(sandbox):
    """F-08, D-25: names of any bytes are listed as valid JSON, and nothing of the listing is a path of the host."""
    make = ("import os\nos.makedirs('/tmp/names',exist_ok=True)\n"
            "for n in [b'new\\nline', b'-rf', b'\\x1b]0;title\\x07', b'\\xff\\xfe', b'a'*255, b'..x', b'quote\"\\\\']: open(b'/tmp/names/'+n,'w')")
    assert sandbox.run(["python3", "-c", make]).exit_code == 0
    entries = sandbox.rpc("filesystem.Filesystem/ListDir", {"path": "/tmp/names", "depth": 1})["entries"]
    assert len(entries) == 7, [entry["name"] for entry in entries]


def bad_paths(sandbox):
    """F-10: empty and endless names, NUL, a directory as a file."""
    for path in ("x" * 256, "/".join(["y" * 200] * 30), "a\0b", "/tmp/\0"):
        refused(lambda path=path: sandbox.write(path, b"x"), (400,))
        refused(lambda path=path: sandbox.read(path), (400, 404))
    refused(lambda: sandbox.rpc("filesystem.Filesystem/Stat", {"path": "a\0b"}), (400, 404))
    refused(lambda: sandbox.rpc("filesystem.Filesystem/MakeDir", {"path": "/etc/passwd"}), (400, 403, 409))


def sign(path, operation, user, token, expiry=None):
    raw = f"{path}:{operation}:{user}:{token}" + (f":{expiry}" if expiry else "")
    return "v1_" + base64.b64encode(hashlib.sha256(raw.encode()).digest()).decode().rstrip("=")


def signed_urls(server):
    """F-11, R-04: a signature holds for its path, operation, user, time and sandbox, and for nothing else."""
    with server.client.create() as sandbox:
        sandbox.write("/home/user/a.txt", b"content")
        routing = {"E2b-Sandbox-Id": sandbox.id, "E2b-Sandbox-Port": "49983"}
        later, earlier = int(time.time()) + 60, int(time.time()) - 60

        def get(path, signature, user="user", expiry=None, method="GET", headers=None):
            query = {"path": path, "username": user, "signature": signature}
            if expiry:
                query["signature_expiration"] = str(expiry)
            return server.client.raw(method, "/files?" + urllib.parse.urlencode(query), None, routing if headers is None else headers)

        good = sign("/home/user/a.txt", "read", "user", sandbox.token, later)
        assert get("/home/user/a.txt", good, expiry=later)[2] == b"content"
        assert get("/home/user/a.txt", good, expiry=later, headers={})[2] == b"content", "URL mode finds the sandbox by its signature"
        assert get("/home/user/../user/a.txt", good, expiry=later)[0] == 401
        assert get("/home/user/a.txt", good, user="root", expiry=later)[0] == 401
        assert get("/home/user/a.txt", good, expiry=later + 1)[0] == 401
        assert get("/home/user/a.txt", good, expiry=later, method="POST")[0] == 401
        assert get("/home/user/a.txt", sign("/home/user/a.txt", "read", "user", sandbox.token, earlier), expiry=earlier)[0] == 401
        assert get("/home/user/a.txt", sign("/home/user/a.txt", "read", "user", "0" * 32))[0] == 401
    assert get("/home/user/a.txt", good, expiry=later)[0] in (401, 404, 502), "the sandbox is gone, the signature with it"


def slow_upload(server, sandbox):
    """F-12: an upload that stops half-way is cut, and costs the others nothing."""
    url = server.client.url
    head = (f"POST /files?path=/tmp/slow HTTP/1.1\r\nHost: {url.netloc}\r\nE2b-Sandbox-Id: {sandbox.id}\r\nE2b-Sandbox-Port: 49983\r\n"
            f"X-Access-Token: {sandbox.token}\r\nContent-Type: application/octet-stream\r\nContent-Length: 10737418240\r\n\r\nabc")
    sockets = []
    for _ in range(20):
        connection = socket.create_connection((url.hostname, url.port))
        connection.sendall(head.encode())
        sockets.append(connection)
    assert sandbox.run("echo meanwhile").stdout == "meanwhile\n"
    for connection in sockets[1:]:
        connection.close()
    sockets[0].settimeout(45)
    began = time.monotonic()
    assert sockets[0].recv(4096)[:12] in (b"", b"HTTP/1.1 408", b"HTTP/1.1 400", b"HTTP/1.1 504"), "it was not cut"
    assert time.monotonic() - began < 40


def checks(tally, server, full):
    with server.client.create() as sandbox:
        tally.check("F-01 F-02 swapped component", swapped_component, server, sandbox)
        tally.check("F-03 magic links", magic_links, sandbox)
        tally.check("F-04 odd types", odd_types, sandbox)
        tally.check("F-04 strange account files", strange_account_files, sandbox)
        tally.check("F-05 F-09 files of others", links_of_others, sandbox)
        tally.check("F-06 strange sizes", strange_sizes, sandbox)
        tally.check("F-08 names in listings", listed_names, sandbox)
        tally.check("F-10 bad paths", bad_paths, sandbox)
        tally.check("F-11 signed URLs", signed_urls, server)
        tally.check("F-12 slow upload", slow_upload, server, sandbox)
