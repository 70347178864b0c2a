"""A store whose requests are signed: the client signs with placeholders, oyatd signs again with the true key."""
from s3_store import TRAILER, UNSIGNED, Store
from services import tls

ADDRESS = "203.0.113.60"
KEY_ID, SECRET_KEY = "AKIATESTTESTTESTTEST", "v3ryS3cretSigningKey/With+Signs0123456789"
POLICY = {"preset": "packages-only", "rule": [
    {"id": "store", "category": "internal-apis", "action": "allow", "host": ["store.test"], "port": [443], "method": ["GET", "HEAD", "PUT"],
     "path": ["/shelf", "/shelf/**"]}]}
CLIENT = """import boto3, io, sys, urllib.request
from botocore.config import Config
def client(**more):
    return boto3.client("s3", endpoint_url="https://store.test", region_name="eu-test-1",
                        config=Config(s3={"addressing_style": "path", **more.pop("s3", {})}, retries={"total_max_attempts": 1}, **more))
store = client()
"""


def python(workplace, text):
    workplace.write("/tmp/use_store.py", (CLIENT + text).encode())
    return workplace.run("/tmp/venv/bin/python /tmp/use_store.py", timeout_ms=60_000)


def succeeds(workplace, text):
    result = python(workplace, text)
    assert result.exit_code == 0, result.stdout[-500:] + result.stderr[-1500:]
    return result.stdout


def install(server, workplace):
    result = workplace.run("python3 -m venv /tmp/venv && /tmp/venv/bin/pip install boto3 2>&1", timeout_ms=400_000)
    assert result.exit_code == 0, result.stdout[-600:]
    server.client.api("POST", "/v1/secrets", {"name": "store-key", "value": f"{KEY_ID}:{SECRET_KEY}"})
    server.client.api("POST", f"/v1/sandboxes/{workplace.id}/secrets", {"secrets": [
        {"secret": "store-key", "env": "AWS_SECRET_ACCESS_KEY", "where": {"host": ["store.test"]},
         "how": {"in": "aws_sigv4", "name": "AWS_ACCESS_KEY_ID"}}]})
    shown = workplace.run("env").stdout
    assert "AWS_ACCESS_KEY_ID=oyat_ph_" in shown and SECRET_KEY not in shown and KEY_ID not in shown, shown


def with_body_and_query(workplace, store):
    shown = succeeds(workplace, """
store.put_object(Bucket="shelf", Key="a b/ü+1.txt", Body=b"hello", ContentType="text/plain", Metadata={"note": "two  blanks"})
print(store.get_object(Bucket="shelf", Key="a b/ü+1.txt")["Body"].read())
print([each["Key"] for each in store.list_objects_v2(Bucket="shelf", Prefix="a b/")["Contents"]])
""")
    assert "b'hello'" in shown and "['a b/ü+1.txt']" in shown, shown
    assert store.objects["/shelf/a b/ü+1.txt"] == b"hello" and store.refused == [], store.refused


def in_chunks(workplace, store):
    """What new clients do with a file: chunks, and behind them a checksum."""
    store.accepted.clear()
    shown = succeeds(workplace, """
import os
open("/tmp/large", "wb").write(os.urandom(6_000_000))
store.put_object(Bucket="shelf", Key="large", Body=open("/tmp/large", "rb"))
print(store.get_object(Bucket="shelf", Key="large")["Body"].read() == open("/tmp/large", "rb").read())
""")
    assert shown == "True\n", shown
    assert ("PUT", ("header", TRAILER)) in store.accepted and len(store.objects["/shelf/large"]) == 6_000_000, store.accepted


def with_a_digest(workplace, store):
    store.accepted.clear()
    succeeds(workplace, """
client(s3={"payload_signing_enabled": True}, request_checksum_calculation="when_required").put_object(Bucket="shelf", Key="whole", Body=b"x" * 100_000)
""")
    assert store.accepted == [("PUT", ("header", "digest"))] and store.objects["/shelf/whole"] == b"x" * 100_000, store.accepted


def by_link(workplace, store):
    store.objects["/shelf/linked"], _ = b"by a link", store.accepted.clear()
    shown = succeeds(workplace, """
link = client(signature_version="s3v4").generate_presigned_url("get_object", Params={"Bucket": "shelf", "Key": "linked"})
print(urllib.request.urlopen(link).read())
""")
    assert shown == "b'by a link'\n" and store.accepted == [("GET", ("query", UNSIGNED))], store.accepted


def elsewhere_is_refused(workplace, store):
    store.accepted.clear()
    result = python(workplace, 'store.put_object(Bucket="other", Key="a", Body=b"x")\n')
    assert result.exit_code != 0 and "403" in result.stderr and store.accepted == [], result.stderr[-500:]


def signed_piece_by_piece_is_refused(workplace, store):
    """Each chunk has a signature of its own, which oyatd does not make."""
    store.accepted.clear()
    result = succeeds(workplace, """
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
import http.client, ssl
signed = AWSRequest("PUT", "https://store.test/shelf/pieces", headers={"X-Amz-Decoded-Content-Length": "5", "Content-Encoding": "aws-chunked"}, data=b"5;chunk-signature=0\\r\\nhello\\r\\n0\\r\\n\\r\\n")
signer = S3SigV4Auth(boto3.Session().get_credentials(), "s3", "eu-test-1")
signer.payload = lambda request: "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
signer.add_auth(signed)
connection = http.client.HTTPSConnection("store.test")
connection.request("PUT", "/shelf/pieces", body=signed.data, headers=dict(signed.headers.items()))
answer = connection.getresponse()
print(answer.status, answer.read().decode())
""")
    assert result.startswith("403 ") and "signed piece by piece" in result and store.accepted == [], result


def nothing_else_was_refused(store):
    assert store.refused == [], store.refused
    assert store.key_id == KEY_ID


def checks(tally, server, internet):
    if not tally.wants("a store"):
        return
    store = Store(KEY_ID, SECRET_KEY)
    internet.names.hosts["store.test"] = [ADDRESS]
    internet.services.serve(443, tls({"store.test": internet.authority.server_context("store.test")}, store.handler), address=ADDRESS)
    with server.client.create(timeout=900, policy=POLICY) as workplace:
        workplace.client.timeout = 400
        tally.check("a store's client is installed, and has placeholders", install, server, workplace)
        tally.check("a store takes what oyatd signs: body and query", with_body_and_query, workplace, store)
        tally.check("a store takes chunks with a checksum behind them", in_chunks, workplace, store)
        tally.check("a store takes a body with its digest", with_a_digest, workplace, store)
        tally.check("a store answers a presigned link", by_link, workplace, store)
        tally.check("a store signed for is one bucket, by the rule's path", elsewhere_is_refused, workplace, store)
        tally.check("a store's request signed piece by piece is refused by name", signed_piece_by_piece_is_refused, workplace, store)
        tally.check("a store has seen no wrong signature", nothing_else_was_refused, store)
