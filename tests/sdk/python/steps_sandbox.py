"""The life of a sandbox: a step for each public method. Runs last: it ends the sandbox."""
import datetime
import os
import urllib.error
import urllib.request

import e2b

from steps_parts import same

NOWHERE = "i00000000000000000000"


def fetch(url, data=None, headers=None):
    request = urllib.request.Request(url, data=data, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def in_future(seconds):
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)


class Life:
    async def create(w):
        w.other = await w.do(w.Sandbox.create(
            "base", timeout=120, metadata={"walk": "a=b&c d+e"}, envs={"FROM_CREATE": "yes"},
            allow_internet_access=False))
        result = await w.do(w.other.commands.run("echo $FROM_CREATE $E2B_SANDBOX_ID"))
        same(result.stdout, f"yes {w.other.sandbox_id}\n")
        await w.refused(lambda: w.Sandbox.create("no-such-template"), e2b.SandboxException, "no-such-template")
        await w.refused(lambda: w.Sandbox.create("base", api_key="e2b_" + "0" * 40), e2b.AuthenticationException)
        listed = await w.do(w.Sandbox.create("base", network={"allow_out": ["example.org"], "deny_out": ["0.0.0.0/0"]}))
        await w.do(listed.kill())
        await w.refused(lambda: w.Sandbox.create("base", network={"deny_out": ["example.org"]}), e2b.SandboxException, "denyOut")

    async def list(w):
        async def ids(**options):
            return [one.sandbox_id for one in await w.do(w.Sandbox.list(**options).next_items())]
        query = e2b.SandboxQuery(metadata={"walk": "a=b&c d+e"}, state=[e2b.SandboxState.RUNNING])
        same(await ids(query=query), [w.other.sandbox_id])
        same(await ids(query=e2b.SandboxQuery(metadata={"walk": "other"})), [])
        pages, seen = w.Sandbox.list(limit=1), []
        while pages.has_next:
            seen += [one.sandbox_id for one in await w.do(pages.next_items())]
        assert {w.other.sandbox_id, w.sandbox.sandbox_id} <= set(seen)

    async def get_info(w):
        info = await w.do(w.other.get_info())
        same((info.state, info.metadata, info.template_id), (e2b.SandboxState.RUNNING, {"walk": "a=b&c d+e"}, "base"))
        same((await w.do(w.Sandbox.get_info(w.other.sandbox_id))).sandbox_id, w.other.sandbox_id)
        await w.refused(lambda: w.Sandbox.get_info(NOWHERE), e2b.NotFoundException)

    async def get_metrics(w):
        metrics = await w.eventually("a first sample", lambda: w.sandbox.get_metrics())
        assert metrics[0].mem_total > 0 and metrics[0].cpu_count >= 1 and metrics[0].disk_total > 0

    async def is_running(w):
        same(await w.do(w.sandbox.is_running()), True)

    async def set_timeout(w):
        await w.do(w.other.set_timeout(60))
        assert (await w.do(w.other.get_info())).end_at < in_future(70)

    async def pause(w):
        await w.do(w.other.commands.run("sleep 600", background=True))
        await w.do(w.other.pause())
        same((await w.do(w.other.get_info())).state, e2b.SandboxState.PAUSED)
        same(await w.do(w.other.is_running()), False)

    async def connect(w):
        """Also of one that had its files alone, and was started anew."""
        again = await w.do(w.Sandbox.connect(w.other.sandbox_id, timeout=120))
        assert any(one.args[-1] == "sleep 600" for one in await w.do(again.commands.list()))
        same((await w.do(w.other.commands.run("echo the old handle works"))).exit_code, 0)
        await w.refused(lambda: w.Sandbox.connect(NOWHERE), e2b.NotFoundException)
        await w.do(w.other.pause(keep_memory=False))
        await w.do(w.other.connect(timeout=120))
        assert not any(one.args[-1] == "sleep 600" for one in await w.do(w.other.commands.list()))

    async def beta_pause(w):
        await w.do(w.other.beta_pause())
        await w.do(w.other.connect())

    async def get_host(w):
        assert w.sandbox.get_host(8080).startswith(f"8080-{w.sandbox.sandbox_id}.")
        await w.do(w.sandbox.commands.run("cd /tmp && python3 -m http.server 8080 --bind 127.0.0.1",
                                          background=True, timeout=0))
        headers = {"E2b-Sandbox-Id": w.sandbox.sandbox_id, "E2b-Sandbox-Port": "8080"}
        status, body = fetch(os.environ["E2B_SANDBOX_URL"] + "/", headers=headers)
        assert status == 200 and "Directory listing" in body, (status, body)

    async def download_url(w):
        await w.do(w.sandbox.files.write("signed.txt", "signed"))
        same(fetch(w.sandbox.download_url("signed.txt", use_signature_expiration=60)), (200, "signed"))
        same(fetch(w.sandbox.download_url("signed.txt", use_signature_expiration=-60))[0], 401)
        same(fetch(w.sandbox.download_url("signed.txt").replace("signed.txt", "other.txt"))[0], 401)

    async def upload_url(w):
        url = w.sandbox.upload_url("uploaded.txt", use_signature_expiration=60)
        headers = {"Content-Type": "application/octet-stream"}
        same(fetch(url, data=b"by link", headers=headers)[0], 200)
        same(await w.do(w.sandbox.files.read("uploaded.txt")), "by link")

    async def get_mcp_url(w):
        assert w.sandbox.sandbox_id in w.sandbox.get_mcp_url()

    async def get_mcp_token(w):
        """Read from a file that only a template with the gateway has."""
        try:
            same(await w.do(w.sandbox.get_mcp_token()), None)
        except e2b.SandboxException:
            pass

    async def fork(w):
        await w.do(w.other.files.write("kept.txt", "before"))
        forks = await w.do(w.Sandbox.fork(w.other.sandbox_id, count=2, timeout=60))
        same(len({one.sandbox_id for one in [w.other, *forks]}), 3)
        for fork in forks:
            same(await w.do(fork.files.read("kept.txt")), "before")
            await w.do(fork.files.write("kept.txt", "after"))
            await w.do(fork.kill())
        same(await w.do(w.other.files.read("kept.txt")), "before")

    async def create_snapshot(w):
        w.snapshot = (await w.do(w.other.create_snapshot(name="walk:v1"))).snapshot_id
        await w.do(w.other.files.write("kept.txt", "later"))
        made = await w.do(w.Sandbox.create("walk:v1", timeout=60))
        same(await w.do(made.files.read("kept.txt")), "before")
        await w.do(made.kill())

    async def list_snapshots(w):
        pages = w.Sandbox.list_snapshots(name="walk")
        same([one.snapshot_id for one in await w.do(pages.next_items())], [w.snapshot])

    async def delete_snapshot(w):
        same(await w.do(w.Sandbox.delete_snapshot(w.snapshot)), True)
        same(await w.do(w.Sandbox.delete_snapshot(w.snapshot)), False)

    async def update_network(w):
        await w.do(w.sandbox.update_network({"allow_out": ["203.0.113.7"], "deny_out": ["0.0.0.0/0"]}))
        await w.refused(lambda: w.sandbox.update_network({"allow_out": ["a.example"]}), e2b.SandboxException, "0.0.0.0/0")
        await w.do(w.sandbox.update_network({}))  # all that is left out is cleared

    async def kill(w):
        same(await w.do(w.Sandbox.kill(w.other.sandbox_id)), True)
        same(await w.do(w.Sandbox.kill(w.other.sandbox_id)), False)
        handle = await w.do(w.sandbox.commands.run("sleep 60", background=True))
        same(await w.do(w.sandbox.kill()), True)
        await w.refused(handle.wait, e2b.TimeoutException, "killed or reached its end of life")
        same(await w.do(w.sandbox.is_running()), False)


def steps():
    for function in vars(Life).values():
        if callable(function):
            yield "Sandbox", function
