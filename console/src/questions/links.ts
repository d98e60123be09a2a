/** Where the console shows, and changes, what an answer speaks of. */
import type { Place } from '../shell/place.tsx'

export interface Named {
  readonly kind: 'user' | 'tenant' | 'role' | 'type' | 'set' | 'instance'
  /** Of an instance. */
  readonly type?: string | undefined
  readonly key: string
}

/** Null: no page is about it. */
export function addressOf(place: Place, { kind, type, key }: Named): string | null {
  const to = (...parts: readonly string[]): string => place.to(...parts.map(part => part.toWellFormed()))
  if (kind === 'user') return to('access', 'users', 'user', key)
  if (kind === 'set') return to('model', 'sets', key)
  if (kind === 'type') return to('model', 'types', key)
  if (kind !== 'instance' || type === undefined) return null
  return type === 'group' ? to('groups', key) : to('access', 'resources', 'type', type, 'instance', key)
}
