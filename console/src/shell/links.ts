/** Addresses of the pages about entities. */
import type { CurrentEnvironment } from './current-environment.tsx'

export interface Named {
  readonly kind: 'user' | 'tenant' | 'role' | 'type' | 'set' | 'instance'
  /** Type of the instance, if the entity is one. */
  readonly type?: string | undefined
  readonly key: string
}

/** Address of the page about the member who is signed in. */
export const ACCOUNT = '/~/account'
/** Address of the pages about members. */
export const MEMBERS = '/~/members'

/** Views of the access pages. */
export type View = 'users' | 'resources' | 'audit'

/** Type of groups that are named only by their key, without a type. */
export const GROUP = 'group'

/** Address of the page about an entity. Null if there is no such page. */
export function addressOf(environment: CurrentEnvironment, { kind, type, key }: Named): string | null {
  if (kind === 'user') return viewAddress(environment, 'users', { user: key })
  if (kind === 'set') return environment.to('model', 'sets', key)
  if (kind === 'type') return environment.to('model', 'types', key)
  if (kind !== 'instance' || type === undefined) return null
  return type === GROUP
    ? environment.to('groups', groupReference(type, key))
    : viewAddress(environment, 'resources', { type, instance: key })
}

/**
 * Address of a view with these filters, such as `access/users/user/bob/action/read`. Empty filters are
 * omitted.
 */
export function viewAddress(
  environment: CurrentEnvironment,
  view: View,
  filters: Readonly<Record<string, string>>,
): string {
  const pairs = Object.entries(filters).filter(([, value]) => value !== '')
  return environment.to('access', view, ...pairs.flat())
}

/**
 * Name of a group, which is used in paths and in the user interface. A name without a type means the type
 * `group`.
 */
export function groupReference(type: string, key: string): string {
  return type === GROUP && !key.includes(':') ? key : `${type}:${key}`
}
