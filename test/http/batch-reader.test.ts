/**
 * The bytes path of AuthZEN evaluations, alone and in batches, and of `/allowed`: whatever it reads, the ordinary way reads the
 * same and answers without an error. A security boundary, so it is held to that by cases, by cuts and by random bodies.
 */
import { describe, expect, test } from 'vitest'
import { evaluationDialect, NATIVE } from '#http/bytes/dialects.ts'
import { BatchReader } from '#http/bytes/batch-reader.ts'
import { viewOf } from '#http/message/byte-views.ts'
import { TemplateYield, ListReader, NO_DEFAULTS } from '#http/bytes/list-reader.ts'
import { REFUSED } from '#http/bytes/plain-json.ts'
import { BATCH_FIELDS, type Fields, ITEM_FIELDS } from '#http/bytes/question-fields.ts'
import { QuestionReader } from '#http/bytes/question-reader.ts'
import { SingleReader } from '#http/bytes/single-reader.ts'
import { EvaluationRequest, EvaluationsRequest } from '#model/wire/access.ts'
import {
  BatchBodies,
  judgeBatch,
  judgeEvaluation,
  OrdinaryBatches,
  OrdinaryEvaluations,
} from '#testing/requests/batch-bodies.ts'
import { BulkBodies, judgeSingle } from '#testing/requests/bulk-bodies.ts'

const CHECKS_MAX = 50
const ordinary = new OrdinaryBatches(false)
const strictly = new OrdinaryBatches(true)

function newReader(isStrict = false): BatchReader {
  return new BatchReader({ checksMax: CHECKS_MAX, subjectTypes: new Set(['user', 'identity']), isStrict })
}

/** Whether a reader who has seen nothing yet takes the batch. */
function isRead(batch: unknown, isStrict = false): boolean {
  const text = typeof batch === 'string' ? batch : JSON.stringify(batch)
  return judgeBatch(newReader(isStrict), isStrict ? strictly : ordinary, Buffer.from(text))
}

const subject = (id: string, type: string | null = 'user') => ({ type, id })
const action = { name: 'read' }
const resource = (id: string | null, more: object = {}) => ({ type: 'document', id, ...more })
const ITEMS = [{ resource: resource('a') }, { resource: resource('b') }, { resource: resource('c') }]

const LONGEST = 'n'.repeat(512)

describe('a default', () => {
  test.each([
    ['subject type', (name: string) => ({ subject: subject('u', name), action, resource: resource('a') })],
    ['subject id', (name: string) => ({ subject: subject(name), action, resource: resource('a') })],
    ['action', (name: string) => ({ subject: subject('u'), action: { name }, resource: resource('a') })],
    [
      'resource type',
      (name: string) => ({ subject: subject('u'), action, resource: { type: name, id: 'a' } }),
    ],
    ['resource id', (name: string) => ({ subject: subject('u'), action, resource: resource(name) })],
    [
      'tenant',
      (tenant: string) => ({
        subject: subject('u'),
        action,
        resource: resource('a', { properties: { tenant } }),
      }),
    ],
  ])('with a %s that is longer than any name is not read, for it would be for each item', (_, defaults) => {
    expect(isRead({ ...defaults(LONGEST), evaluations: [{}, {}] })).toBe(true)
    expect(isRead({ ...defaults(`${LONGEST}n`), evaluations: [{}, {}] })).toBe(false)
  })
})

