/** Describes near misses in sentences. A near miss is a check that fails because of exactly one condition. */
import type { ExplainedResult } from '#model/wire/decisions/decision.ts'

type Rebac = ExplainedResult['debug']['rebac']
type PrintedNearMiss = NonNullable<Rebac['near_misses']>[number]
type PrintedStep = PrintedNearMiss extends infer Miss
  ? Miss extends { path: (infer Each)[] }
    ? Each
    : never
  : never
type Instance = PrintedStep['subject']

/**
 * Maximum number of steps of a path that is shown in full. For a longer path, only the first step is shown.
 */
const STEPS_SHOWN_MAX = 4

/** Returns one line per near miss. The list is empty if the service reports none. */
export function nearMissTexts(
  user: string,
  { near_misses: misses = [], more_near_misses: more }: Rebac,
): string[] {
  const lines = misses.map(miss => textOf(user, miss))
  if (!more) return lines
  const rest =
    lines.length === 0
      ? 'near misses may exist, but too many paths lead to the resource to examine all'
      : 'more near misses may exist that are not shown'
  return [...lines, rest]
}

function textOf(user: string, miss: PrintedNearMiss): string {
  const on = nameOf(miss.instance)
  switch (miss.kind) {
    case 'other-role': {
      const { needed_roles: needed, held_roles: held, path } = miss
      const extending = held.filter(({ extends_needed: isExtending }) => isExtending)
      const roles = (extending.length > 0 ? extending : held).map(({ role }) => role)
      const extend = roles.length === 1 ? 'extends' : 'extend'
      const itself = needed.length === 1 ? 'role itself' : 'roles themselves'
      const it = needed.length === 1 ? 'it' : 'them'
      const why =
        extending.length === 0 ? '' : `, which ${extend} ${it}, but the derivation needs the ${itself}`
      return `needs ${rolesOn(on, needed, 'or')} (${pathText(path)}); ${user} holds ${rolesOn(on, roles, 'and')}${why}`
    }
    case 'guard': {
      const { blocking_roles: blocking, path } = miss
      const [first] = path
      const from = first ? `${nameOf(first.subject)}#${first.derivation.role}` : on
      return `${user} holds ${from} (${pathText(path)}), which applies only without a direct role on ${on}; ${user} holds ${rolesOn(on, blocking, 'and')}`
    }
    case 'no-tuple': {
      const { role, derivation, held_on: heldOn } = miss
      const { onType, relation } = derivation
      return `no ${onType} is ${relation} of ${on}; ${nameOf(heldOn)} would give ${on}#${role} to ${user}, who holds ${nameOf(heldOn)}#${derivation.role}`
    }
  }
}

/** Formats roles: `folder:specs#viewer or #editor`. */
function rolesOn(instance: string, [first = '', ...others]: readonly string[], word: 'and' | 'or'): string {
  const last = others.pop()
  const between = others.map(role => `, #${role}`).join('')
  return `${instance}#${first}${between}${last === undefined ? '' : ` ${word} #${last}`}`
}

function pathText(path: readonly PrintedStep[]): string {
  const [last] = path.slice(-1)
  const shown = path.length > STEPS_SHOWN_MAX ? path.slice(0, 1) : path
  const steps = shown.map(({ relation, object, role }) => `${relation} of ${nameOf(object)}: so #${role}`)
  const end = shown.length < path.length && last ? `… ${nameOf(last.object)}#${last.role}` : ''
  return [...steps, end].filter(text => text !== '').join(', ')
}

function nameOf({ type, key }: Instance): string {
  return `${type}:${key}`
}
