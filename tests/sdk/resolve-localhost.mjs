// Names below .localhost are this machine's (RFC 6761, 6.3), which glibc knows only with an extra module: node --import this file.
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

const lookup = dns.lookup
dns.lookup = (name, options, done) => {
  const callback = typeof options === 'function' ? options : done
  const all = typeof options === 'object' && options?.all
  if (!String(name).endsWith('.localhost')) return lookup(name, options, done)
  process.nextTick(() => (all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4)))
}
syncBuiltinESMExports()
