/**
 * Applies the defaults of an AuthZEN batch to its items (authzen.md 4.2). If an item does not have a member,
 * it inherits the whole member; the members of an item and of a default are never merged. There is one
 * exception: a subject or resource that lacks only its `type` inherits the type from the default of the same
 * name. The versions of the AuthZEN conformance tests disagree about this case, and this behavior satisfies
 * both.
 */
import { isObject } from '#model/json-object.ts'
import type { EvaluationsRequest } from '#model/wire/decisions/access.ts'
import type { EvaluationParts } from '#decisions/questions/request-attributes.ts'

/** Members of a batch that its items can inherit. */
export type Defaults = Readonly<Partial<Record<Member, unknown>>>

type Member = (typeof MEMBERS)[number]
const MEMBERS = ['subject', 'action', 'resource', 'context'] as const

/** Members of the default of an entity that are read. Only the tenant is read from its properties. */
const NAMES = ['type', 'id', 'name'] as const
const PROPERTIES = 'properties'
const PROPERTY = 'tenant'

/**
 * Returns the defaults of a batch, reduced to the members that are read. Values of members that are not read
 * are replaced by empty values of the same JSON type. Each item is validated together with its inherited
 * defaults. A caller chooses the size of a default and the number of items that inherit it, so even defaults
 * of one kilobyte could otherwise cost seconds. O(batch).
 */
export function defaultsOf(batch: EvaluationsRequest): Defaults {
  const defaults: Partial<Record<Member, unknown>> = {}
  for (const member of MEMBERS) {
    const value = batch[member]
    if (value !== undefined) defaults[member] = isObject(value) ? onlyRead(value) : emptied(value)
  }
  return defaults
}

/**
 * Returns the item together with the members that it inherits. An item that is not an object is returned
 * unchanged. O(item).
 */
export function withDefaults(item: unknown, defaults: Defaults): unknown {
  if (!isObject(item)) return item
  const evaluation: Record<string, unknown> = {}
  for (const member of MEMBERS) {
    const own = item[member] ?? null
    const value = own === null ? defaults[member] : withType(member, own, defaults[member])
    if (value !== undefined) evaluation[member] = value
  }
  return evaluation
}

/**
 * If a member has neither a type nor an id, it does not inherit the type. Otherwise, such a resource would
 * become a check of the whole type of the default.
 */
function withType(member: Member, own: unknown, inherited: unknown): unknown {
  const hasType = member === 'subject' || member === 'resource'
  if (!hasType || !isObject(own) || !isObject(inherited)) return own
  const lacksOnlyType = (own['type'] ?? null) === null && (own['id'] ?? null) !== null
  return lacksOnlyType ? { ...own, type: inherited['type'] } : own
}

function onlyRead(value: Readonly<Record<string, unknown>>): unknown {
  const read: Record<string, unknown> = {}
  for (const name of NAMES) if (Object.hasOwn(value, name)) read[name] = emptied(value[name])
  if (!Object.hasOwn(value, PROPERTIES)) return read
  const properties = value[PROPERTIES]
  const hasProperty = isObject(properties) && Object.hasOwn(properties, PROPERTY)
  read[PROPERTIES] = hasProperty ? { [PROPERTY]: emptied(properties[PROPERTY]) } : emptied(properties)
  return read
}

/**
 * Returns the parts of an item, its own or inherited ones, that conditions can read. The own parts have been
 * validated completely. For inherited parts, only the JSON type has been validated.
 */
export function attributesOf(item: unknown, batch: EvaluationsRequest): EvaluationParts {
  const own = isObject(item) ? item : {}
  const partOf = (member: 'subject' | 'action' | 'resource'): EvaluationParts['subject'] =>
    ((own[member] ?? batch[member]) as EvaluationParts['subject'] | undefined) ?? NO_PART
  const context = (own['context'] ?? batch.context) as EvaluationParts['context']
  return { subject: partOf('subject'), action: partOf('action'), resource: partOf('resource'), context }
}

const NO_PART = {}

/** Returns an empty value that has the same JSON type. A scalar is returned unchanged. */
function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return []
  return isObject(value) ? {} : value
}
