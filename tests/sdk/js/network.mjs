// E2B's network options and secrets, from the package to real programs inside and servers outside.
//
//     node network.mjs            in the Internet that tests/support/with-server --internet plays
//
// Prints a line for each check and "N passed, N failed" at the end.
import { createHash } from 'node:crypto'
import { Sandbox, Secret } from 'e2b'
import { assert, same } from './expect.mjs'

const ALL = '0.0.0.0/0'
// Servers answer with the head of the request that they saw. What they echo of a secret is taken out, so they also tell digests.
const CLIENTS = {
  curl: (url) => `curl -sS --max-time 20 ${url}`,
  requests: (url) => `python3 -c "from pip._vendor import requests; print(requests.get('${url}', timeout=20).text)"`,
  fetch: (url) => `node -e "fetch('${url}').then(async (r) => console.log(await r.text()))"`,
}

const run = async (sandbox, command) => (await sandbox.commands.run(command, { timeoutMs: 60_000 })).stdout
const asked = async (sandbox, client, url) => JSON.parse(await run(sandbox, CLIENTS[client](url)))
const fails = async (sandbox, command) => {
  const ended = await sandbox.commands.run(command, { timeoutMs: 60_000 }).catch((error) => error)
  assert.notEqual(ended.exitCode, 0, `${command} went through: ${ended.stdout}`)
  return ended
}
// What a server saw in a field, as the digest that it tells.
const digest = async (sandbox, field, url) => (await asked(sandbox, 'curl', url)).digests[field.toLowerCase()] ?? 'absent'
const sha256 = (text) => createHash('sha256').update(text).digest('hex')

async function inSandbox(options, body) {
  const sandbox = await Sandbox.create('base', { timeoutMs: 300_000, ...options })
  try {
    await body(sandbox)
  } finally {
    await sandbox.kill()
  }
}

const rule = (headers) => [{ transform: { headers } }]

