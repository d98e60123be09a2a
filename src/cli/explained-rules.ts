/** Why rules on condition sets allow or do not, in sentences for people. */
import type { ExplainedResult } from '#model/wire/decision.ts'

type Rule = NonNullable<ExplainedResult['rules']>[number]
type Side = Rule['user']
type Leaf = NonNullable<Side['leaf']>

/** Longer values are cut: what is looked for is mostly that a value is missing, or another. */
const SHOWN_LENGTH_MAX = 80

/** One line a rule; where rules allow, those that do. */
export function ruleTexts({ rules = [], more }: ExplainedResult): string[] {
  const allowing = rules.filter(({ outcome }) => outcome === 'yes')
  if (allowing.length > 0) return allowing.map(rule => `${nameOf(rule)} allows it`)
  const lines = rules.map(rule => `${nameOf(rule)}: ${failuresOf(rule).join('; ')}`)
  return more ? [...lines, 'and more rules, which are not shown'] : lines
}

function nameOf({ user_set, resource_set }: Rule): string {
  return `${user_set} on ${resource_set}`
}

function failuresOf({ user, user_set, resource, resource_set }: Rule): string[] {
  return [failureOf(user, user_set), failureOf(resource, resource_set)].filter(text => text !== null)
}

/** `null`: the side matches. */
function failureOf({ value, leaf }: Side, set: string): string | null {
  if (value === 'true') return null
  return leaf === undefined ? `${set} does not match` : leafText(leaf)
}

function leafText({ path, operator, operand, found, is_missing }: Leaf): string {
  const wanted = operand === undefined ? operator : `${operator} ${shown(operand)}`
  return `${path} is ${is_missing ? 'missing' : shown(found)} (${wanted})`
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text
}
