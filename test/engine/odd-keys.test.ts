/** Keys have no meaning for the engine: delimiters, prototype members and look-alikes are plain text. */
import { describe, expect, test } from 'vitest'
import type { InstanceKey } from '#model/change.ts'
import { heldBy, relation, resourceType, role, tenant, tenantRole, user } from '#testing/engines/changes.ts'
import { JUDGES } from './world.ts'

const ODD_KEYS = [
  '__proto__',
  'constructor',
  'toString',
  ' ',
  'a:b#c/d',
  'null',
  '\ufeffbom',
  'É',
  'E\u0301',
  '😀',
  '\u{1d306}',
]

describe.each(JUDGES)('$name', ({ newJudge }) => {
  test('an unusual key can name a user, a type, an action, a role, a relation, a tenant and an instance', () => {
    for (const odd of ODD_KEYS) {
      const judge = newJudge()
      const question = { user: odd, action: odd, type: odd, key: odd, tenant: null }
      expect(judge.evaluate(question)).toBe(false)
      judge.apply([
        tenant(odd),
        user(odd),
        resourceType(odd, odd),
        relation(odd, odd, odd),
        role(odd, odd, { can: [odd], from: [heldBy({ role: odd, on: odd, over: odd })] }),
        { kind: 'instance-put', instance: { type: odd, key: odd }, tenant: odd, attributes: null },
        { kind: 'instance-put', instance: { type: odd, key: 'child' }, tenant: odd, attributes: null },
        {
          kind: 'tuple-put',
          subject: { type: odd, key: odd },
          relation: odd,
          object: { type: odd, key: 'child' },
        },
      ])
      const scope = { instance: { type: odd, key: odd } }
      judge.apply([{ kind: 'assignment-put', user: odd, role: odd, scope }])
      expect(judge.evaluate(question)).toBe(true)
      expect(judge.evaluate({ ...question, key: 'child' })).toBe(true)
      expect(judge.evaluate({ ...question, key: null, tenant: odd })).toBe(false)
    }
  })

  test('an unusual tenant role in an unusual tenant is effective there', () => {
    for (const odd of ODD_KEYS) {
      const judge = newJudge()
      const permissions = [{ type: odd, action: odd }]
      judge.apply([
        tenant(odd),
        user(odd),
        resourceType(odd, odd),
        { ...tenantRole(odd), permissions },
        { kind: 'assignment-put', user: odd, role: odd, scope: { tenant: odd } },
      ])
      expect(judge.evaluate({ user: odd, action: odd, type: odd, key: null, tenant: odd })).toBe(true)
      expect(judge.evaluate({ user: odd, action: odd, type: odd, key: null, tenant: null })).toBe(false)
    }
  })

  test('entities are distinguished even if their type and key look alike or are equal when joined', () => {
    const lookAlikes: [InstanceKey, InstanceKey][] = [
      [
        { type: 'a', key: 'b:c' },
        { type: 'a:b', key: 'c' },
      ],
      [
        { type: 'a', key: ':b' },
        { type: 'a:', key: 'b' },
      ],
      [
        { type: 'a', key: 'É' },
        { type: 'a', key: 'E\u0301' },
      ],
    ]
    for (const [mine, other] of lookAlikes) {
      const judge = newJudge()
      judge.apply([tenant('default'), user('alice')])
      for (const { type } of [mine, other]) judge.apply([resourceType(type, 'read')])
      for (const { type } of [mine, other]) judge.apply([role(type, 'viewer', { can: ['read'] })])
      for (const name of [mine, other]) {
        judge.apply([{ kind: 'instance-put', instance: name, tenant: 'default', attributes: null }])
      }
      judge.apply([{ kind: 'assignment-put', user: 'alice', role: 'viewer', scope: { instance: mine } }])
      const question = { user: 'alice', action: 'read', tenant: null }
      expect(judge.evaluate({ ...question, ...mine })).toBe(true)
      expect(judge.evaluate({ ...question, ...other })).toBe(false)
    }
  })
})
