// Secrets: kept, changed and forgotten; their values never come back. Older packages have no such class.
import { assert, refused, same } from './expect.mjs'

const name = 'walk-key'

const steps = {
  'Secret.create': async ({ sdk }) => {
    const made = await sdk.Secret.create('Walk-Key', 'a-value-of-the-walk', { metadata: { from: 'walk' } })
    same([made.name, made.version, made.metadata], [name, 1, { from: 'walk' }])
    await refused(sdk.Secret.create(name, 'a-value-of-the-walk'), sdk.SecretError, 'already')
    await refused(sdk.Secret.create('a b', 'a-value-of-the-walk'), sdk.SecretError)
    await refused(sdk.Secret.create('walk-long', 'x'.repeat(64 * 1024 + 1)), sdk.SecretError, '64 KiB')
  },
  'Secret.update': async ({ sdk }) => {
    same((await sdk.Secret.update(name, 'another-value-of-the-walk')).version, 2)
    await refused(sdk.Secret.update('walk-none', 'a-value-of-the-walk'), sdk.SecretNotFoundError)
  },
  'Secret.getInfo': async ({ sdk }) => {
    const info = await sdk.Secret.getInfo(name)
    same((await sdk.Secret.getInfo(info.secretId)).name, name)
    assert.ok(!JSON.stringify(info).includes('value-of-the-walk'))
    await refused(sdk.Secret.getInfo('walk-none'), sdk.SecretNotFoundError)
  },
  'Secret.list': async ({ sdk }) => {
    await sdk.Secret.create('walk-second', 'a-value-of-the-walk')
    const pages = sdk.Secret.list({ limit: 1 })
    const seen = []
    while (pages.hasNext) seen.push(...(await pages.nextItems()).map((one) => one.name))
    assert.ok(seen.includes(name) && seen.includes('walk-second'))
    await sdk.Secret.destroy('walk-second')
  },
  'Secret.exists': async ({ sdk }) => {
    same([await sdk.Secret.exists(name), await sdk.Secret.exists('walk-none')], [true, false])
  },
  // Both only write text and are filled in outside the sandbox.
  'Secret.fill': async ({ sdk }) => same(sdk.Secret.fill(name), '${e2b.secrets.walk-key}'),
  'Secret.iamToken': async ({ sdk, Sandbox }) => {
    const token = sdk.Secret.iamToken({ audience: 'sts.example', tokenType: 'X509-SVID' })
    await refused(Sandbox.create('base', { iam: { tokens: { aws: token } } }), sdk.SandboxError, 'JWT-SVID')
  },
  'Secret.destroy': async ({ sdk }) => {
    same(await sdk.Secret.destroy(name), true)
    same(await sdk.Secret.destroy(name), false)
  },
}

// Older packages have the class with fewer calls, or not at all.
export const secretSteps = (sdk) =>
  Object.fromEntries(Object.entries(steps).filter(([step]) => typeof sdk.Secret?.[step.split('.')[1]] === 'function'))
