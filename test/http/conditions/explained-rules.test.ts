/** Explanations of rules, in `/allowed/explain` and in the `debug` member of decisions (conditions.md 9). */
import { describe, expect, test } from 'vitest'
import { sharedService } from '#testing/processes/running-service.ts'

interface Leaf {
  readonly path: string
  readonly found: unknown
}
interface Side {
  readonly value: string
  readonly leaf?: Leaf
  readonly tree?: object
}
interface Rule {
  readonly user_set: string
  readonly outcome: string
  readonly user: Side
  readonly resource: Side
}
interface Explained {
  readonly allow: boolean
  readonly rules?: readonly Rule[]
  readonly more?: boolean
  readonly debug: { readonly rbac: object; readonly rebac: object; readonly abac: object }
}

const verdict = await sharedService({ hasDebug: true })
await verdict.resource({
  key: 'document',
  actions: Object.fromEntries(['read', 'write', 'share', 'list', 'long'].map(key => [key, {}])),
})
await verdict.tenantRole('reader', ['document:read'])
await verdict.tenantRole('auditor', [])
await verdict.users('ann', 'bob', 'carol')
await verdict.assign('bob', 'reader', 'default')
await verdict.assign('carol', 'auditor', 'default')
const withoutRules = await explained('ann', 'read')
const sales = { 'user.department': { equals: 'sales' } }
await verdict.conditionSet({
  key: 'us_sales',
  conditions: { allOf: [{ 'user.level': { 'greater-than': 1 } }, sales] },
})
await verdict.conditionSet({
  key: 'us_lead',
  conditions: { not: { 'user.lead': { equals: false } } },
  parent_id: 'us_sales',
})
await verdict.conditionSet({
  key: 'public_docs',
  type: 'resourceset',
  conditions: { 'resource.public': { equals: true } },
})
await verdict.setRule('us_sales', 'document:read', 'public_docs')
await verdict.setRule('us_lead', 'document:share', 'document')
await verdict.setRule('auditor', 'document:write', 'document')

const ANN = { level: 2, department: 'sales' }

describe('an explanation of a rule', () => {
  const department = { path: 'user.department', operator: 'equals', operand: 'sales' }

  test('contains the first condition that decides for the user and for the resource, with the value found', async () => {
    const { allow, rules, more } = await explained('ann', 'read', { level: 2 }, { public: true })
    const missing = { ...department, found: 'missing', is_missing: true, value: 'unknown' }
    const open = { path: 'resource.public', operator: 'equals', operand: true, found: true, value: 'true' }
    expect({ allow, rules, more }).toEqual({
      allow: false,
      rules: [
        {
          user_set: 'us_sales',
          resource_set: 'public_docs',
          outcome: 'no',
          user: { value: 'unknown', leaf: missing },
          resource: { value: 'true', leaf: open },
        },
      ],
      more: undefined,
    })
  })

  test('distinguishes the text `missing` from a missing attribute', async () => {
    const { rules } = await explained('ann', 'read', { level: 2, department: 'missing' })
    const leaf = { ...department, found: 'missing', value: 'false' }
    expect(rules![0]!.user).toEqual({ value: 'false', leaf })
  })

  test('contains the complete condition tree, including ancestor sets, if the request sets `full`', async () => {
    const { rules } = await explained(
      'ann',
      'share',
      { ...ANN, lead: true },
      {},
      '/allowed/explain?full=true',
    )
    const level = { path: 'user.level', operator: 'greater-than', operand: 1, found: 2, value: 'true' }
    const inSales = { ...department, found: 'sales', value: 'true' }
    const lead = { path: 'user.lead', operator: 'equals', operand: false, found: true, value: 'false' }
    const both = { connective: 'allOf', value: 'true', items: [level, inSales] }
    expect(rules).toEqual([
      {
        user_set: 'us_lead',
        resource_set: '__autogen_document',
        outcome: 'yes',
        user: {
          value: 'true',
          leaf: lead,
          tree: {
            connective: 'allOf',
            value: 'true',
            items: [{ connective: 'not', value: 'true', items: [lead] }, both],
          },
        },
        resource: { value: 'true' },
      },
    ])
  })
})

