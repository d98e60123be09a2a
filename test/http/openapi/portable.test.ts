/** The OpenAPI document has no constructs at which known client generators fail. */
import { describe, expect, test } from 'vitest'
import { sharedService } from '#testing/processes/running-service.ts'
import { portability } from '../../support/documents/portable-description.ts'

const verdict = await sharedService({ hasDebug: true })
const strict = await sharedService({ hasStrictHeaders: true, isAuthzenStrict: true })

/** A document with each of these constructs. */
const FAULTY = {
  paths: {
    '/a': { get: { operationId: 'list_users' }, post: { operationId: 'listUsers' } },
  },
  components: {
    parameters: { relation: { name: 'relation' } },
    schemas: {
      Relation: { type: 'object', properties: { first_name: {}, firstName: {} } },
      relation: { type: 'null' },
      Content: { type: 'object', properties: { attributes: { type: 'object', properties: { a: {} } } } },
      ContentAttributes: {
        anyOf: [
          { type: 'object', properties: {} },
          { type: 'string', const: 'x' },
        ],
      },
      FoundKind: { type: 'string', enum: ['user', 'role_set'] },
      MovedKind: { type: 'string', enum: ['tenant', 'role-set'] },
      Several: { type: ['string', 'integer'] },
      Anything: { type: 'object', additionalProperties: true },
      Secret: { anyOf: [{ type: 'string' }, { $ref: '#/components/schemas/Anything' }] },
    },
  },
}

describe.each(Object.entries(portability))('%s', (_, findingsIn) => {
  test('is not in the OpenAPI document', async () => {
    for (const { address } of [verdict, strict]) {
      const response = await fetch(`${address}/openapi.json`)
      expect(findingsIn((await response.json()) as Record<string, unknown>)).toEqual([])
    }
  })

  test('is found in a document that has it', () => {
    expect(findingsIn(FAULTY)).not.toEqual([])
  })
})

test('members with the former spelling of older clients are accepted, but not in the OpenAPI document', async () => {
  const response = await fetch(`${verdict.address}/openapi.json`)
  const { components } = (await response.json()) as {
    components: { schemas: Record<string, { properties: object }> }
  }
  const { properties, ...rest } = components.schemas['UserInQuery']!
  expect(Object.keys(properties)).toEqual(['key', 'email', 'first_name', 'last_name', 'attributes'])
  expect(rest).toMatchObject({ additionalProperties: true })
  const question = { action: 'read', resource: { type: 'document' } }
  const ask = (user: object) => verdict.post('/allowed', { ...question, user: { key: 'ann', ...user } })
  expect((await ask({ firstName: 'Ann', lastName: null })).status).toBe(200)
  expect((await ask({ firstName: 7 })).status).toBe(400)
})
