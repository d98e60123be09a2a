/**
 * Encodes changes as JSON text for logs and for messages between threads. Frequent kinds of changes are
 * stored as a list of their values, in the order given here, without the names of the members. This form
 * takes half the bytes, and half the time to write and to read. A change of another kind, or with members
 * that the list has no position for, is stored as an object. Older releases stored every change as an object.
 */
import type { Change, InstanceKey } from '#model/change.ts'
import { parsedJson } from '#model/text/json-numbers.ts'

type KindOf<Kind extends Change['kind']> = Extract<Change, { readonly kind: Kind }>
type Packed = readonly unknown[]

/**
 * First value of a list, which identifies the kind of change. The value is stored: never reuse it for another
 * kind.
 */
const CODES = {
  user: 'u',
  instance: 'i',
  tenantRole: 'a',
  instanceRole: 'A',
  tuple: 't',
} as const

export function encodeChanges(changes: readonly Change[]): string {
  return JSON.stringify(changes.map(change => packed(change) ?? objectOf(change)))
}

export function decodeChanges(text: string): Change[] {
  const stored = parsedJson(text) as readonly (Packed | StoredObject)[]
  return stored.map(each => (Array.isArray(each) ? unpacked(each as Packed) : changeOf(each as StoredObject)))
}

/** A change as an object, in which the expiration time has another name than in the change. */
type StoredObject = Omit<Change, 'expiresAt'> & { readonly until?: number }

function objectOf(change: Change): unknown {
  if (!('expiresAt' in change)) return change
  const { expiresAt, ...others } = change
  return { ...others, until: expiresAt }
}

function changeOf(stored: StoredObject): Change {
  if (!('until' in stored)) return stored as Change
  const { until, ...others } = stored
  return { ...others, expiresAt: until } as Change
}

/** Returns the change as a list of values, or null if it must be stored as an object. */
function packed(change: Change): Packed | null {
  // The list has no positions for these members.
  if (change.id !== undefined || change.took !== undefined) return null
  switch (change.kind) {
    case 'user-put':
      if (change.attributes === undefined) return null
      return ended([CODES.user, change.user, change.attributes, change.row])
    case 'instance-put': {
      const { instance, tenant, attributes, row } = change
      return ended([CODES.instance, ...keyOf(instance), tenant, attributes, row])
    }
    case 'assignment-put': {
      const { user, role, scope, tenant, row, expiresAt } = change
      if ('instance' in scope)
        return ended([CODES.instanceRole, user, role, ...keyOf(scope.instance), tenant, row, expiresAt])
      return tenant === undefined ? ended([CODES.tenantRole, user, role, scope.tenant, row, expiresAt]) : null
    }
    case 'tuple-put': {
      const { subject, relation, object, tenant, row, expiresAt } = change
      return ended([CODES.tuple, ...keyOf(subject), relation, ...keyOf(object), tenant, row, expiresAt])
    }
    default:
      return null
  }
}

function keyOf({ type, key }: InstanceKey): [type: string, key: string] {
  return [type, key]
}

/** Removes absent values at the end of the list. Other absent values become null in the text. */
function ended(values: unknown[]): Packed {
  while (values.at(-1) === undefined) values.length -= 1
  return values
}

function unpacked([code, ...values]: Packed): Change {
  switch (code) {
    case CODES.user: {
      const [user, attributes, row] = values as [string, KindOf<'user-put'>['attributes'], number?]
      return withDetails({ kind: 'user-put', user, attributes: attributes ?? null }, { row })
    }
    case CODES.instance: {
      const [type, key, tenant, attributes, row] = values as [
        string,
        string,
        string,
        KindOf<'instance-put'>['attributes'],
        number?,
      ]
      const instance = { type, key }
      return withDetails({ kind: 'instance-put', instance, tenant, attributes: attributes ?? null }, { row })
    }
    case CODES.tenantRole: {
      const [user, role, tenant, row, expiresAt] = values as [string, string, string, number?, number?]
      return withDetails({ kind: 'assignment-put', user, role, scope: { tenant } }, { row, expiresAt })
    }
    case CODES.instanceRole: {
      const [user, role, type, key, tenant, row, expiresAt] = values as [
        string,
        string,
        string,
        string,
        string?,
        number?,
        number?,
      ]
      const scope = { instance: { type, key } }
      return withDetails({ kind: 'assignment-put', user, role, scope }, { tenant, row, expiresAt })
    }
    case CODES.tuple: {
      const [type, key, relation, objectType, objectKey, tenant, row, expiresAt] = values as [
        string,
        string,
        string,
        string,
        string,
        string?,
        number?,
        number?,
      ]
      const [subject, object] = [
        { type, key },
        { type: objectType, key: objectKey },
      ]
      return withDetails({ kind: 'tuple-put', subject, relation, object }, { tenant, row, expiresAt })
    }
    default:
      throw new RangeError(`a stored change has the unknown code ${JSON.stringify(code)}`)
  }
}

/**
 * Returns the change with the members that are present. It runs for each change of a followed log, so it does
 * not create a list of members.
 */
function withDetails<Put extends object>(
  put: Put,
  details: {
    readonly tenant?: Absent<string>
    readonly row?: Absent<number>
    readonly expiresAt?: Absent<number>
  },
): Put & Details {
  const whole: Put & { tenant?: string; row?: number; expiresAt?: number } = put
  const { tenant, row, expiresAt } = details
  if (tenant !== undefined && tenant !== null) whole.tenant = tenant
  if (row !== undefined && row !== null) whole.row = row
  if (expiresAt !== undefined && expiresAt !== null) whole.expiresAt = expiresAt
  return whole
}

type Absent<Value> = Value | null | undefined
type Details = { readonly tenant?: string; readonly row?: number; readonly expiresAt?: number }
