// The git helpers: plain git inside, against a bare repository in the same sandbox.
import { assert, refused, same } from './expect.mjs'

const REPO = '/home/user/git/repo'
const BARE = '/home/user/git/bare.git'

export const gitSteps = {
  'git.init': async ({ sandbox }) => {
    await sandbox.git.init(REPO, { initialBranch: 'main' })
    await sandbox.git.init(BARE, { bare: true, initialBranch: 'main' })
  },
  'git.configureUser': async ({ sandbox }) => {
    await sandbox.git.configureUser('Walker', 'walker@example.org')
    same(await sandbox.git.getConfig('user.email', { scope: 'global' }), 'walker@example.org')
  },
  'git.setConfig': ({ sandbox }) => sandbox.git.setConfig('walk.key', 'value', { scope: 'local', path: REPO }),
  'git.getConfig': async ({ sandbox }) => {
    same(await sandbox.git.getConfig('walk.key', { scope: 'local', path: REPO }), 'value')
  },
  'git.add': async ({ sandbox }) => {
    await sandbox.files.write(`${REPO}/a.txt`, 'one\n')
    await sandbox.git.add(REPO, { files: ['a.txt'] })
  },
  'git.commit': ({ sandbox }) => sandbox.git.commit(REPO, 'First'),
  'git.status': async ({ sandbox }) => {
    await sandbox.files.write(`${REPO}/b.txt`, 'new\n')
    const status = await sandbox.git.status(REPO)
    same([status.currentBranch, status.fileStatus.map((one) => one.name)], ['main', ['b.txt']])
  },
  'git.reset': async ({ sandbox }) => {
    await sandbox.git.add(REPO)
    await sandbox.git.reset(REPO, { mode: 'mixed' })
    same((await sandbox.git.status(REPO)).stagedCount ?? 0, 0)
  },
  'git.restore': async ({ sandbox }) => {
    await sandbox.files.write(`${REPO}/a.txt`, 'changed\n')
    await sandbox.git.restore(REPO, { paths: ['a.txt'] })
    same(await sandbox.files.read(`${REPO}/a.txt`), 'one\n')
  },
  'git.createBranch': ({ sandbox }) => sandbox.git.createBranch(REPO, 'topic'),
  'git.checkoutBranch': ({ sandbox }) => sandbox.git.checkoutBranch(REPO, 'main'),
  'git.branches': async ({ sandbox }) => {
    const branches = await sandbox.git.branches(REPO)
    same([branches.branches.sort(), branches.currentBranch], [['main', 'topic'], 'main'])
  },
  'git.deleteBranch': async ({ sandbox }) => {
    await sandbox.git.deleteBranch(REPO, 'topic', { force: true })
    same((await sandbox.git.branches(REPO)).branches, ['main'])
  },
  'git.remoteAdd': ({ sandbox }) => sandbox.git.remoteAdd(REPO, 'origin', BARE),
  'git.remoteGet': async ({ sandbox }) => same(await sandbox.git.remoteGet(REPO, 'origin'), BARE),
  'git.push': ({ sandbox }) => sandbox.git.push(REPO, { remote: 'origin', branch: 'main' }),
  'git.clone': async ({ sandbox, sdk }) => {
    await sandbox.git.clone(BARE, { path: '/home/user/git/copy' })
    same(await sandbox.files.read('/home/user/git/copy/a.txt'), 'one\n')
    await refused(sandbox.git.clone('/home/user/git/none'), sdk.CommandExitError)
  },
  'git.pull': async ({ sandbox }) => {
    await sandbox.git.add(REPO)
    await sandbox.git.commit(REPO, 'Second')
    await sandbox.git.push(REPO)
    await sandbox.git.pull('/home/user/git/copy')
    same(await sandbox.files.read('/home/user/git/copy/b.txt'), 'new\n')
  },
  'git.dangerouslyAuthenticate': async ({ sandbox }) => {
    await sandbox.git.dangerouslyAuthenticate({ username: 'u', password: 'p', host: 'git.example', protocol: 'https' })
    const kept = await sandbox.files.read('/home/user/.git-credentials')
    assert.ok(kept.includes('https://u:p@git.example'))
  },
}