describe('a batch of the usual kind is read', () => {
  test.each([
    [
      'with everything in its items',
      { evaluations: [{ subject: subject('u'), action, resource: resource('a') }] },
    ],
    ['with subject and action as defaults', { subject: subject('u'), action, evaluations: ITEMS }],
    [
      'with an action and a resource as defaults',
      {
        action,
        resource: resource('a'),
        evaluations: [{ subject: subject('u') }, { subject: subject('v') }],
      },
    ],
    [
      'with all as defaults',
      { subject: subject('u'), action, resource: resource('a'), evaluations: [{}, {}] },
    ],
    [
      'with types as defaults',
      {
        subject: { type: 'user' },
        action,
        resource: { type: 'document' },
        evaluations: [{ subject: { id: 'u' }, resource: { id: 'a' } }],
      },
    ],
    [
      'with null where something is inherited',
      {
        subject: subject('u'),
        action,
        evaluations: [{ subject: null, action: null, resource: resource('a') }],
      },
    ],
    [
      'with tenants, and properties that are none',
      {
        subject: subject('u'),
        action,
        evaluations: [
          { resource: resource('a', { properties: { tenant: 'acme' } }) },
          { resource: resource('a', { properties: { tenant: 7, other: 'x' } }) },
          { resource: resource('a', { properties: null }) },
          { resource: resource(null) },
        ],
      },
    ],
    [
      'with subjects that are no users',
      {
        action,
        evaluations: [subject('u'), subject('r', 'robot')].map(one => ({ subject: one, ...ITEMS[0] })),
      },
    ],
    [
      'with contexts, and options before or behind',
      {
        options: { evaluations_semantic: 'execute_all' },
        subject: subject('u'),
        action,
        context: { a: 1 },
        evaluations: [{ ...ITEMS[0], context: {} }],
        more: [1],
      },
    ],
    [
      'with keys in another script as defaults and in items',
      {
        subject: subject('zoë'),
        action,
        evaluations: [{ resource: resource('計画') }, { subject: subject('😀'), resource: resource('/a/é') }],
      },
    ],
    [
      'with options at the end',
      { subject: subject('u'), action, evaluations: ITEMS, options: { evaluations_semantic: null } },
    ],
  ])('%s', (_, batch) => {
    expect(isRead(batch)).toBe(true)
    expect(isRead(JSON.stringify(batch, null, 2))).toBe(true)
  })
})

test('keys in the digits of their characters are read, as defaults and in items', () => {
  const items = ['\\/a', 'b', '\\u8a08'].map(id => `{"resource":{"type":"document","id":"${id}"}}`)
  const other = '{"subject":{"type":"user","id":"\\n"},"resource":{"type":"document","id":"c"}}'
  const defaults = '"subject":{"type":"user","id":"zo\\u00eb"},"action":{"name":"read"}'
  expect(isRead(`{${defaults},"evaluations":[${[...items, other, ...items].join()}]}`)).toBe(true)
})

