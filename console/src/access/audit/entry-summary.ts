/**
 * Summarizes an audit log entry as names and values. The fields that identify the changed entity come first.
 */
import type { Schemas } from '../../interface/client.ts'
import { isObject } from '../../interface/json.ts'

export type Entry = Schemas['AuditEntry']
export type Named = readonly [name: string, value: unknown]

const FIRST = [
  'user',
  'user_id',
  'group_instance_key',
  'role',
  'role_id',
  'resource_instance',
  'subject',
  'relation',
  'object',
  'instance_id',
  'resource',
  'resource_id',
  'key',
  'tenant',
  'tenant_id',
]

/**
 * Names and values in the request body. If the body contains a short list of changes, the whole list is
 * included.
 */
export function namedIn({ input }: Entry): readonly Named[] {
  const { body, query, ...path } = input
  const asked = isObject(query) ? Object.entries(query) : []
  const sent = isObject(body) ? Object.entries(body) : body === undefined ? [] : [['body', body] as const]
  // If a field of the body has the same name as a path parameter, it is named `body.…`. For example, when a
  // group is nested in another group, the path names the outer group and the body names the inner one.
  const fields = sent.map(
    ([name, value]) => [Object.hasOwn(path, name) ? `body.${name}` : name, value] as const,
  )
  const named = [...Object.entries(path), ...fields, ...asked].filter(([, value]) => value !== null)
  return named.toSorted(([one], [other]) => rankOf(one) - rankOf(other))
}

function rankOf(name: string): number {
  const rank = FIRST.indexOf(name)
  return rank < 0 ? FIRST.length : rank
}

/**
 * The first values, at most `max`, that fit into one line. If the call names an entity by its ID, the key of
 * the entity is shown.
 */
export function shortIn(entry: Entry, max: number): readonly (readonly [string, string])[] {
  const keys = new Map(entry.about.map(({ id, key }) => [id, key]))
  return namedIn(entry)
    .flatMap(([name, value]) => {
      if (Array.isArray(value)) return [[name, `${value.length} ×`] as const]
      return isObject(value) ? [] : [[name, keys.get(String(value).toLowerCase()) ?? String(value)] as const]
    })
    .slice(0, max)
}

/** Fields of an audit log entry about a grant that has expired. */
interface ExpiredGrant {
  readonly what: string
  readonly who: string
  readonly where: string
  readonly end: string
}

export function expiredGrants({ input }: Entry): readonly ExpiredGrant[] {
  const grants = input['grants']
  if (!Array.isArray(grants)) return []
  return grants.filter(isObject).map(grant => {
    const text = (name: string): string => (typeof grant[name] === 'string' ? grant[name] : '')
    const isTuple = grant['subject'] !== undefined
    return {
      who: text(isTuple ? 'subject' : 'user'),
      what: text(isTuple ? 'relation' : 'role'),
      where: isTuple ? text('object') : text('resource_instance') || text('tenant'),
      end: text('expires_at'),
    }
  })
}
