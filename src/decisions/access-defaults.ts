/**
 * What the items of an AuthZEN batch inherit (authzen.md 4.2): whole members, never merged. Only a subject or resource that lacks
 * exactly its `type` takes that from the default of the same name, which both readings of the specification allow.
 */
import type { EvaluationsRequest } from '#model/wire/access.ts'
import type { EvaluationParts } from './sent-attributes.ts'

/** The members of a batch that items inherit. */
export type Defaults = Readonly<Partial<Record<Member, unknown>>>

type Member = (typeof MEMBERS)[number]
const MEMBERS = ['subject', 'action', 'resource', 'context'] as const

/** What is read of a default. */
const NAMES = ['type', 'id', 'name'] as const
const PROPERTIES = 'properties'
const PROPERTY = 'tenant'

/**
 * The defaults with nothing in them that is not read, but of the shape they had. An item is checked with all that it
 * inherits, and a caller decides how much a default holds and how many inherit it: a kilobyte each could cost seconds.
 * O(batch).
 */
export function defaultsOf(batch: EvaluationsRequest): Defaults {
  const defaults: Partial<Record<Member, unknown>> = {}
  for (const member of MEMBERS) {
    const value = batch[member]
    if (value !== undefined) defaults[member] = isObject(value) ? onlyRead(value) : emptied(value)
  }
  return defaults
}

/** An item with what it inherits; one that is no object as it is. O(item). */
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

/** What lacks its id, too, is not completed: of a resource it would become a question about all of the default's type. */
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

/** What an item says, or inherits, that conditions may ask for. Both were checked: of a default the kind, of an item all. */
export function attributesOf(item: unknown, batch: EvaluationsRequest): EvaluationParts {
  const own = isObject(item) ? item : {}
  const partOf = (member: 'subject' | 'action' | 'resource'): EvaluationParts['subject'] =>
    ((own[member] ?? batch[member]) as EvaluationParts['subject'] | undefined) ?? NO_PART
  const context = (own['context'] ?? batch.context) as EvaluationParts['context']
  return { subject: partOf('subject'), action: partOf('action'), resource: partOf('resource'), context }
}

const NO_PART = {}

/** Of the same kind, with nothing in it. */
function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return []
  return isObject(value) ? {} : value
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
