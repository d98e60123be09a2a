/**
 * Claim: the time in which the service rejects a guessed key does not reveal how similar the guess was to a
 * valid key.
 */
import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Principal } from '#model/principal.ts'
import { ApiKeyAuthentication } from '#threads/channel/api-key-authentication.ts'

const SECRET = 'verdict-key-0123456789abcdefghijklmnopqrstuvwxyz-0123456789abcdef'
const ROUNDS = 301
const GUESSES = 200

test('a guess that differs from the key only in its last character takes as long as a completely wrong guess', () => {
  const check = new ApiKeyAuthentication({ now: () => 0, elapsedMs: () => 0 })
  const principal = { kind: 'organization' } as Principal
  check.replaceAll([{ secretHash: hash('sha256', SECRET, 'hex'), principal, validUntil: null, slot: 0 }])
  expect(check.authenticate(`Bearer ${SECRET}`)).toBe(principal)
  const near = (end: string) => `Bearer ${SECRET.slice(0, -1)}${end}`
  const far = (end: string) => `Bearer ${'~'.repeat(SECRET.length - 1)}${end}`
  const timeOf = (guess: (end: string) => string): number => {
    // Each round uses new strings, as if they had been received from a socket.
    const guesses = Array.from({ length: GUESSES }, (_, index) => guess(String.fromCharCode(0x100 + index)))
    const from = performance.now()
    for (const each of guesses) if (check.authenticate(each) !== null) throw new Error('a guess is no key')
    return performance.now() - from
  }
  const times: { readonly near: number[]; readonly far: number[] } = { near: [], far: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    // The order alternates, so that disturbances affect both kinds of guesses in the same way.
    const isNearFirst = round % 2 === 0
    if (isNearFirst) times.near.push(timeOf(near))
    times.far.push(timeOf(far))
    if (!isNearFirst) times.near.push(timeOf(near))
  }
  const [nearMs, farMs] = [times.near, times.far].map(of => of.toSorted((a, b) => a - b)[ROUNDS >> 1]!)
  expect(nearMs! / farMs!).toBeGreaterThan(0.8)
  expect(nearMs! / farMs!).toBeLessThan(1.25)
})
