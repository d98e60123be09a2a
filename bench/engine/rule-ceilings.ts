/**
 * Changes in an environment with the maximum number of condition sets and rules, for `schema-ceilings.ts`.
 */
import type { Change } from '#model/change.ts'

const SETS = 10_000
const RULES = 100_000
const RULES_A_PERMISSION = 10_000
export const RULED_TYPE = 'type-0'

function setPut(set: number, conditions: Readonly<Record<string, unknown>>): Change {
  return { kind: 'condition-set-put', set: `set-${set}`, side: 'user', type: null, parent: null, conditions }
}

function ruleOn(set: number, action: string, kind: 'rule-put' | 'rule-removed' = 'rule-put'): Change {
  return { kind, userSet: `set-${set}`, type: RULED_TYPE, action, resourceSet: `__autogen_${RULED_TYPE}` }
}

/**
 * Half of the sets are found by an attribute value. The other half compares an order (such as greater than),
 * so each of these sets must be evaluated.
 */
function conditionsOf(set: number): Readonly<Record<string, unknown>> {
  return set % 2 === 0
    ? { allOf: [{ 'user.group': { equals: `group-${set}` } }, { 'user.level': { 'less-than': 5 } }] }
    : { 'user.level': { 'greater-than': set + 10 } }
}

/** Ten actions, each with 10,000 rules. No rule allows the check. */
export function ruleCeilings() {
  const sets = Array.from({ length: SETS }, (_, n) => setPut(n, conditionsOf(n)))
  const actions = Array.from({ length: RULES / RULES_A_PERMISSION }, (_, n) => `action-${n}`)
  const rules = actions.flatMap(action =>
    Array.from({ length: RULES_A_PERMISSION }, (_, n) => ruleOn(n % SETS, action)),
  )
  const types: Change = { kind: 'type-put', type: RULED_TYPE, actions: [...actions, 'free'] }
  const everybody = { 'user.level': { 'greater-than-equals': 0 } }
  return {
    changes: [types, ...sets, ...rules],
    scenes: [
      {
        name: 'one set',
        there: [setPut(1, everybody)],
        back: [setPut(1, conditionsOf(1))],
        action: 'action-1',
        right: [true, false],
      },
      {
        name: 'a rule of an action without rules',
        there: [setPut(3, everybody), ruleOn(3, 'free')],
        back: [setPut(3, conditionsOf(3)), ruleOn(3, 'free', 'rule-removed')],
        action: 'free',
        right: [true, false],
      },
      {
        name: 'a set with its ten rules',
        there: [{ kind: 'condition-set-removed', set: 'set-9999' }],
        back: [setPut(9_999, conditionsOf(9_999)), ...actions.map(action => ruleOn(9_999, action))],
        action: 'action-1',
        right: [false, false],
      },
    ],
  } as const
}
