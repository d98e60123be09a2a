/**
 * Byte readers of AuthZEN evaluations, single and in batches, and of `/allowed`. A body that they read must
 * have the same meaning for the parser. This is a security boundary, so it is tested with cases, cuts and
 * random bodies.
 */
import { describe, expect, test } from 'vitest'
import { evaluationDialect, NATIVE } from '#http/bytes/dialects.ts'
import { BatchReader } from '#http/bytes/batch-reader.ts'
import { viewOf } from '#http/message/byte-views.ts'
import { BATCH_FIELDS, type ObjectFields, ITEM_FIELDS } from '#http/bytes/question-fields.ts'
import { SingleReader } from '#http/bytes/single-reader.ts'
import { EvaluationRequest, EvaluationsRequest } from '#model/wire/decisions/access.ts'
import {
  BatchBodies,
  judgeBatch,
  judgeEvaluation,
  OrdinaryBatches,
  OrdinaryEvaluations,
} from '#testing/requests/batch-bodies.ts'
import { BulkBodies, judgeSingle, readOrdinarily } from '#testing/requests/bulk-bodies.ts'

const CHECKS_MAX = 50
const ordinary = new OrdinaryBatches(false)
const strictly = new OrdinaryBatches(true)

function newReader(isStrict = false): BatchReader {
  const subjectTypes = new Set(['user', 'identity'])
  return new BatchReader({ checksMax: CHECKS_MAX, subjectTypes, isStrict, now: () => 0 })
}

/** Whether a new reader reads the batch. */
function isRead(batch: unknown, isStrict = false): boolean {
  const text = typeof batch === 'string' ? batch : JSON.stringify(batch)
  return judgeBatch(newReader(isStrict), isStrict ? strictly : ordinary, Buffer.from(text))
}

const subject = (id: string, type: string | null = 'user') => ({ type, id })
const action = { name: 'read' }
const resource = (id: string | null, more: object = {}) => ({ type: 'document', id, ...more })
const ITEMS = [{ resource: resource('a') }, { resource: resource('b') }, { resource: resource('c') }]

const LONGEST = 'n'.repeat(512)

const DEFAULTS = { subject: subject('u'), action, resource: resource('a') }

test.each<[what: string, defaults: (name: string) => object]>([
  ['subject type', name => ({ subject: subject('u', name) })],
  ['subject id', name => ({ subject: subject(name) })],
  ['action', name => ({ action: { name } })],
  ['resource type', name => ({ resource: { type: name, id: 'a' } })],
  ['resource id', name => ({ resource: resource(name) })],
  ['tenant', tenant => ({ resource: resource('a', { properties: { tenant } }) })],
])('a batch with a default %s that is too long for a name is left to the parser', (_, defaults) => {
  expect(isRead({ ...DEFAULTS, ...defaults(LONGEST), evaluations: [{}, {}] })).toBe(true)
  expect(isRead({ ...DEFAULTS, ...defaults(`${LONGEST}n`), evaluations: [{}, {}] })).toBe(false)
})

test('keys with escapes are read in defaults and in items', () => {
  const items = ['\\/a', 'b', '\\u8a08'].map(id => `{"resource":{"type":"document","id":"${id}"}}`)
  const other = '{"subject":{"type":"user","id":"\\n"},"resource":{"type":"document","id":"c"}}'
  const defaults = '"subject":{"type":"user","id":"zo\\u00eb"},"action":{"name":"read"}'
  expect(isRead(`{${defaults},"evaluations":[${[...items, other, ...items].join()}]}`)).toBe(true)
})

describe('a batch whose defaults follow its items', () => {
  const items = [...ITEMS, { resource: resource('"é\\'), context: { list: ['[', ']}', '\\"'] } }]
  const batch = { evaluations: items, subject: subject('zoë\n'), action }

  test('is read, but left to the parser if it is cut or damaged at any position', () => {
    const whole = JSON.stringify(batch)
    const reader = newReader()
    for (let at = 0; at < whole.length; at++) {
      expect(judgeBatch(reader, ordinary, Buffer.from(whole.slice(0, at)))).toBe(false)
      for (const sign of ['[', ']', '{', '}', '"', '\\', ',']) {
        judgeBatch(reader, ordinary, Buffer.from(whole.slice(0, at) + sign + whole.slice(at)))
        judgeBatch(reader, ordinary, Buffer.from(whole.slice(0, at) + sign + whole.slice(at + 1)))
      }
      expect(judgeBatch(reader, ordinary, Buffer.from(whole))).toBe(true)
    }
  })

  test('is stored once even if it is read twice', () => {
    const reader = newReader()
    const text = JSON.stringify({ evaluations: [{ resource: resource('"') }], action, subject: subject('"') })
    const [first, second] = [text, text].map(body => reader.read(viewOf(Buffer.from(body)))!.bytes.byteLength)
    expect([first, second]).toEqual([text.length + 5, text.length + 5])
  })
})

