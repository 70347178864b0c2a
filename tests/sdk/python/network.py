"""E2B's network options and secrets, from the Python package to programs inside and servers outside.

    network.py sync      (or async), in the Internet that tests/support/with-server --internet plays

Prints a line for each check and "N passed, N failed" at the end. What the JavaScript twin (js/network.mjs) shows of the server is not
shown again: here it is that the package's own words (allow_out, egress_proxy, https_ports) arrive as what they mean.
"""
import asyncio
import contextlib
import hashlib
import json
import re
import sys

import e2b
from flavour import AsyncFlavour, SyncFlavour

ALL = "0.0.0.0/0"
LIMIT = 120
PROXY = {"address": "proxy.test:1080", "username": "agent", "password": "password-of-the-proxy"}
REQUESTS = "python3 -c \"from pip._vendor import requests; print(requests.get('{}', timeout=20).text)\""


def rule(**headers):
    return [{"transform": {"headers": {name.replace("_", "-"): value for name, value in headers.items()}}}]


@contextlib.asynccontextmanager
async def sandbox_with(w, **options):
    sandbox = await w.do(w.Sandbox.create("base", timeout=300, **options))
    try:
        yield sandbox
    finally:
        await w.do(sandbox.kill())


async def run(w, sandbox, command):
    return (await w.do(sandbox.commands.run(command, timeout=60))).stdout


async def asked(w, sandbox, url):
    return json.loads(await run(w, sandbox, REQUESTS.format(url)))


async def fails(w, sandbox, command):
    await w.refused(lambda: sandbox.commands.run(command, timeout=60), e2b.CommandExitException)


async def rules_and_lists(w):
    network = {"allow_out": lambda context: list(context.rules), "deny_out": [ALL], "rules": {"a.test": rule(X_Set_Outside="plainly-given")}}
    async with sandbox_with(w, network=network) as sandbox:
        assert "X-Set-Outside: plainly-given" in (await asked(w, sandbox, "https://a.test/"))["head"]
        await fails(w, sandbox, REQUESTS.format("https://c.test/"))
        shown = (await w.do(sandbox.get_info())).network
        assert shown["allow_out"] == ["a.test"] and shown["rules"]["a.test"][0]["transform"]["headers"] == {"X-Set-Outside": "***"}, shown


async def secrets(w):
    await w.do(w.Secret.create("python-key", "value-of-the-python-key"))
    try:
        async with sandbox_with(w) as sandbox:
            await w.do(sandbox.update_network({"rules": {"a.test": rule(X_Key=w.Secret.fill("python-key"))}}))
            seen = (await asked(w, sandbox, "https://a.test/"))["digests"]["x-key"]
            assert seen == hashlib.sha256(b"value-of-the-python-key").hexdigest(), seen
            assert "python-key" in (await w.do(sandbox.get_info())).network["rules"]["a.test"][0]["transform"]["headers"]["X-Key"]
            await fails(w, sandbox, "env | grep value-of-the-python-key")
            await w.do(sandbox.update_network({}))
            assert "X-Key" not in (await asked(w, sandbox, "https://a.test/"))["head"]
    finally:
        await w.do(w.Secret.destroy("python-key"))


async def identity_tokens(w):
    iam = {"tokens": {"cloud": w.Secret.iam_token(audience="sts.test", token_type="JWT-SVID")}}
    network = {"rules": {"a.test": [{"transform": lambda context: {"headers": {"Authorization": f"Bearer {context.iam.tokens['cloud']}"}}}]}}
    async with sandbox_with(w, iam=iam, network=network) as sandbox:
        head = (await asked(w, sandbox, "https://a.test/"))["head"]
        assert re.search(r"Authorization: Bearer ey[\w-]+\.[\w-]+\.[\w-]+", head), head


async def the_proxy(w):
    async with sandbox_with(w, network={"egress_proxy": PROXY}) as sandbox:
        assert (await asked(w, sandbox, "https://a.test/"))["from"] == "203.0.113.70"
        shown = (await w.do(sandbox.get_info())).network["egress_proxy"]
        assert shown == {"address": PROXY["address"], "username": PROXY["username"]}, shown
        await w.do(sandbox.update_network({"egress_proxy": {**PROXY, "password": "a-wrong-password"}}))
        await fails(w, sandbox, REQUESTS.format("https://a.test/"))
    await w.refused(lambda: w.Sandbox.create("base", network={"egress_proxy": {**PROXY, "tls": True}}), e2b.SandboxException, "egressProxy.tls")


async def the_internet_off_and_on(w):
    async with sandbox_with(w, allow_internet_access=False) as sandbox:
        await fails(w, sandbox, REQUESTS.format("https://a.test/"))
        await w.do(sandbox.update_network({"allow_internet_access": True}))
        assert (await asked(w, sandbox, "https://a.test/"))["answered"] == "a.test"


async def main(flavour):
    failed = passed = 0
    for check in (rules_and_lists, secrets, identity_tokens, the_proxy, the_internet_off_and_on):
        try:
            await asyncio.wait_for(check(flavour), LIMIT)
            passed += 1
            print(f"ok   {check.__name__}")
        except Exception as error:  # whatever goes wrong in a check is its result
            failed += 1
            print(f"FAIL {check.__name__}: {type(error).__name__}: {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main({"sync": SyncFlavour, "async": AsyncFlavour}[sys.argv[1]]())))
