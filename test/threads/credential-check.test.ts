/** What a thread keeps of the credentials that callers send. */
import { hash } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { Principal } from '#model/principal.ts'
import { CredentialCheck } from '#threads/credential-check.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** 40 MB, if they were kept. */
const FORMS = 2_000
const BLANKS = 20_000
const KEPT_BYTES_MAX = 4_000_000

test('however many ways a key is written in, no more is kept than there are keys', () => {
  const principal = { kind: 'organization' } as Principal
  const check = new CredentialCheck({ now: () => 0, elapsedMs: () => 0 })
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

test('a key that was just sent is told from every other of its length, wherever they differ', () => {
  const principal = { kind: 'organization' } as Principal
  const secret = 'verdict_0123456789abcdefghijkl'
  const check = new CredentialCheck({ now: () => 0, elapsedMs: () => 0 })
  check.replaceAll([{ secretHash: hash('sha256', secret, 'hex'), principal, validUntil: null, slot: 0 }])
  for (let place = 0; place < secret.length; place++) {
    expect(check.authenticate(`Bearer ${secret}`)).toBe(principal)
    const other = `${secret.slice(0, place)}~${secret.slice(place + 1)}`
    expect(check.authenticate(`Bearer ${other}`), `${place}`).toBeNull()
  }
})

test('of keys that are sent in turns each stands for its own caller, until it is known no more', () => {
  const check = new CredentialCheck({ now: () => 0, elapsedMs: () => 0 })
  const principals = ['one', 'two'].map(keyId => ({ kind: 'organization', keyId }) as unknown as Principal)
  const credentials = principals.map((principal, slot) => {
    return { secretHash: hash('sha256', `secret-${slot}`, 'hex'), principal, validUntil: null, slot }
  })
  check.replaceAll(credentials)
  const sent = [0, 1, 0, 0, 0, 1, 1, 1, 0]
  const callers = () => sent.map(slot => check.authenticate(`Bearer secret-${slot}`))
  expect(callers()).toEqual(sent.map(slot => principals[slot]))
  check.replaceAll(credentials.slice(1))
  expect(callers()).toEqual(sent.map(slot => (slot === 0 ? null : principals[slot])))
})
