/** The steps from a goal to the question, in names. */
import type { DerivationStep } from '#engine/explanation.ts'
import { holdsAnyDirectly } from './forward-search.ts'
import type { Goal } from './goals.ts'
import type { Instance, User } from './nodes.ts'

/** Along the goals it was found from. */
export function derivationSteps(held: Goal, user: User): DerivationStep[] {
  const steps: DerivationStep[] = []
  for (let goal = held; goal.next !== null; goal = goal.next) {
    const { role, instance } = goal.next
    const from = goal
    // The same two instances may also be linked for a derivation that is void for this user.
    const isBlocked = holdsAnyDirectly(user, instance)
    const used = role.derivations.find(
      ({ source, relation, guarded }) =>
        source === from.role && relation.tuples.has(from.instance, instance) && !(guarded && isBlocked),
    )!
    steps.push({
      kind: 'derivation',
      subject: nameOf(from.instance),
      relation: used.relation.key,
      object: nameOf(instance),
      role: role.key,
      derivation: {
        role: used.source.key,
        onType: from.instance.type.key,
        relation: used.relation.key,
        guarded: used.guarded,
      },
    })
  }
  return steps
}

export function nameOf(instance: Instance) {
  return { type: instance.type.key, key: instance.key }
}