describe('a batch that the byte reader does not support', () => {
  const good = { subject: subject('u'), action, evaluations: ITEMS }
  test.each([
    ['if it stops early', { ...good, options: { evaluations_semantic: 'deny_on_first_deny' } }],
    [
      'if a default is missing after the items',
      '{"evaluations":[{"resource":{"type":"t","id":"k"}}],"action":{"name":"a"}}',
    ],
    ['if it has a field twice', '{"action":{"name":"a"},"action":{"name":"b"},"evaluations":[{}]}'],
    ['if it has a type with characters outside of ASCII', { ...good, subject: subject('zoe', 'usér') }],
  ])('is left to the parser %s', (_, batch) => {
    expect(isRead(batch)).toBe(false)
  })

  test('is left to the parser if it has more items than allowed', () => {
    const items = Array.from({ length: CHECKS_MAX }, () => ITEMS[0])
    expect(isRead({ ...good, evaluations: items })).toBe(true)
    expect(isRead({ ...good, evaluations: [...items, ITEMS[0]] })).toBe(false)
  })

  test('is left to the parser if it has no resource id in strict mode', () => {
    const batch = { ...good, evaluations: [{ resource: resource(null) }] }
    expect([isRead(batch, false), isRead(batch, true)]).toEqual([true, false])
  })
})

test('the reader knows every field of the schemas, so it skips no field that they validate', () => {
  const namesOf = ({ byName }: ObjectFields) => byName.map(([name]) => name).toSorted()
  expect(namesOf(BATCH_FIELDS)).toEqual(Object.keys(EvaluationsRequest.properties).toSorted())
  expect(namesOf(ITEM_FIELDS)).toEqual(Object.keys(EvaluationRequest.properties).toSorted())
  for (const member of ['subject', 'action', 'resource'] as const) {
    const field = ITEM_FIELDS.byName.find(([name]) => name === member)![1]
    const known = field.kind === 'object' ? namesOf(field.fields) : []
    expect(known).toEqual(Object.keys(EvaluationRequest.properties[member].properties).toSorted())
  }
})

/** Bodies per kind. The long run sets VERDICT_RUNS to test more. */
const BODIES = 2_000 * Number(process.env['VERDICT_RUNS'] ?? 1)

/**
 * Judges random bodies. Readers learn templates, so a new reader replaces the last one after 500 bodies. At
 * least 70 % of the bodies that the parser accepts must be read.
 */
function expectNoneDifferent<Reader>(kind: {
  next(): Buffer
  newReader(): Reader
  isAccepted(body: Buffer): boolean
  judge(reader: Reader, body: Buffer): boolean
}): void {
  let reader = kind.newReader()
  const counts = { read: 0, accepted: 0 }
  for (let count = 0; count < BODIES; count++) {
    if (count % 500 === 0) reader = kind.newReader()
    const body = kind.next()
    if (kind.judge(reader, body)) counts.read++
    if (kind.isAccepted(body)) counts.accepted++
  }
  expect(counts.read / counts.accepted).toBeGreaterThan(0.7)
}

test.each([false, true])('random batches are read as the parser reads them, strict: %s', isStrict => {
  const bodies = new BatchBodies(20_261_121)
  const parser = isStrict ? strictly : ordinary
  expectNoneDifferent({
    next: () => bodies.next(),
    newReader: () => newReader(isStrict),
    isAccepted: body => parser.read(body) !== null,
    judge: (reader, body) => judgeBatch(reader, parser, body),
  })
})

test.each([false, true])('random evaluations are read as the parser reads them, strict: %s', isStrict => {
  const bodies = new BatchBodies(20_261_123)
  const parser = new OrdinaryEvaluations(isStrict)
  const subjectTypes = new Set(['user', 'identity'])
  expectNoneDifferent({
    next: () => bodies.nextEvaluation(),
    newReader: () => new SingleReader(evaluationDialect({ subjectTypes, isStrict }), () => 0),
    isAccepted: body => parser.read(body) !== null,
    judge: (reader, body) => judgeEvaluation(reader, parser, body),
  })
})

test('random single checks are read as the parser reads them', () => {
  const bodies = new BulkBodies(20_261_122)
  expectNoneDifferent({
    next: () => bodies.nextSingle(),
    newReader: () => new SingleReader(NATIVE, () => 0),
    isAccepted: body => readOrdinarily(Buffer.from(`[${body.toString('latin1')}]`, 'latin1')) !== null,
    judge: judgeSingle,
  })
})

test('a single check that matches a template is read only if nothing but white space surrounds it', () => {
  const reader = new SingleReader(NATIVE, () => 0)
  const text = '{"user":{"key":"alice"},"action":"read","resource":{"type":"doc","key":"plan"}}'
  for (const [body, isAccepted] of [
    [text, true],
    [text, true],
    [` \r\n\t${text}\n`, true],
    [`${text} x`, false],
    [`${text}}`, false],
    [`${text}${text}`, false],
    [`x${text}`, false],
    [`${text}\0`, false],
    [text, true],
  ] as const) {
    expect(judgeSingle(reader, Buffer.from(body)), JSON.stringify(body)).toBe(isAccepted)
  }
})

test('a single check whose last key is empty is left to the parser, even if a template matches', () => {
  const reader = new SingleReader(NATIVE, () => 0)
  const bodyWith = (key: string) => `{"user":{"key":"u"},"action":"a","resource":{"type":"t","key":"${key}"}}`
  for (const [key, isAccepted] of [
    ['k', true],
    ['', false],
    ['"', false],
    ['\\"', true],
    ['', false],
  ] as const) {
    expect(judgeSingle(reader, Buffer.from(bodyWith(key)))).toBe(isAccepted)
  }
})