test('an explanation contains no rules if no rule applies to the action', async () => {
  expect(await explained('ann', 'list')).not.toHaveProperty('rules')
  expect(withoutRules).not.toHaveProperty('rules')
  expect(withoutRules.debug.abac).toMatchObject({ allow: false, code: 'disabled', allowing_rules: [] })
})

describe('`debug` of a decision', () => {
  test.each([
    ['no_matching_usersets', 'ann', 'read', {}, { public: true }],
    ['no_matching_resourcesets', 'ann', 'read', ANN, {}],
    ['no_matching_rules', 'ann', 'list', ANN, {}],
    ['allow', 'ann', 'read', ANN, { public: true }],
    ['allow', 'stranger', 'read', ANN, { public: true }],
  ])(
    'has the code %s if rules are evaluated for the user %s and the action %s',
    async (code, user, action, attributes, ofResource) => {
      const { allow, debug } = await decided(user, action, attributes, ofResource)
      expect(allow).toBe(code === 'allow')
      expect(debug.abac).toMatchObject({ allow, code })
      expect(debug.rbac).toMatchObject({ allow: false })
      expect(debug.rebac).toMatchObject({ allow: false, path: [] })
      const bulk = [question(user, action, attributes, ofResource)]
      const inBulk = await verdict.done<{ allow: Explained[] }>('POST', '/allowed/bulk', bulk)
      expect(inBulk.allow[0]!.debug).toEqual(debug)
    },
  )

  test('has the code no_matching_rules if one rule matches only the user and another only the resource', async () => {
    await verdict.conditionSet({ key: 'anyone', conditions: {} })
    await verdict.conditionSet({ key: 'nothing', type: 'resourceset', conditions: { anyOf: [] } })
    await verdict.setRule('anyone', 'document:list', 'nothing')
    await verdict.setRule('us_sales', 'document:list', 'document')
    expect((await decided('ann', 'list', {})).debug.abac).toEqual({
      allow: false,
      code: 'no_matching_rules',
      reason: expect.any(String),
      allowing_rules: [],
      matching_usersets: ['anyone'],
      matching_resourcesets: ['__autogen_document'],
    })
  })

  test('lists the rules that allow, with their sets, or with a role and a resource', async () => {
    expect((await decided('ann', 'read', ANN, { public: true })).debug.abac).toMatchObject({
      allowing_rules: [{ userset: 'us_sales', resourceset: 'public_docs' }],
      matching_usersets: ['us_sales'],
      matching_resourcesets: ['public_docs'],
    })
    expect((await decided('carol', 'write', {})).debug.abac).toMatchObject({
      allowing_rules: [{ role: 'auditor', resource_type: 'document' }],
    })
  })

  test('states why no rule allows even if a role allows', async () => {
    const { allow, debug } = await decided('bob', 'read', {})
    expect(allow).toBe(true)
    expect(debug.rbac).toMatchObject({ allow: true, allowing_roles: ['reader'] })
    expect(debug.abac).toMatchObject({ allow: false, code: 'no_matching_usersets' })
  })
})

test('an explanation that would be too long omits rules and sets `more`', async () => {
  const tests = Array.from({ length: 600 }, () => ({ 'user.text': { exists: true } }))
  await verdict.conditionSet({ key: 'wordy', conditions: { allOf: tests } })
  await verdict.setRule('wordy', 'document:long', 'document')
  const attributes = { text: 'x'.repeat(60_000) }
  const { allow, rules, more } = await explained('ann', 'long', attributes, {}, '/allowed/explain?full=true')
  expect([allow, rules, more]).toEqual([true, [], true])
  expect((await explained('ann', 'long', attributes)).rules).toMatchObject([
    { user_set: 'wordy', outcome: 'yes', user: { leaf: { path: 'user.text' } } },
  ])
})

function question(user: string, action: string, attributes: object, ofResource: object) {
  return {
    user: { key: user, attributes },
    action,
    resource: { type: 'document', key: 'plan', attributes: ofResource },
  }
}

async function explained(
  user: string,
  action: string,
  attributes = {},
  ofResource = {},
  path = '/allowed/explain',
): Promise<Explained> {
  return verdict.done('POST', path, question(user, action, attributes, ofResource))
}

function decided(user: string, action: string, attributes: object, ofResource = {}): Promise<Explained> {
  return explained(user, action, attributes, ofResource, '/allowed')
}
