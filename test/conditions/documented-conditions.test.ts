/** Executes the tables of docs/conditions.md and the patterns of docs/condition-patterns.md. */
import { describe, expect, test } from 'vitest'
import { LOOKUPS_MAX, STEPS_MAX } from '#conditions/values/evaluation-budget.ts'
import { operatorOf } from '#conditions/operators.ts'
import { DEPTH_MAX, LEAVES_MAX, OPERAND_ELEMENTS_MAX } from '#conditions/read-condition.ts'
import type { Change, ConditionSetPut } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import { assignInTenant, resourceType, tenant, tenantRole, user } from '#testing/engines/changes.ts'
import { type Judge, JUDGES } from '../engine/world.ts'
import {
  connectives,
  type DocumentedRule,
  type DocumentedSet,
  examples,
  GROUND,
  limits,
  operators,
  type Pattern,
  patterns,
  type Question,
  refused,
} from '../support/documents/conditions-document.ts'
import { truth, wrong } from './read.ts'

/** Time of checks whose decision does not depend on the time. */
const READ_AT = Date.UTC(2026, 10, 27, 12)

test('every documented operator exists and has an example', () => {
  expect(operators.length).toBeGreaterThan(20)
  expect(operators.filter(name => operatorOf(name) === null)).toEqual([])
  const tests = JSON.stringify(examples.map(example => example.test))
  expect(operators.filter(name => !tests.includes(`"${name}":`))).toEqual([])
})

test('each of the ten patterns has checks that are allowed and checks that are denied', () => {
  expect(patterns.length).toBe(10)
  for (const { title, questions } of patterns) {
    expect(new Set(questions.map(({ allow }) => allow)), title).toEqual(new Set([true, false]))
  }
})

test.each([DEPTH_MAX, LEAVES_MAX, OPERAND_ELEMENTS_MAX, LOOKUPS_MAX, STEPS_MAX])(
  'the limit of %i is documented',
  limit => {
    expect(limits).toContain(limit.toLocaleString('en'))
  },
)

test('examples have the documented values', () => {
  const found = examples.map(({ attribute, test: one }) => ({
    attribute,
    test: one,
    truth: truth({ 'user.a': one }, { user: attribute === undefined ? {} : { a: attribute } }),
  }))
  expect(found).toEqual(examples)
})

test('connectives have the documented values', () => {
  const values = { true: {}, false: { anyOf: [] }, unknown: { 'user.none': { equals: 1 } } }
  const found = connectives.map(({ a, b }) => ({
    a,
    b,
    allOf: truth({ allOf: [values[a], values[b]] }),
    anyOf: truth({ anyOf: [values[a], values[b]] }),
    not: truth({ not: values[a] }),
  }))
  expect(found).toEqual(connectives)
})

test.each(refused)('$text is rejected', ({ conditions }) => {
  expect(wrong(conditions)).not.toEqual([])
})

describe.each(JUDGES)('$name', ({ newJudge }) => {
  describe.each(patterns)('$title', pattern => {
    test.each([
      { way: 'sent', asked: askedWithAttributes },
      { way: 'stored', asked: askedOfStored },
    ])('checks with attributes $way have the documented decisions', ({ asked }) => {
      const answers = pattern.questions.map(question =>
        answer(asked(newJudge(), pattern, question), question),
      )
      expect(answers).toEqual(pattern.questions.map(question => answer(question.allow, question)))
    })
  })
})

/** Formats a decision with its row in the document. */
function answer(allow: boolean, { row }: Question): string {
  return `${allow ? 'allow' : 'deny'}: ${row}`
}

function askedWithAttributes(judge: Judge, pattern: Pattern, question: Question): boolean {
  judge.apply([...ground(pattern, question), user(question.user)])
  return judge.evaluate(queryOf(question, true))
}

function askedOfStored(judge: Judge, pattern: Pattern, question: Question): boolean {
  const { type, key, resourceAttributes } = question
  judge.apply([
    ...ground(pattern, question),
    { kind: 'user-put', user: question.user, attributes: question.userAttributes },
  ])
  if (key !== null) {
    const instance = { type, key }
    judge.apply([{ kind: 'instance-put', instance, tenant: 'default', attributes: resourceAttributes }])
  }
  return judge.evaluate(queryOf(question, false))
}

function queryOf(question: Question, sendsAttributes: boolean): Query {
  const { user: userKey, action, type, key, userAttributes, resourceAttributes, context, at } = question
  return {
    user: userKey,
    action,
    type,
    key,
    tenant: null,
    queryContext: {
      readAt: at ?? READ_AT,
      sent: () => ({
        user: sendsAttributes ? userAttributes : null,
        resource: sendsAttributes ? resourceAttributes : null,
        tenant: null,
        context,
      }),
    },
  }
}

function ground(pattern: Pattern, { user: userKey, holds, tenantAttributes }: Question): readonly Change[] {
  return [
    ...Object.entries(GROUND.actions).map(([type, actions]) => resourceType(type, ...actions)),
    ...Object.entries(GROUND.roles).map(([role, can]) => tenantRole(role, { can })),
    { kind: 'tenant-put', tenant: 'default', attributes: tenantAttributes },
    tenant(GROUND.otherTenant),
    user(userKey),
    ...(holds ? [assignInTenant(userKey, holds.role, holds.tenant)] : []),
    ...pattern.sets.map(putSet),
    ...pattern.rules.map(putRule),
  ]
}

function putSet(set: DocumentedSet): ConditionSetPut {
  return {
    kind: 'condition-set-put',
    set: set.key,
    side: set.type === 'userset' ? 'user' : 'resource',
    type: set.resource_id ?? null,
    parent: set.parent_id ?? null,
    conditions: set.conditions,
  }
}

/** Puts a rule. A resource type in place of a resource set means the computed set of all instances. */
function putRule({ user_set: userSet, permission, resource_set: resources }: DocumentedRule): Change {
  const [type, action] = permission.split(':') as [string, string]
  const resourceSet = Object.hasOwn(GROUND.actions, resources) ? `__autogen_${resources}` : resources
  return { kind: 'rule-put', userSet, type, action, resourceSet }
}
