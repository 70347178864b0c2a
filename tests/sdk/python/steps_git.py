"""The git helpers: plain git inside, against a bare repository in the same sandbox. A step for each public method."""
import e2b

from steps_parts import same

REPO = "/home/user/git/repo"
BARE = "/home/user/git/bare.git"


class Git:
    async def init(w):
        await w.do(w.sandbox.git.init(REPO, initial_branch="main"))
        await w.do(w.sandbox.git.init(BARE, bare=True, initial_branch="main"))

    async def configure_user(w):
        await w.do(w.sandbox.git.configure_user("Walker", "walker@example.org"))
        same(await w.do(w.sandbox.git.get_config("user.email", scope="global")), "walker@example.org")

    async def set_config(w):
        await w.do(w.sandbox.git.set_config("walk.key", "value", scope="local", path=REPO))

    async def get_config(w):
        same(await w.do(w.sandbox.git.get_config("walk.key", scope="local", path=REPO)), "value")

    async def add(w):
        await w.do(w.sandbox.files.write(f"{REPO}/a.txt", "one\n"))
        await w.do(w.sandbox.git.add(REPO, files=["a.txt"]))

    async def commit(w):
        await w.do(w.sandbox.git.commit(REPO, "First"))

    async def status(w):
        await w.do(w.sandbox.files.write(f"{REPO}/b.txt", "new\n"))
        status = await w.do(w.sandbox.git.status(REPO))
        same((status.current_branch, [one.name for one in status.file_status]), ("main", ["b.txt"]))

    async def reset(w):
        await w.do(w.sandbox.git.add(REPO))
        await w.do(w.sandbox.git.reset(REPO, mode="mixed"))
        same([one.staged for one in (await w.do(w.sandbox.git.status(REPO))).file_status], [False])

    async def restore(w):
        await w.do(w.sandbox.files.write(f"{REPO}/a.txt", "changed\n"))
        await w.do(w.sandbox.git.restore(REPO, paths=["a.txt"]))
        same(await w.do(w.sandbox.files.read(f"{REPO}/a.txt")), "one\n")

    async def create_branch(w):
        await w.do(w.sandbox.git.create_branch(REPO, "topic"))

    async def checkout_branch(w):
        await w.do(w.sandbox.git.checkout_branch(REPO, "main"))

    async def branches(w):
        branches = await w.do(w.sandbox.git.branches(REPO))
        same((sorted(branches.branches), branches.current_branch), (["main", "topic"], "main"))

    async def delete_branch(w):
        await w.do(w.sandbox.git.delete_branch(REPO, "topic", force=True))
        same((await w.do(w.sandbox.git.branches(REPO))).branches, ["main"])

    async def remote_add(w):
        await w.do(w.sandbox.git.remote_add(REPO, "origin", BARE))

    async def remote_get(w):
        same(await w.do(w.sandbox.git.remote_get(REPO, "origin")), BARE)

    async def push(w):
        await w.do(w.sandbox.git.push(REPO, remote="origin", branch="main"))

    async def clone(w):
        await w.do(w.sandbox.git.clone(BARE, path="/home/user/git/copy"))
        same(await w.do(w.sandbox.files.read("/home/user/git/copy/a.txt")), "one\n")
        await w.refused(lambda: w.sandbox.git.clone("/home/user/git/none"), e2b.CommandExitException)

    async def pull(w):
        await w.do(w.sandbox.git.add(REPO))
        await w.do(w.sandbox.git.commit(REPO, "Second"))
        await w.do(w.sandbox.git.push(REPO))
        await w.do(w.sandbox.git.pull("/home/user/git/copy"))
        same(await w.do(w.sandbox.files.read("/home/user/git/copy/b.txt")), "new\n")

    async def dangerously_authenticate(w):
        await w.do(w.sandbox.git.dangerously_authenticate("u", "p", host="git.example", protocol="https"))
        assert "https://u:p@git.example" in await w.do(w.sandbox.files.read("/home/user/.git-credentials"))


def steps():
    for function in vars(Git).values():
        if callable(function):
            yield "git", function
