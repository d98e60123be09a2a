/** Where the console shows what its pages speak of. */
import type { Place } from './place.tsx'

export interface Named {
  readonly kind: 'user' | 'tenant' | 'role' | 'type' | 'set' | 'instance'
  /** Of an instance. */
  readonly type?: string | undefined
  readonly key: string
}

/** The ways to look at access. */
export type View = 'users' | 'resources' | 'audit'

/** The type whose groups are called by their keys alone. */
export const GROUP = 'group'

/** Null: no page is about it. */
export function addressOf(place: Place, { kind, type, key }: Named): string | null {
  if (kind === 'user') return viewAddress(place, 'users', { user: key })
  if (kind === 'set') return place.to('model', 'sets', key)
  if (kind === 'type') return place.to('model', 'types', key)
  if (kind !== 'instance' || type === undefined) return null
  return type === GROUP
    ? place.to('groups', groupReference(type, key))
    : viewAddress(place, 'resources', { type, instance: key })
}

/** A view with these filters, in its address: `access/users/user/bob/action/read`; empty ones are left out. */
export function viewAddress(place: Place, view: View, filters: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(filters).filter(([, value]) => value !== '')
  return place.to('access', view, ...pairs.flat())
}

/** How a group is named in paths and to readers: a key that stands alone is of the type `group`. */
export function groupReference(type: string, key: string): string {
  return type === GROUP && !key.includes(':') ? key : `${type}:${key}`
}
