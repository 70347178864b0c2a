// Which methods a published package has: from the running classes, without what its declarations call private.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)

function hiddenNames(packageName) {
  const text = readFileSync(join(dirname(require.resolve(packageName)), 'index.d.ts'), 'utf8')
  const pattern = /^\s*(?:private|protected)\s+(?:static\s+)?(?:readonly\s+)?(?:get\s+|set\s+)?(\w+)/gm
  return new Set([...text.matchAll(pattern)].map((match) => match[1]))
}

function methodNames(object, hidden) {
  const names = new Set()
  for (let at = object; at && at !== Object.prototype && at !== Function.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (name !== 'constructor' && typeof property.value === 'function' && !hidden.has(name)) names.add(name)
    }
  }
  return [...names].sort()
}

// "Sandbox.create" for the class's own, "sandbox.kill" for an object's.
export function publicMethods(packageName, { Sandbox, sandbox, sdk }) {
  const hidden = hiddenNames(packageName)
  const list = [['Sandbox', Sandbox], ['sandbox', Sandbox.prototype]]
  if (sdk.Secret) list.push(['Secret', sdk.Secret])
  for (const part of ['commands', 'files', 'pty', 'git']) list.push([part, Object.getPrototypeOf(sandbox[part])])
  return list.flatMap(([owner, object]) => methodNames(object, hidden).map((name) => `${owner}.${name}`))
}
