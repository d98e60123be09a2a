/** Attributes and context of checks, which are read from the body only if a decision needs them. */
import { describe, expect, test, vi } from 'vitest'
import { BatchReader } from '#http/bytes/batch-reader.ts'
import { BulkReader } from '#http/bytes/bulk-reader.ts'
import { NATIVE } from '#http/bytes/dialects.ts'
import { SingleReader } from '#http/bytes/single-reader.ts'
import { viewOf } from '#http/message/byte-views.ts'
import { NOTHING_SENT } from '#model/decision.ts'
import type { PackedQueries } from '#model/packed-queries.ts'
import { conditionSet, resourceType, ruleOf, tenant } from '#testing/engines/changes.ts'
import { ENGINES } from '../../engine/engines.ts'

const COUNT = 40
const now = () => 7
const bulks = new BulkReader(COUNT, now)
const batches = new BatchReader({ checksMax: COUNT, subjectTypes: new Set(['user']), isStrict: false, now })

const question = (index: number, more: object = {}) => ({
  user: { key: `u${index}`, attributes: { level: index, name: `é${index}` } },
  action: 'read',
  resource: { type: 'document', key: 'd', attributes: { owner: `u${index}` } },
  context: { ip: '10.0.0.1' },
  ...more,
})
const sentBy = (index: number) => ({
  user: { level: index, name: `é${index}` },
  resource: { owner: `u${index}` },
  tenant: null,
  context: { ip: '10.0.0.1' },
})
const numbers = Array.from({ length: COUNT }, (_, index) => index)

const bodyOf = (value: unknown) => Buffer.from(JSON.stringify(value))
const sentOf = (packed: PackedQueries | null) =>
  Array.from({ length: packed!.count }, (_, index) => packed!.queryContext(index)!.sent())

const item = (index: number) => ({ subject: { type: 'user', id: `u${index}`, properties: { level: index } } })
const BATCH = {
  action: { name: 'read', properties: { force: true } },
  resource: { type: 'document', id: 'd', properties: { state: 'open' } },
  context: { ip: '10.0.0.1' },
  evaluations: numbers.map(item),
}
const sentByItem = (index: number) => ({
  user: { level: index },
  resource: { state: 'open' },
  tenant: null,
  context: { ip: '10.0.0.1', action: { force: true } },
})

describe.each([
  ['a bulk', () => bulks.read(viewOf(bodyOf(numbers.map(index => question(index))))), sentBy],
  ['a batch', () => batches.read(viewOf(bodyOf(BATCH))), sentByItem],
] as [string, () => PackedQueries | null, (index: number) => object][])(
  'the attributes of %s',
  (_what, read, expected) => {
    test('are those of the body, for all checks and for a part of the checks', () => {
      const packed = read()!
      expect(sentOf(packed)).toEqual(numbers.map(expected))
      expect(sentOf(packed.part(30, 5))).toEqual(numbers.slice(30, 35).map(expected))
      expect(packed.queryContext(3)!.readAt).toBe(7)
      expect(packed.query(3).queryContext!.sent()).toEqual(expected(3))
    })

    test('do not change if the buffer of the body is overwritten after the checks were detached', () => {
      const packed = read()!
      const own = packed.detached()
      const { buffer, byteOffset, byteLength } = packed.bytes
      Buffer.from(buffer, byteOffset, byteLength).fill('x')
      // The next body overwrites the buffer.
      bulks.read(viewOf(bodyOf(numbers.map(index => question(index + 50)))))
      batches.read(viewOf(bodyOf({ ...BATCH, context: { ip: 'x' } })))
      expect(sentOf(own)).toEqual(numbers.map(expected))
      expect(sentOf(own.part(30, 5))).toEqual(numbers.slice(30, 35).map(expected))
    })
  },
)

test('a check without attributes before checks with attributes has no attributes of an earlier body', () => {
  bulks.read(viewOf(bodyOf(numbers.map(index => question(index)))))
  const { user, action, resource } = question(1)
  const bare = { user: { key: user.key }, action, resource: { type: resource.type } }
  const packed = bulks.read(viewOf(bodyOf([bare, bare, question(2), bare])))
  expect(sentOf(packed)).toEqual([NOTHING_SENT, NOTHING_SENT, sentBy(2), NOTHING_SENT])
})

test('context after the items of a batch is read, even if batches without context follow', () => {
  const { context, action, ...rest } = BATCH
  const batch = (more: object) => batches.read(viewOf(bodyOf({ action, ...rest, ...more })))
  for (let times = 0; times < 3; times++) {
    expect(sentOf(batch({ context }))).toEqual(numbers.map(sentByItem))
    expect(sentOf(batch({}))[1]!.context).toEqual({ action: { force: true } })
  }
})

test('defaults of a batch are parsed once, not for each item', () => {
  const packed = batches.read(viewOf(bodyOf(BATCH)))!
  const parse = vi.spyOn(JSON, 'parse')
  const sent = sentOf(packed)
  const times = parse.mock.calls.length
  parse.mockRestore()
  expect(sent).toEqual(numbers.map(sentByItem))
  expect(times).toBe(COUNT + 1)
})

test('the attributes of a single check are read whether or not it matches a template', () => {
  const singles = new SingleReader(NATIVE, now)
  for (const index of [...numbers, 1_000, 'x', 2]) {
    const body = JSON.stringify(question(1, { context: { at: index } }))
    const packed = singles.read(viewOf(Buffer.from(`  ${body}\n`)))
    expect(packed!.queryContext(0)!.sent()).toEqual({ ...sentBy(1), context: { at: index } })
    expect(packed!.detached().isSingle).toBe(true)
  }
})

describe.each(ENGINES)('an engine ($name) with a rule about a missing attribute', ({ newEngine }) => {
  const engine = newEngine()
  engine.apply([
    resourceType('document', 'read'),
    tenant('default'),
    conditionSet('any', { 'user.suspended': { exists: false } }),
    ruleOf('any'),
  ])
  const sent = [{}, { suspended: true }, {}]
  const body = bodyOf(sent.map(attributes => ({ ...question(1), user: { key: 'u', attributes } })))

  test('decides with the attributes of the request', () => {
    const packed = bulks.read(viewOf(body))!
    expect([...engine.evaluateAll(packed)]).toEqual([1, 0, 1])
    expect(engine.evaluateWithin(packed, Infinity)).toBe(true)
  })
})
