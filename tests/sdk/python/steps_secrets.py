"""Secrets: kept, changed and forgotten; their values never come back."""
import e2b

from steps_parts import same

NAME = "walk-key"
NONE = "walk-none"


class Keeping:
    async def create(w):
        made = await w.do(w.Secret.create("Walk-Key", "a-value-of-the-walk", metadata={"from": "walk"}))
        same((made.name, made.version, made.metadata), (NAME, 1, {"from": "walk"}))
        await w.refused(lambda: w.Secret.create(NAME, "a-value-of-the-walk"), e2b.SecretException, "already")
        await w.refused(lambda: w.Secret.create("walk-long", "x" * (64 * 1024 + 1)), e2b.SecretException, "64 KiB")

    async def update(w):
        same((await w.do(w.Secret.update(NAME, "another-value-of-the-walk"))).version, 2)
        await w.refused(lambda: w.Secret.update(NONE, "a-value-of-the-walk"), e2b.SecretNotFoundException)

    async def get_info(w):
        info = await w.do(w.Secret.get_info(NAME))
        assert "value-of-the-walk" not in repr(info)
        await w.refused(lambda: w.Secret.get_info(NONE), e2b.SecretNotFoundException)

    async def list(w):
        await w.do(w.Secret.create("walk-second", "a-value-of-the-walk"))
        pages, seen = w.Secret.list(limit=1), []
        while pages.has_next:
            seen += [one.name for one in await w.do(pages.next_items())]
        assert NAME in seen and "walk-second" in seen, seen
        await w.do(w.Secret.destroy("walk-second"))

    async def exists(w):
        same((await w.do(w.Secret.exists(NAME)), await w.do(w.Secret.exists(NONE))), (True, False))

    async def fill(w):
        same(w.Secret.fill(NAME), "${e2b.secrets.walk-key}")

    async def iam_token(w):
        token = w.Secret.iam_token(audience="sts.example", token_type="X509-SVID")
        await w.refused(lambda: w.Sandbox.create("base", iam={"tokens": {"aws": token}}), e2b.SandboxException, "JWT-SVID")

    async def destroy(w):
        same((await w.do(w.Secret.destroy(NAME)), await w.do(w.Secret.destroy(NAME))), (True, False))


def steps():
    return [("Secret", function) for name, function in vars(Keeping).items() if not name.startswith("_")]
