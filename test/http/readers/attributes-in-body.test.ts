/** What questions say beside their keys and terms, read from the bytes of a body when somebody asks. */
import { describe, expect, test, vi } from 'vitest'
import { BatchReader } from '#http/bytes/batch-reader.ts'
import { BulkReader } from '#http/bytes/bulk-reader.ts'
import { NATIVE } from '#http/bytes/dialects.ts'
import { SingleReader } from '#http/bytes/single-reader.ts'
import { viewOf } from '#http/message/byte-views.ts'
import type { PackedQueries } from '#model/packed-queries.ts'
import { conditionSet, resourceType, tenant } from '#testing/engines/changes.ts'
import { ENGINES } from '../../engine/engines.ts'

const COUNT = 40
const bulks = new BulkReader(COUNT)
const batches = new BatchReader({ checksMax: COUNT, subjectTypes: new Set(['user']), isStrict: false })

const question = (index: number, more: object = {}) => ({
  user: { key: `u${index}`, attributes: { level: index, name: `é${index}` } },
  action: 'read',
  resource: { type: 'document', key: 'd', attributes: { owner: `u${index}` } },
  context: { ip: '10.0.0.1' },
  ...more,
})
const said = (index: number) => ({
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
const saidOfItem = (index: number) => ({
  user: { level: index },
  resource: { state: 'open' },
  tenant: null,
  context: { ip: '10.0.0.1', action: { force: true } },
})

describe.each([
  ['a bulk', () => bulks.read(viewOf(bodyOf(numbers.map(index => question(index)))), 7), said],
  ['a batch', () => batches.read(viewOf(bodyOf(BATCH)), 7), saidOfItem],
] as [string, () => PackedQueries | null, (index: number) => object][])('of %s', (_what, read, right) => {
  test('it is what stands there, also in a part', () => {
    const packed = read()!
    expect(sentOf(packed)).toEqual(numbers.map(right))
    expect(sentOf(packed.part(30, 5))).toEqual(numbers.slice(30, 35).map(right))
    expect(packed.queryContext(3)!.readAt).toBe(7)
    expect(packed.query(3).queryContext!.sent()).toEqual(right(3))
  })

  test('it is independent of the body when the questions are', () => {
    const packed = read()!
    const own = packed.detached()
    const { buffer, byteOffset, byteLength } = packed.bytes
    Buffer.from(buffer, byteOffset, byteLength).fill('x')
    // The next body takes the place of the last one.
    bulks.read(viewOf(bodyOf(numbers.map(index => question(index + 50)))), 8)
    batches.read(viewOf(bodyOf({ ...BATCH, context: { ip: 'x' } })), 8)
    expect(sentOf(own)).toEqual(numbers.map(right))
    expect(sentOf(own.part(30, 5))).toEqual(numbers.slice(30, 35).map(right))
  })
})

test('nothing is kept of it where nobody may ask', () => {
  const packed = bulks.read(viewOf(bodyOf(numbers.map(index => question(index)))), null)!
  expect([packed.attributes, packed.queryContext(0), packed.query(0).queryContext]).toEqual([
    null,
    undefined,
    undefined,
  ])
})

test('what all items of a batch inherit is parsed once', () => {
  const packed = batches.read(viewOf(bodyOf(BATCH)), 7)!
  const parse = vi.spyOn(JSON, 'parse')
  const sent = sentOf(packed)
  const times = parse.mock.calls.length
  parse.mockRestore()
  expect(sent).toEqual(numbers.map(saidOfItem))
  expect(times).toBe(COUNT + 1)
})

test('of a single question it is read whether it looks like one before or not', () => {
  const singles = new SingleReader(NATIVE)
  for (const index of [...numbers, 1_000, 'x', 2]) {
    const body = JSON.stringify(question(1, { context: { at: index } }))
    const packed = singles.read(viewOf(Buffer.from(`  ${body}\n`)), 7)
    expect(packed!.queryContext(0)!.sent()).toEqual({ ...said(1), context: { at: index } })
  }
})

describe.each(ENGINES)('an engine ($name) with a rule on what is absent', ({ newEngine }) => {
  const engine = newEngine()
  engine.apply([
    resourceType('document', 'read'),
    tenant('default'),
    conditionSet('any', { 'user.suspended': { exists: false } }),
    {
      kind: 'rule-put',
      userSet: 'any',
      type: 'document',
      action: 'read',
      resourceSet: '__autogen_document',
    },
  ])
  const asked = (attributes: object) => ({ ...question(1), user: { key: 'u', attributes } })

  test('decides by what was sent of questions that were read for it', () => {
    const packed = bulks.read(viewOf(bodyOf([asked({}), asked({ suspended: true }), asked({})])), 7)!
    expect([...engine.evaluatePacked(packed)]).toEqual([1, 0, 1])
    expect(engine.evaluateFirst(packed)).toBe(true)
  })

  test('does not decide by it of questions that were read before there was any rule', () => {
    // What they say was not kept, so nobody is known to be suspended.
    const packed = bulks.read(viewOf(bodyOf([asked({}), asked({ suspended: true }), asked({})])), null)!
    expect([...engine.evaluatePacked(packed)]).toEqual([0, 0, 0])
    expect([...engine.evaluatePacked(packed.part(1, 2))]).toEqual([0, 0])
    expect(engine.evaluateFirst(packed)).toBe(false)
  })
})