describe('a batch whose defaults stand behind its items is read', () => {
  const items = [...ITEMS, { resource: resource('"é\\'), context: { list: ['[', ']}', '\\"'] } }]
  const behind = { evaluations: items, subject: subject('zoë\n'), action }

  test.each([
    ['all of them', behind],
    ['with names in order', { action, context: {}, evaluations: items, options: {}, subject: subject('u') }],
    [
      'a type',
      { action, evaluations: [{ subject: { id: 'u' }, resource: { type: 't' } }], subject: { type: 'user' } },
    ],
    [
      'one that nobody inherits',
      { subject: subject('u'), action, evaluations: ITEMS, resource: resource('x') },
    ],
  ])('%s', (_, batch) => {
    const reader = newReader()
    for (const blanks of [0, 0, 2, 0]) {
      const body = Buffer.from(JSON.stringify(batch, null, blanks))
      expect(judgeBatch(reader, ordinary, body)).toBe(true)
      // Whoever writes them first is read by the same reader.
      expect(
        judgeBatch(
          reader,
          ordinary,
          Buffer.from(JSON.stringify({ subject: subject('u'), action, evaluations: ITEMS })),
        ),
      ).toBe(true)
    }
  })

  test('unless an item lacks something all the same, or cannot be read', () => {
    const reader = newReader()
    for (const bad of [
      { ...behind, subject: null },
      { ...behind, action: undefined },
      { ...behind, action: { name: 5 } },
      { ...behind, evaluations: [...items, 5] },
      { ...behind, evaluations: {} },
      { ...behind, subject: subject('n'.repeat(513)) },
    ]) {
      expect(judgeBatch(reader, ordinary, Buffer.from(JSON.stringify(bad)))).toBe(false)
      expect(judgeBatch(reader, ordinary, Buffer.from(JSON.stringify(behind)))).toBe(true)
    }
  })

  test('unless it is cut or broken, wherever', () => {
    const whole = JSON.stringify(behind)
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

  test('and of a batch that is read a second time nothing is kept twice', () => {
    const reader = newReader()
    const text = JSON.stringify({ evaluations: [{ resource: resource('"') }], action, subject: subject('"') })
    const [first, second] = [text, text].map(
      body => reader.read(viewOf(Buffer.from(body)), null)!.bytes.byteLength,
    )
    expect([first, second]).toEqual([text.length + 5, text.length + 5])
  })
})

describe('a batch is left to the ordinary way', () => {
  const good = { subject: subject('u'), action, evaluations: ITEMS }
  test.each([
    ['of one evaluation', { subject: subject('u'), action, resource: resource('a') }],
    ['without items', { ...good, evaluations: [] }],
    ['that stops early', { ...good, options: { evaluations_semantic: 'deny_on_first_deny' } }],
    ['with an item that lacks something', { action, evaluations: ITEMS }],
    [
      'with an item that brings an empty resource',
      { ...good, resource: resource('a'), evaluations: [{ resource: {} }] },
    ],
    ['with an item that is none', { ...good, evaluations: [...ITEMS, 5] }],
    ['with a bad default that an item inherits', { ...good, action: 'read' }],
    ['with a bad context', { ...good, context: 5 }],
    [
      'with a default that is missed behind the items',
      '{"evaluations":[{"resource":{"type":"t","id":"k"}}],"action":{"name":"a"}}',
    ],
    ['with a field twice', '{"action":{"name":"a"},"action":{"name":"b"},"evaluations":[{}]}'],
    ['with a type in another script', { ...good, subject: subject('zoe', 'usér') }],
    ['cut short', JSON.stringify(good).slice(0, -1)],
    ['with more behind it', `${JSON.stringify(good)}x`],
  ])('%s', (_, batch) => {
    expect(isRead(batch)).toBe(false)
  })

  test('that has more items than a batch may have', () => {
    const items = Array.from({ length: CHECKS_MAX }, () => ITEMS[0])
    expect(isRead({ ...good, evaluations: items })).toBe(true)
    expect(isRead({ ...good, evaluations: [...items, ITEMS[0]] })).toBe(false)
  })

  test('that asks about types, where that is forbidden', () => {
    const batch = { ...good, evaluations: [{ resource: resource(null) }] }
    expect([isRead(batch, false), isRead(batch, true)]).toEqual([true, false])
  })
})

test('what was learned under other defaults is forgotten', () => {
  const reader = newReader()
  const batches = ['read', 'write'].flatMap(name =>
    ['user', 'robot'].flatMap(type =>
      ['u', 'v'].map(id => ({ subject: subject(id, type), action: { name }, evaluations: ITEMS })),
    ),
  )
  for (const batch of [...batches, ...batches]) {
    expect(judgeBatch(reader, ordinary, Buffer.from(JSON.stringify(batch)))).toBe(true)
  }
})

test('the reader knows every field of the schemas, so that it skips none that they check', () => {
  const namesOf = ({ byName }: Fields) => byName.map(([name]) => name).toSorted()
  expect(namesOf(BATCH_FIELDS)).toEqual(Object.keys(EvaluationsRequest.properties).toSorted())
  expect(namesOf(ITEM_FIELDS)).toEqual(Object.keys(EvaluationRequest.properties).toSorted())
  for (const member of ['subject', 'action', 'resource'] as const) {
    const field = ITEM_FIELDS.byName.find(([name]) => name === member)![1]
    const known = field.kind === 'object' ? namesOf(field.fields) : []
    expect(known).toEqual(Object.keys(EvaluationRequest.properties[member].properties).toSorted())
  }
})

/** A reader keeps what it learns: `judge` gets a fresh one now and then. */
function expectNoneDifferent<Reader, Ordinary extends { read(body: Buffer): unknown }>(kind: {
  readonly ordinary: Ordinary
  next(): Buffer
  newReader(): Reader
  judge(reader: Reader, ordinary: Ordinary, body: Buffer): boolean
}): void {
  let reader = kind.newReader()
  const counts = { read: 0, accepted: 0 }
  for (let count = 0; count < 10_000; count++) {
    if (count % 500 === 0) reader = kind.newReader()
    const body = kind.next()
    if (kind.judge(reader, kind.ordinary, body)) counts.read++
    if (kind.ordinary.read(body) !== null) counts.accepted++
  }
  expect(counts.read).toBeGreaterThan(1_000)
  expect(counts.read / counts.accepted).toBeGreaterThan(0.7)
}

test.each([false, true])('of random batches it reads none differently, strictly: %s', isStrict => {
  const bodies = new BatchBodies(20_261_121)
  expectNoneDifferent({
    ordinary: isStrict ? strictly : ordinary,
    next: () => bodies.next(),
    newReader: () => newReader(isStrict),
    judge: judgeBatch,
  })
})

test('of random single decisions it reads none differently', () => {
  const bodies = new BulkBodies(20_261_122)
  let reader = new SingleReader(NATIVE)
  let read = 0
  for (let count = 0; count < 10_000; count++) {
    if (count % 2_500 === 0) reader = new SingleReader(NATIVE)
    if (judgeSingle(reader, bodies.nextSingle())) read++
  }
  expect(read).toBeGreaterThan(2_000)
})

function newEvaluationReader(isStrict: boolean): SingleReader {
  return new SingleReader(evaluationDialect({ subjectTypes: new Set(['user', 'identity']), isStrict }))
}

test.each([false, true])('of random evaluations it reads none differently, strictly: %s', isStrict => {
  const bodies = new BatchBodies(20_261_123)
  expectNoneDifferent({
    ordinary: new OrdinaryEvaluations(isStrict),
    next: () => bodies.nextEvaluation(),
    newReader: () => newEvaluationReader(isStrict),
    judge: judgeEvaluation,
  })
})

test.each([
  ['what is usual', { subject: subject('u'), action, resource: resource('a') }, true, true],
  ['no id of a resource', { subject: subject('u'), action, resource: resource(null) }, true, false],
  [
    'a tenant',
    { subject: subject('u'), action, resource: resource('a', { properties: { tenant: 't' } }) },
    true,
    true,
  ],
  ['a subject of no type', { subject: subject('u', null), action, resource: resource('a') }, false, false],
  [
    'a subject that is no user',
    { subject: subject('u', 'robot'), action, resource: resource('a') },
    false,
    false,
  ],
  ['no subject', { action, resource: resource('a') }, false, false],
  ['no subject but null', { subject: null, action, resource: resource('a') }, false, false],
  ['no action', { subject: subject('u'), resource: resource('a') }, false, false],
  ['no resource', { subject: subject('u'), action }, false, false],
  ['a resource of no type', { subject: subject('u'), action, resource: { id: 'a' } }, false, false],
  ['an empty id', { subject: subject(''), action, resource: resource('a') }, false, false],
])('of a single evaluation with %s', (_, evaluation, isTaken, isTakenStrictly) => {
  const body = Buffer.from(JSON.stringify(evaluation))
  for (const [isStrict, wanted] of [
    [false, isTaken],
    [true, isTakenStrictly],
  ] as const) {
    const reader = newEvaluationReader(isStrict)
    // The second time it is compared with the first.
    for (let times = 0; times < 2; times++) {
      expect(judgeEvaluation(reader, new OrdinaryEvaluations(isStrict), body)).toBe(wanted)
    }
  }
})

test('of a single decision that looks like one before, what stands around it counts as well', () => {
  const reader = new SingleReader(NATIVE)
  const text = JSON.stringify({
    user: { key: 'alice' },
    action: 'read',
    resource: { type: 'doc', key: 'plan' },
  })
  for (const [around, isTaken] of [
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
    expect(judgeSingle(reader, Buffer.from(around)), JSON.stringify(around)).toBe(isTaken)
  }
})

test('of a single decision the last key is compared, not read again, however long it is', () => {
  const list = new ListReader(1)
  const bodies = Array.from({ length: 12 }, (_, length) => {
    return Buffer.from(
      `{"user":{"key":"u"},"action":"a","resource":{"type":"t","key":"${'k'.repeat(length + 1)}"}}`,
    )
  })
  const gain = new TemplateYield()
  for (const [index, body] of bodies.entries()) {
    const bytes = viewOf(body)
    list.texts.begin(bytes)
    const end = list.matchOne(bytes, 0, body.length, gain)
    expect(end).toBe(index === 0 ? REFUSED : body.length)
    if (index > 0) {
      // Nor copied.
      expect(list.packed(null, NATIVE.sent)?.bytes).toBe(bytes)
      continue
    }
    const reader = new QuestionReader(body, list.texts, NATIVE.fields)
    const source = { body, bytes, defaults: NO_DEFAULTS, gain }
    const questions = {
      reader,
      defaults: NO_DEFAULTS,
      isRuled: false,
      asked: () => NATIVE.asked(reader, null),
    }
    expect(list.readOne(source, questions, 0)).toBe(body.length)
  }
})

test('of a single decision a last key that is empty is left to the ordinary way, whatever was learned', () => {
  const reader = new SingleReader(NATIVE)
  const bodyWith = (key: string) => `{"user":{"key":"u"},"action":"a","resource":{"type":"t","key":"${key}"}}`
  for (const [key, isTaken] of [
    ['k', true],
    ['', false],
    ['"', false],
    ['\\"', true],
    ['', false],
  ] as const) {
    expect(judgeSingle(reader, Buffer.from(bodyWith(key)))).toBe(isTaken)
  }
})
