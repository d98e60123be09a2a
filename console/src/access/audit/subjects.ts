/** Kinds of entities that an audit log entry can be about, and the completion of their keys. */
import {
  type Complete,
  completeInstances,
  completeTenants,
  completeTypes,
  completeUsers,
  keysIn,
} from '../../interface/completions.ts'
import type { CurrentEnvironment } from '../../shell/current-environment.tsx'

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

export function subjectsLike(environment: CurrentEnvironment, kind: Subject): Complete {
  switch (kind) {
    case 'user':
      return completeUsers(environment)
    case 'tenant':
      return completeTenants(environment)
    case 'resource':
      return completeTypes(environment)
    case 'resource_instance':
      return completeReferences(environment)
    case 'group':
    case 'role':
    case 'condition_set':
      return async (prefix, signal) => {
        const found = await keysIn(environment, { kind, prefix }, undefined, signal)
        // Roles of different types can have the same key, so duplicates are removed.
        return [...new Set(found.map(({ key }) => key))].map(id => ({ id }))
      }
  }
}

/** Completes `type:key`. The type is completed first, then the key. */
function completeReferences(environment: CurrentEnvironment): Complete {
  return async (text, signal) => {
    const colon = text.indexOf(':')
    if (colon < 0) {
      const types = await completeTypes(environment)(text, signal)
      return types.map(({ id, ...rest }) => ({ ...rest, id: `${id}:` }))
    }
    const type = text.slice(0, colon)
    const found = await completeInstances(environment, type)(text.slice(colon + 1), signal)
    return found.map(({ id, ...rest }) => ({ ...rest, id: `${type}:${id}` }))
  }
}
