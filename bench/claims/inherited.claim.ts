/**
 * Claim: the parts of a batch that its items inherit are parsed only once, whatever their length and however
 * many items inherit them.
 */
import { expect, test } from 'vitest'
import { API_KEY, sharedService } from '#testing/processes/running-service.ts'

const ITEMS = 1_000
const LONG = 'x'.repeat(1_000_000)
const wide = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`k${index}`, index]))
/**
 * Limit for work that takes about 0.1 s. If each item parsed the inherited parts, it would take 1 to 20 s.
 */
const MS_MAX = 1_000

const verdict = await sharedService({ bulkChecksMax: ITEMS })
const defaults = {
  subject: { type: 'user', id: 'alice' },
  action: { name: 'read' },
  resource: { type: 'document', id: 'd1' },
}

test.each([
  ['a long subject id', { subject: { type: 'user', id: LONG } }],
  ['a long resource id', { resource: { type: 'document', id: LONG } }],
  ['a long resource type', { resource: { type: LONG, id: 'd1' } }],
  ['a long action', { action: { name: LONG } }],
  ['a long tenant', { resource: { ...defaults.resource, properties: { tenant: LONG } } }],
  ['a wide context', { context: wide }],
  ['a wide context and an invalid action', { context: wide, action: { name: 5 } }],
  ['wide properties of the subject', { subject: { ...defaults.subject, properties: wide } }],
  ['a subject without an id but with many other members', { subject: { type: 'user', ...wide } }],
  ['a deep tenant', { resource: { ...defaults.resource, properties: { tenant: wide } } }],
])('a batch whose items inherit %s is answered in time, read from its bytes and as JSON', async (_, own) => {
  // The escape in the second name makes the bytes reader leave the body to the generic parser.
  for (const more of [{}, { 'line\nend': 1 }]) {
    const evaluations = Array.from({ length: ITEMS }, (_item, index) => ({ [`x${index}`]: 0 }))
    const text = JSON.stringify({ ...defaults, ...more, ...own, evaluations })
    const from = performance.now()
    const path = '/access/v1/evaluations'
    const { status, body } = await verdict.send<{ evaluations: unknown[] }>('POST', path, {
      key: API_KEY,
      text,
    })
    expect(performance.now() - from).toBeLessThan(MS_MAX)
    expect([status, body.evaluations.length]).toEqual([200, ITEMS])
  }
})
