/** What a thread keeps of the credentials that callers send. */
import { hash } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { Principal } from '#model/principal.ts'
import { ApiKeyAuthentication } from '#threads/channel/api-key-authentication.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** 40 MB, if they were kept. */
const FORMS = 2_000
const BLANKS = 20_000
const KEPT_BYTES_MAX = 4_000_000

test('however many ways a key is written in, no more is kept than there are keys', () => {
  const principal = { kind: 'organization' } as Principal
  const check = new ApiKeyAuthentication({ now: () => 0, elapsedMs: () => 0 })
  check.replaceAll([{ secretHash: hash('sha256', 'secret', 'hex'), principal, validUntil: null, slot: 0 }])
  const send = (): void => {
    for (let form = 1; form <= FORMS; form++) {
      const blanks = Buffer.alloc(BLANKS + form, ' ').toString('latin1')
      expect(check.authenticate(`Bearer ${blanks}secret`)).toBe(principal)
      expect(check.authenticate('Bearer secret')).toBe(principal)
    }
  }
  collect()
  const before = process.memoryUsage().heapUsed
  send()
  collect()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(KEPT_BYTES_MAX)
  expect(check.authenticate('Bearer secret')).toBe(principal)
})
