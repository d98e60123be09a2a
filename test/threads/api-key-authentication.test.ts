/** Authentication of API keys in a thread: its memory, and its reports of key uses. */
import { hash } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { Principal } from '#model/principal.ts'
import { ApiKeyAuthentication } from '#threads/channel/api-key-authentication.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Number of spellings of the credential. If the thread kept all of them, they would take 40 MB. */
const FORMS = 2_000
const BLANKS = 20_000
const KEPT_BYTES_MAX = 4_000_000

test('many spellings of the credential of a key do not increase the memory of the thread', () => {
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

test('the first use of a key is reported, and again the first use after the thread forgets uses', () => {
  const told: string[] = []
  const clocks = { now: () => now, elapsedMs: () => now }
  let now = 0
  const check = new ApiKeyAuthentication(clocks, keyId => told.push(keyId))
  const credential = (secret: string, keyId: string | null, validUntil: number | null = null) => ({
    secretHash: hash('sha256', secret, 'hex'),
    principal: { kind: 'organization', organizationId: 'o', keyId } as Principal,
    validUntil,
    slot: 0,
  })
  const credentials = [credential('one', '1'), credential('two', '2'), credential('admin', null)]
  check.replaceAll(credentials)
  for (let time = 0; time < 100; time += 1) {
    for (const secret of ['one', 'admin', 'neither']) check.authenticate(`Bearer ${secret}`)
  }
  expect(told).toEqual(['1'])
  check.replaceAll([...credentials, credential('former', '3', 10)])
  for (const secret of ['one', 'two']) check.authenticate(`Bearer ${secret}`)
  expect(told).toEqual(['1', '2'])
  now = 10
  expect(check.authenticate('Bearer former')).toBe(null)
  check.forgetUses()
  for (let time = 0; time < 100; time += 1) check.authenticate('Bearer one')
  expect(told).toEqual(['1', '2', '1'])
})
