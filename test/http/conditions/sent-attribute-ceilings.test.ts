/**
 * Limits of the attributes and context of a check: 64 KiB and 32 levels. They are enforced only if a
 * condition reads the attributes (conditions.md 7 and 16).
 */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#model/json-object.ts'
import { SENT_ATTRIBUTES_BYTES_MAX, SENT_ATTRIBUTES_DEPTH_MAX } from '#model/limits.ts'
import { sharedService } from '#testing/processes/running-service.ts'

const verdict = await sharedService()
await verdict.resource({ key: 'document', actions: { read: {}, write: {}, share: {} } })
const conditions = { 'user.isKnown': { equals: true } }
await verdict.conditionSet({ key: 'known', conditions })

// A role allows rita. The first rule on `share` reads no request attributes, the second one does.
await verdict.tenantRole('reader', ['document:read'])
await verdict.users('rita')
await verdict.assign('rita', 'reader', 'default')
await verdict.conditionSet({ key: 'anybody', conditions: { 'server.time': { exists: true } } })
await verdict.conditionSet({ key: 'described', conditions: { 'user.isKnown': { exists: true } } })
for (const [user_set, action] of [
  ['known', 'read'],
  ['anybody', 'share'],
  ['described', 'share'],
] as const) {
  await verdict.setRule(user_set, `document:${action}`, 'document')
}

const KNOWN = { isKnown: true }

interface Attributes {
  readonly user: JsonObject
  readonly resource: JsonObject
  readonly context: JsonObject
}

/** Attributes of this total size, distributed over the parts of a check. Most characters take two bytes. */
function ofBytes(bytes: number): Attributes {
  const used = [KNOWN, { x: '' }, { x: '' }].reduce((sum, part) => sum + JSON.stringify(part).length, 0)
  const characters = (bytes - used) / 2
  const half = Math.floor(characters / 2)
  const rest = Math.floor(characters - half)
  const odd = (bytes - used) % 2 === 0 ? '' : 'x'
  return { user: KNOWN, resource: { x: 'é'.repeat(half) }, context: { x: 'é'.repeat(rest) + odd } }
}

function ofDepth(levels: number): Attributes {
  let nested: JsonObject = { x: 1 }
  for (let depth = 1; depth < levels; depth++) nested = { x: nested }
  return { user: KNOWN, resource: {}, context: nested }
}

function native({ user, resource, context }: Attributes, action = 'read', key = 'ann') {
  return {
    user: { key, attributes: user },
    action,
    resource: { type: 'document', attributes: resource },
    context,
  }
}

function evaluation({ user, resource, context }: Attributes) {
  return {
    subject: { type: 'user', id: 'ann', properties: user },
    action: { name: 'read' },
    resource: { type: 'document', properties: resource },
    context,
  }
}

const SMALL: Attributes = { user: KNOWN, resource: {}, context: {} }

describe.each([
  ['bytes', ofBytes, SENT_ATTRIBUTES_BYTES_MAX],
  ['levels', ofDepth, SENT_ATTRIBUTES_DEPTH_MAX],
] as const)('the limit of request attributes in %s', (_unit, attributesOf, most) => {
  const fitting = attributesOf(most)
  const excessive = attributesOf(most + 1)

  test('is inclusive in native and AuthZEN checks', async () => {
    expect((await verdict.post('/allowed', native(fitting))).body).toMatchObject({ allow: true })
    const bulk = await verdict.post('/allowed/bulk', [native(fitting), native(SMALL)])
    expect(bulk.body).toMatchObject({ allow: [{ allow: true }, { allow: true }] })
    const one = await verdict.post('/access/v1/evaluation', evaluation(fitting))
    expect(one.body).toMatchObject({ decision: true })
  })

  test('rejects larger attributes with 400; in an AuthZEN batch, only the item with these attributes fails', async () => {
    expect((await verdict.post('/allowed', native(excessive))).status).toBe(400)
    expect((await verdict.post('/allowed/bulk', [native(SMALL), native(excessive)])).status).toBe(400)
    expect((await verdict.post('/access/v1/evaluation', evaluation(excessive))).status).toBe(400)
    const batch = { evaluations: [SMALL, excessive, fitting].map(evaluation) }
    const { status, body } = await verdict.post('/access/v1/evaluations', batch)
    expect([status, body]).toEqual([
      200,
      {
        evaluations: [
          { decision: true },
          {
            decision: false,
            context: { error: { status: 400, message: expect.stringMatching(/at most/u) } },
          },
          { decision: true },
        ],
      },
    ])
  })

  test.each([
    ['a role allows', 'rita', 'read', 200, true],
    ['a rule that does not read them allows', 'ann', 'share', 200, true],
    ['no rule reads them', 'ann', 'write', 200, false],
    ['a rule reads them', 'ann', 'read', 400, undefined],
  ])('has the same effect on checks and explanations if %s', async (_case, key, action, status, allow) => {
    const question = native(excessive, action, key)
    for (const path of ['/allowed', '/allowed/explain', '/allowed/explain?full=true']) {
      const answer = await verdict.post<{ allow?: boolean }>(path, question)
      expect([path, answer.status, answer.body.allow]).toEqual([path, status, allow])
    }
    const bulk = await verdict.post('/allowed/bulk', [question])
    expect(bulk.status).toBe(status)
  })

  test('is reported in the explanation if sent attributes exceed it; rules then treat them as absent', async () => {
    const answer = await verdict.post('/allowed/explain', native(excessive, 'read', 'rita'))
    expect(answer.body).toMatchObject({
      allow: true,
      rules: [{ user_set: 'known', outcome: 'no', user: { value: 'unknown' } }],
      debug: {
        abac: {
          allow: false,
          reason: expect.stringMatching(/sent attributes and context were ignored: .* at most/u),
        },
      },
    })
  })
})