const checks = {
  'a rule sets a field for every client, on its host alone': () =>
    inSandbox({ network: { rules: { 'a.test': rule({ 'X-Set-Outside': 'plainly-given' }) } } }, async (sandbox) => {
      for (const client of Object.keys(CLIENTS)) {
        assert.match((await asked(sandbox, client, 'https://a.test/')).head, /X-Set-Outside: plainly-given/i, client)
      }
      assert.doesNotMatch((await asked(sandbox, 'curl', 'https://c.test/')).head, /X-Set-Outside/i)
      // What the program sends in that field itself counts for nothing.
      const own = JSON.parse(await run(sandbox, "curl -sS -H 'x-set-outside: mine' https://a.test/"))
      same(own.head.match(/x-set-outside: .*/gi).map((line) => line.split(': ')[1].trim()), ['plainly-given'])
    }),

  'a rule opens nothing by itself, and holds with allowOut': () =>
    inSandbox(
      {
        network: {
          allowOut: ({ rules }) => [...rules.keys()],
          denyOut: [ALL],
          rules: { 'a.test': rule({ 'X-Set-Outside': 'plainly-given' }) },
        },
      },
      async (sandbox) => {
        assert.match((await asked(sandbox, 'curl', 'https://a.test/')).head, /X-Set-Outside/i)
        await fails(sandbox, CLIENTS.curl('https://c.test/'))
        await sandbox.updateNetwork({ denyOut: [ALL], rules: { 'a.test': rule({ 'X-Set-Outside': 'plainly-given' }) } })
        await fails(sandbox, CLIENTS.curl('https://a.test/'))
      },
    ),

  'a secret is used by a rule, changed while it runs, and is nowhere inside': async () => {
    const name = 'network-key'
    await Secret.create(name, 'first-value-of-the-secret')
    try {
      await inSandbox({ network: { rules: { 'a.test': rule({ Authorization: `Bearer ${Secret.fill(name)}` }) } } }, async (sandbox) => {
        same(await digest(sandbox, 'Authorization', 'https://a.test/'), sha256('Bearer first-value-of-the-secret'))
        await Secret.update(name, 'second-value-of-the-secret')
        same(await digest(sandbox, 'Authorization', 'https://a.test/'), sha256('Bearer second-value-of-the-secret'))
        same(await digest(sandbox, 'Authorization', 'https://c.test/'), 'absent')
        await fails(sandbox, 'env | grep -i value-of-the-secret')
        const shown = JSON.stringify(await sandbox.getInfo())
        assert.ok(!shown.includes('value-of-the-secret'), shown)
        await Secret.destroy(name)
        // What can't be filled in does not leave.
        assert.match(await run(sandbox, CLIENTS.curl('https://a.test/')), /network-key/)
      })
    } finally {
      await Secret.destroy(name)
    }
  },

  'an identity token is made for each request': () =>
    inSandbox(
      {
        iam: { tokens: { cloud: Secret.iamToken({ audience: 'sts.test', tokenType: 'JWT-SVID' }) } },
        network: { rules: { 'a.test': [{ transform: ({ iam }) => ({ headers: { Authorization: `Bearer ${iam.tokens.cloud}` } }) }] } },
      },
      async (sandbox) => {
        const { head } = await asked(sandbox, 'curl', 'https://a.test/')
        const token = head.match(/Authorization: Bearer (\S+)/i)[1]
        const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url'))
        same(claims.aud, 'sts.test')
        assert.ok(claims.sub.endsWith(sandbox.sandboxId), claims.sub)
        // A change of the rules keeps the tokens that the sandbox was made with.
        await sandbox.updateNetwork({ rules: { 'c.test': rule({ 'X-Token': '${e2b.identity.tokens.cloud}' }) } })
        assert.match((await asked(sandbox, 'curl', 'https://c.test/')).head, /X-Token: ey/i)
      },
    ),

  'git clones with a login that it does not have': async () => {
    await Secret.create('git-login', Buffer.from('agent:password-of-git').toString('base64'))
    try {
      await inSandbox({}, async (sandbox) => {
        await fails(sandbox, 'GIT_TERMINAL_PROMPT=0 git clone -q https://git.test/project.git /tmp/one')
        await sandbox.updateNetwork({ rules: { 'git.test': rule({ Authorization: 'Basic ${e2b.secrets.git-login}' }) } })
        same(await run(sandbox, 'git clone -q https://git.test/project.git /tmp/two && git -C /tmp/two log --format=%s'), 'first\n')
        await fails(sandbox, 'cat /tmp/two/.git/config | grep -i password')
      })
    } finally {
      await Secret.destroy('git-login')
    }
  },

  "a fork's `secrets` stand in variables as placeholders": async () => {
    const call = async (method, path, body) => {
      const answer = await fetch(`https://api.${process.env.E2B_DOMAIN}${path}`, {
        method,
        headers: { 'X-API-KEY': process.env.E2B_API_KEY, 'X-Novita-SDK-Name': 'novita-sandbox', 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
      assert.ok(answer.ok, `${method} ${path}: ${answer.status}`)
      return answer.status === 204 ? undefined : answer.json()
    }
    await call('POST', '/secrets', { name: 'fork-key', value: 'value-of-the-fork', hosts: ['a.test'] })
    const { sandboxID } = await call('POST', '/sandboxes', { templateID: 'base', timeout: 300, secure: true, secrets: { ORDERS_KEY: 'fork-key' } })
    const sandbox = await Sandbox.connect(sandboxID)
    try {
      assert.match(await run(sandbox, 'echo $ORDERS_KEY'), /^oyat_ph_/)
      same(await digest(sandbox, 'X-Key', '-H "X-Key: $ORDERS_KEY" https://a.test/'), sha256('value-of-the-fork'))
      assert.match(await run(sandbox, 'curl -sS --max-time 20 -H "X-Key: $ORDERS_KEY" http://c.test/'), /refused|denied|secret/i)
    } finally {
      await sandbox.kill()
      await Secret.destroy('fork-key')
    }
  },

  'updateNetwork replaces the rules whole': () =>
    inSandbox({ network: { rules: { 'a.test': rule({ 'X-First': 'one-of-them' }) } } }, async (sandbox) => {
      await sandbox.updateNetwork({ rules: { 'c.test': rule({ 'X-Second': 'another-one' }) } })
      assert.doesNotMatch((await asked(sandbox, 'curl', 'https://a.test/')).head, /X-First/i)
      assert.match((await asked(sandbox, 'curl', 'https://c.test/')).head, /X-Second/i)
      same(Object.keys((await Sandbox.getFullInfo(sandbox.sandboxId)).network.rules), ['c.test'])
      const wrong = await sandbox.updateNetwork({ rules: { 'c.test': rule({ 'X-Second': '${e2b.secrets.nobody}' }) } }).catch((error) => error)
      assert.match(wrong.message, /nobody/)
      assert.match((await asked(sandbox, 'curl', 'https://c.test/')).head, /X-Second: another-one/i, 'a refused change changes nothing')
      await sandbox.updateNetwork({})
      assert.doesNotMatch((await asked(sandbox, 'curl', 'https://c.test/')).head, /X-Second/i)
    }),

  'updateNetwork cuts connections that are open': () =>
    inSandbox({}, async (sandbox) => {
      const open = await sandbox.commands.run(
        `python3 -uc "import socket
held = socket.create_connection(('c.test', 7))
held.sendall(b'hello')
print(held.recv(5).decode())
try:
    print('closed' if held.recv(5) == b'' else 'more')
except OSError as error:
    print('cut:', error)"`,
        { background: true, onStdout: () => {} },
      )
      while (!open.stdout.includes('hello')) await new Promise((resolve) => setTimeout(resolve, 50))
      await sandbox.updateNetwork({ allowInternetAccess: false })
      assert.match((await open.wait()).stdout, /cut:|closed/)
      await fails(sandbox, CLIENTS.curl('https://c.test/'))
      await sandbox.updateNetwork({ allowInternetAccess: true })
      assert.match((await asked(sandbox, 'curl', 'https://c.test/')).head, /GET/)
    }),

  'updateNetwork sets fields for connections that are open': () =>
    inSandbox({}, async (sandbox) => {
      const kept = await sandbox.commands.run(
        `python3 -uc "import os, time
from pip._vendor import requests
session = requests.Session()
print(session.get('https://a.test/').json()['head'])
while not os.path.exists('/tmp/go'): time.sleep(0.05)
os.environ['REQUESTS_CA_BUNDLE'] = '/etc/ssl/certs/ca-certificates.crt'
for _ in range(3):
    try:
        print(session.get('https://a.test/').json()['head'])
        break
    except OSError as error: print(error)
"`,
        { background: true, onStdout: () => {} },
      )
      while (!kept.stdout.includes('Host: a.test')) await new Promise((resolve) => setTimeout(resolve, 50))
      assert.doesNotMatch(kept.stdout, /X-Set-Outside/i)
      await sandbox.updateNetwork({ rules: { 'a.test': rule({ 'X-Set-Outside': 'plainly-given' }) } })
      await sandbox.files.write('/tmp/go', '')
      assert.match((await kept.wait()).stdout, /X-Set-Outside/i)
    }),

  'all connections go through the proxy, after they were judged': () =>
    inSandbox(
      { network: { denyOut: ['203.0.113.20'], egressProxy: { address: 'proxy.test:1080', username: 'agent', password: 'password-of-the-proxy' } } },
      async (sandbox) => {
        same((await asked(sandbox, 'curl', 'https://a.test/')).from, '203.0.113.70')
        await fails(sandbox, CLIENTS.curl('https://c.test/'))
        const info = await Sandbox.getFullInfo(sandbox.sandboxId)
        same(info.network.egressProxy, { address: 'proxy.test:1080', username: 'agent' })
        await sandbox.updateNetwork({ egressProxy: { address: 'proxy.test:1080', username: 'agent', password: 'a-wrong-password' } })
        await fails(sandbox, CLIENTS.curl('https://a.test/')) // never past the proxy
        await sandbox.updateNetwork({})
        assert.notEqual((await asked(sandbox, 'curl', 'https://a.test/')).from, '203.0.113.70')
      },
    ),

  'a port that speaks TLS itself is reached': () =>
    inSandbox({ network: { httpsPorts: [8443] } }, async (sandbox) => {
      await run(sandbox, 'cd /tmp && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=self -keyout key.pem -out cert.pem 2>/dev/null')
      const server = `import http.server, ssl
server = http.server.ThreadingHTTPServer(('', 8443), http.server.SimpleHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain('/tmp/cert.pem', '/tmp/key.pem')
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()`
      await sandbox.files.write('/tmp/server.py', server)
      await sandbox.commands.run('python3 /tmp/server.py', { background: true })
      let answer
      for (let i = 0; i < 40 && answer?.status !== 200; i++) answer = await fetch(`https://${sandbox.getHost(8443)}/`)
      same(answer.status, 200)
      same((await Sandbox.getFullInfo(sandbox.sandboxId)).network.httpsPorts, [8443])
      // The same server is not reached where nobody said that it speaks TLS.
      await inSandbox({}, async (other) => {
        await other.files.write('/tmp/plain.txt', 'x')
        await other.commands.run('cd /tmp && python3 -m http.server 8443', { background: true })
        let plain
        for (let i = 0; i < 40 && plain?.status !== 200; i++) plain = await fetch(`https://${other.getHost(8443)}/plain.txt`)
        same(plain.status, 200)
      })
    }),
}

let passed = 0
let failed = 0
const only = process.argv.slice(2)
for (const [name, check] of Object.entries(checks)) {
  if (only.length > 0 && !only.some((word) => name.includes(word))) continue
  try {
    await check()
    passed++
    console.log(`ok   ${name}`)
  } catch (error) {
    failed++
    console.log(`FAIL ${name}: ${error.name}: ${error.message}`)
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
