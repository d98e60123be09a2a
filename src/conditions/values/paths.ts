/**
 * Parses paths of attributes, such as `user.address.city`, and reads the values at paths (conditions.md 3.1
 * and 4).
 */
import { memberOf } from './values.ts'
import { isObject, type JsonObject } from '#model/json-object.ts'

export type Root = 'user' | 'resource' | 'tenant' | 'context' | 'server'

export interface Path {
  readonly root: Root
  /** Names from the attribute down to the member. There is at least one name. */
  readonly names: readonly string[]
  /** Path as it was written. */
  readonly text: string
}

/** Path within the object that `object_match` or a related operator tests. */
export interface MemberPath {
  readonly root: 'member'
  readonly names: readonly string[]
  readonly text: string
}

export type AttributePath = Path | MemberPath

const ROOTS = new Map<string, Root>([
  ['user', 'user'],
  ['subject', 'user'],
  ['resource', 'resource'],
  ['tenant', 'tenant'],
  ['context', 'context'],
  ['environment', 'context'],
  ['server', 'server'],
])
/** Name of the only value under `server`, which the service itself supplies. */
const SERVER_NAME = 'time'
const NAMES_MAX = 8
const NAME_BYTES_MAX = 255
const CONTROL_CHARACTER = /\p{Cc}/u

/** Parses a path with a root. Returns the path or, if it is not valid, a description of the problem. */
export function readPath(text: string): Path | string {
  const dot = text.indexOf('.')
  if (dot < 0) return `expected an attribute such as user.department, or a connective, got ${quoted(text)}`
  const rootName = text.slice(0, dot)
  const root = ROOTS.get(rootName)
  if (rootName === 'role') return 'attributes of roles cannot be read in a condition'
  if (root === undefined)
    return `expected one of ${[...ROOTS.keys()].join(', ')} before the dot, got ${quoted(rootName)}`
  const names = readNames(text.slice(dot + 1))
  if (typeof names === 'string') return names
  if (root === 'server' && names[0] !== SERVER_NAME) {
    return `expected server.${SERVER_NAME}, the only attribute of the service, got ${quoted(text)}`
  }
  return Object.freeze({ root, names, text })
}

/** Parses the path of a member, which has no root. Returns the path or a description of the problem. */
export function readMemberPath(text: string): MemberPath | string {
  const names = readNames(text)
  return typeof names === 'string' ? names : Object.freeze({ root: 'member', names, text })
}

/** Returns the names of a dotted path, or a description of the problem. */
function readNames(text: string): readonly string[] | string {
  const names = text.split('.', NAMES_MAX + 1)
  if (names.length > NAMES_MAX) return `a path has at most ${NAMES_MAX} names after its root`
  for (const name of names) {
    if (name === '') return `a name in a path is empty: ${quoted(text)}`
    if (CONTROL_CHARACTER.test(name)) return 'a name in a path must not contain control characters'
    if (Buffer.byteLength(name) > NAME_BYTES_MAX)
      return `a name in a path has at most ${NAME_BYTES_MAX} bytes`
  }
  return Object.freeze(names)
}

/**
 * Returns the value at the path, or `undefined` if it does not exist. Attribute names can contain dots, so
 * several attributes can match the start of a path: `a.b.c`, `a.b` and `a` match `a.b.c`. The attribute with
 * the longest name is used, and the remaining names are members of its value.
 */
export function valueAt(attributes: JsonObject, names: readonly string[]): unknown {
  for (let joined = names.length; joined > 1; joined--) {
    const value = memberOf(attributes, names.slice(0, joined).join('.'))
    if (value !== undefined) return memberBelow(value, names, joined)
  }
  return memberBelow(memberOf(attributes, names[0]!), names, 1)
}

function memberBelow(value: unknown, names: readonly string[], from: number): unknown {
  let member = value
  for (let index = from; index < names.length; index++) {
    if (!isObject(member)) return undefined
    member = memberOf(member, names[index]!)
  }
  return member
}

const SHOWN_MAX = 80

/** Quotes a text of the caller in a message. Long texts are shortened. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text)
}
