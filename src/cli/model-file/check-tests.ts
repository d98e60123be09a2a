/**
 * Checks the names in the tests of a model file. The service denies a check with an unknown name. If a name
 * is mistyped, a denial or an empty list would therefore prove nothing. For this reason, all names must be
 * known, unless the case has `unknown: true`.
 */
import type { LocatedValue } from './located-value.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'
import type { NameCheck } from './name-check.ts'

const PARTS = ['allow', 'deny', 'resources', 'users', 'actions'] as const
type TestPart = (typeof PARTS)[number]

export function checkTests(tests: LocatedValue, check: NameCheck): void {
  for (const test of tests.items()) {
    const cases = PARTS.flatMap(part =>
      test
        .at(part)
        .items()
        .map(each => [part, each] as const),
    )
    const isReadable =
      test.isMap && PARTS.every(part => !test.has(part) || Array.isArray(test.at(part).value))
    if (isReadable && cases.length === 0)
      check.find(test, `has no expectations: add one of ${PARTS.join(', ')}`)
    for (const [part, each] of cases) checkCase(part, each, check)
  }
}

function checkCase(part: TestPart, each: LocatedValue, check: NameCheck): void {
  for (const name of ['user', 'action', 'resource']) {
    const located = each.at(name)
    if (Array.isArray(located.value) && located.value.length === 0)
      check.find(located, 'is empty: name at least one')
  }
  if (each.at('unknown').value === true) return
  check.tenant(each.at('tenant'))
  for (const user of each.at('user').each()) check.user(user)
  if (part === 'resources') {
    const type = each.at('type')
    checkActions(each.at('action'), [type], check)
    if (check.type(type) === null) return
    for (const key of each.at('are').items()) {
      if (key.text !== null) checkInstance(key, `${type.text}:${key.text}`, check)
    }
    return
  }
  const resources = each.at('resource').each()
  for (const resource of resources) checkResource(resource, part === 'allow', check)
  checkActions(each.at(part === 'actions' ? 'are' : 'action'), resources, check)
  if (part === 'users') for (const user of each.at('are').items()) check.user(user)
}

/** Each action must exist on each known resource. */
function checkActions(actions: LocatedValue, resources: readonly LocatedValue[], check: NameCheck): void {
  const keys = new Set(resources.flatMap(({ text }) => (text === null ? [] : typeKeyOf(text))))
  for (const action of actions.each()) {
    if (action.text === null) continue
    for (const key of keys) {
      const type = check.known.type(key)
      if (type && !check.part(action, type.actions, 'action', key)) break
    }
  }
}

/**
 * Checks a `type:key` or a type. In an `allow`, the instance can be unknown if no instances of its type are
 * known, because tenant roles apply to all instances.
 */
function checkResource(resource: LocatedValue, isAllow: boolean, check: NameCheck): void {
  const { text } = resource
  if (text === null || text === '') return
  const instance = parseInstanceReference(text)
  if (instance === null) {
    check.type(resource)
    return
  }
  if (check.typeOf(resource) === null) return
  if (!isAllow || check.known.typesWithInstances.has(instance.type)) checkInstance(resource, text, check)
}

function checkInstance(located: LocatedValue, name: string, check: NameCheck): void {
  const { instances } = check.known
  if (instances.has(name) || check.isFull) return
  const { type } = parseInstanceReference(name)!
  const alike = [...instances.all].filter(each => each.startsWith(`${type}:`))
  const isWhole = located.text === name
  const names = isWhole ? alike : alike.map(each => each.slice(type.length + 1))
  check.unknown(located, 'instance', located.text!, names)
}

function typeKeyOf(resource: string): string {
  return parseInstanceReference(resource)?.type ?? resource
}
