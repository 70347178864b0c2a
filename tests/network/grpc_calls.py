"""gRPC through connections that are read: HTTP/2 on both sides, and the status of a call behind its body."""
import contextlib
import subprocess
import sys

from tally import Skipped

ADDRESS = "203.0.113.62"
POLICY = {"preset": "packages-only", "rule": [
    {"id": "calls", "category": "internal-apis", "action": "allow", "host": ["calls.test"], "port": [443], "method": ["POST"],
     "path": ["/test.Greeter/*"]}]}

# Without generated code: messages are bytes.
SERVICE = """import concurrent.futures, sys, grpc
def hello(request, context):
    if request == b"nobody":
        context.abort(grpc.StatusCode.NOT_FOUND, "there is nobody")
    context.set_trailing_metadata((("seen", "yes"),))
    return b"hello " + request
def count(request, context):
    for number in range(int(request)):
        yield str(number).encode()
def chat(requests, context):
    for request in requests:
        yield request.upper()
plain = {"request_deserializer": None, "response_serializer": None}
handlers = grpc.method_handlers_generic_handler("test.Greeter", {
    "Hello": grpc.unary_unary_rpc_method_handler(hello, **plain), "Count": grpc.unary_stream_rpc_method_handler(count, **plain),
    "Chat": grpc.stream_stream_rpc_method_handler(chat, **plain)})
server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
server.add_generic_rpc_handlers((handlers,))
key, certificate = (open(name, "rb").read() for name in sys.argv[2:4])
server.add_secure_port(sys.argv[1], grpc.ssl_server_credentials([(key, certificate)]))
server.start()
print("ready", flush=True)
server.wait_for_termination()
"""
CLIENT = """import grpc, os
roots = open(os.environ["SSL_CERT_FILE"], "rb").read()
channel = grpc.secure_channel("calls.test:443", grpc.ssl_channel_credentials(roots))
hello = channel.unary_unary("/test.Greeter/Hello")
answer, call = hello.with_call(b"you", timeout=20)
print(answer, dict(call.trailing_metadata()).get("seen"))
print([piece.decode() for piece in channel.unary_stream("/test.Greeter/Count")(b"300", timeout=20)][-1])
print([piece.decode() for piece in channel.stream_stream("/test.Greeter/Chat")(iter([b"a", b"b" * 500_000]), timeout=20)][0])
for method, words in (("/test.Greeter/Hello", b"nobody"), ("/test.Other/Hello", b"x")):
    try:
        channel.unary_unary(method)(words, timeout=20)
    except grpc.RpcError as error:
        print(error.code(), error.details())
"""


@contextlib.contextmanager
def service(home, internet):
    """A server by gRPC's own library, which comes from the machine's registry as the client's does."""
    folder = internet.folder / "grpc"
    with home.entered():
        made = subprocess.run([sys.executable, "-m", "venv", str(folder)], capture_output=True)
        if made.returncode != 0 or subprocess.run([folder / "bin" / "pip", "install", "--quiet", "grpcio"], capture_output=True).returncode != 0:
            raise Skipped("this machine can't install grpcio")
    certificate, key = internet.authority.issue("calls.test")
    internet.names.hosts["calls.test"] = [ADDRESS]
    with internet.namespace.entered():
        server = subprocess.Popen([folder / "bin" / "python", "-c", SERVICE, f"{ADDRESS}:443", str(key), str(certificate)], stdout=subprocess.PIPE)
    try:
        assert server.stdout.readline() == b"ready\n"
        yield
    finally:
        server.terminate()
        server.wait(timeout=20)


def install(workplace):
    result = workplace.run("python3 -m venv /tmp/venv && /tmp/venv/bin/pip install grpcio 2>&1", timeout_ms=400_000)
    assert result.exit_code == 0, result.stdout[-600:]


def calls(workplace):
    workplace.write("/tmp/call.py", CLIENT.encode())
    result = workplace.run("/tmp/venv/bin/python /tmp/call.py", timeout_ms=100_000)
    lines = result.stdout.splitlines()
    assert lines[:3] == ["b'hello you' yes", "299", "A"], result.stdout + result.stderr[-1500:]
    assert lines[3] == "StatusCode.NOT_FOUND there is nobody", lines
    # What no rule allows is answered 403, which gRPC has a word for.
    assert lines[4].startswith("StatusCode.PERMISSION_DENIED"), lines


def checks(tally, server, internet, home):
    if not tally.wants("gRPC"):
        return

    def all_kinds(workplace):
        with service(home, internet):
            calls(workplace)
    with server.client.create(timeout=900, policy=POLICY) as workplace:
        workplace.client.timeout = 400
        tally.check("gRPC's library is installed", install, workplace)
        tally.check("gRPC calls of every kind, and a service that no rule names", all_kinds, workplace)
