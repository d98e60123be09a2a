/** Addresses of the pages about entities. */
import type { CurrentEnvironment } from './current-environment.tsx'

export interface Named {
  readonly kind: 'user' | 'tenant' | 'role' | 'type' | 'set' | 'instance'
  /** Type of an instance. */
  readonly type?: string | undefined
  readonly key: string
}

/** Views of the access pages. */
export type View = 'users' | 'resources' | 'audit'

/** Type whose groups are named by their keys alone. */
export const GROUP = 'group'

/** Null if no page is about the entity. */
export function addressOf(environment: CurrentEnvironment, { kind, type, key }: Named): string | null {
  if (kind === 'user') return viewAddress(environment, 'users', { user: key })
  if (kind === 'set') return environment.to('model', 'sets', key)
  if (kind === 'type') return environment.to('model', 'types', key)
  if (kind !== 'instance' || type === undefined) return null
  return type === GROUP
    ? environment.to('groups', groupReference(type, key))
    : viewAddress(environment, 'resources', { type, instance: key })
}

/** Address of a view with these filters: `access/users/user/bob/action/read`. Empty filters are omitted. */
export function viewAddress(
  environment: CurrentEnvironment,
  view: View,
  filters: Readonly<Record<string, string>>,
): string {
  const pairs = Object.entries(filters).filter(([, value]) => value !== '')
  return environment.to('access', view, ...pairs.flat())
}

/** Name of a group in paths and in the user interface. A bare key has the type `group`. */
export function groupReference(type: string, key: string): string {
  return type === GROUP && !key.includes(':') ? key : `${type}:${key}`
}
