/** Kinds of entities that an audit log entry can be about, and the completion of their keys. */
import {
  type Complete,
  completeInstances,
  completeTenants,
  completeTypes,
  completeUsers,
  keysIn,
} from '../../interface/completions.ts'
import type { Place } from '../../shell/place.tsx'

export const SUBJECTS = [
  'user',
  'group',
  'resource',
  'resource_instance',
  'tenant',
  'role',
  'condition_set',
] as const
export type Subject = (typeof SUBJECTS)[number]

export function isSubject(text: string): text is Subject {
  return (SUBJECTS as readonly string[]).includes(text)
}

export function subjectsLike(place: Place, kind: Subject): Complete {
  switch (kind) {
    case 'user':
      return completeUsers(place)
    case 'tenant':
      return completeTenants(place)
    case 'resource':
      return completeTypes(place)
    case 'resource_instance':
      return completeReferences(place)
    case 'group':
    case 'role':
    case 'condition_set':
      return async (prefix, signal) => {
        const found = await keysIn(place, { kind, prefix }, undefined, signal)
        // Roles of several types can have the same key.
        return [...new Set(found.map(({ key }) => key))].map(id => ({ id }))
      }
  }
}

/** Completes `type:key`: first the type, then the key. */
function completeReferences(place: Place): Complete {
  return async (text, signal) => {
    const colon = text.indexOf(':')
    if (colon < 0) {
      const types = await completeTypes(place)(text, signal)
      return types.map(({ id, ...rest }) => ({ ...rest, id: `${id}:` }))
    }
    const type = text.slice(0, colon)
    const found = await completeInstances(place, type)(text.slice(colon + 1), signal)
    return found.map(({ id, ...rest }) => ({ ...rest, id: `${type}:${id}` }))
  }
}
