/**
 * Loads the ancestors of a group, beginning with the nearest, up to a maximum number. Each ancestor has its
 * direct grants.
 */
import { useQuery } from '@tanstack/react-query'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import {
  type GroupCalls,
  type GroupLink,
  type GroupRole,
  objectOf,
  referenceOf,
  useGroupCalls,
} from './group-calls.ts'

const GROUPS_MAX = 12
const FIRST = { page: 1, per_page: 10 } as const

interface Ancestor {
  readonly name: string
  /** Groups in which this ancestor is nested directly. */
  readonly parents: readonly string[]
  readonly roles: readonly { readonly role: string; readonly object: string }[]
}

export interface Ancestors {
  /** Groups in which the group is nested directly. */
  readonly parents: readonly string[]
  readonly above: readonly Ancestor[]
  /** Whether groups or roles beyond the maximum are omitted. */
  readonly isPart: boolean
}

/** `reference` is the name of the group, or null if no group is selected. */
export function useAncestors(reference: string | null): Ancestors | undefined {
  const environment = useCurrentEnvironment()
  const calls = useGroupCalls()
  return useQuery({
    queryKey: environment.key(['relationship_tuple', 'resource_instance'], 'groups', 'above', reference),
    queryFn: ({ signal }) => ancestorsOf(calls, reference!, signal),
    enabled: reference !== null,
  }).data
}

async function ancestorsOf(calls: GroupCalls, reference: string, signal: AbortSignal): Promise<Ancestors> {
  const first = await calls.parents(reference, FIRST, signal)
  let isPart = first.total_count > first.data.length
  const above: Ancestor[] = []
  const known = new Set(first.data.map(referenceOf))
  let level: readonly GroupLink[] = first.data
  while (level.length > 0 && above.length < GROUPS_MAX) {
    const taken = level.slice(0, GROUPS_MAX - above.length)
    isPart ||= taken.length < level.length
    const looked = await Promise.all(
      taken.map(async link => {
        const name = referenceOf(link)
        const [parents, roles] = await Promise.all([
          calls.parents(name, FIRST, signal),
          calls.roles(name, FIRST, signal),
        ])
        return { name, parents, roles }
      }),
    )
    const next: GroupLink[] = []
    for (const { name, parents, roles } of looked) {
      isPart ||= parents.total_count > parents.data.length || roles.total_count > roles.data.length
      above.push({ name, parents: parents.data.map(referenceOf), roles: roles.data.map(shownRole) })
      for (const parent of parents.data) {
        if (known.has(referenceOf(parent))) continue
        known.add(referenceOf(parent))
        next.push(parent)
      }
    }
    level = next
  }
  return { parents: first.data.map(referenceOf), above, isPart: isPart || level.length > 0 }
}

function shownRole(granted: GroupRole): Ancestor['roles'][number] {
  return { role: granted.key, object: objectOf(granted) }
}

/**
 * Chain of groups from the top-level group down to the direct parents. If the groups at a level have several
 * parents, the chain starts at that level.
 */
export function chainOf({ parents, above }: Ancestors): readonly (readonly string[])[] {
  const chain: (readonly string[])[] = []
  let step = parents
  while (step.length > 0 && chain.length <= above.length) {
    chain.unshift(step)
    const [only] = step
    step = step.length === 1 ? (above.find(({ name }) => name === only)?.parents ?? []) : []
  }
  return chain
}
