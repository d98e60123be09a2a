/**
 * Finds the goals of a question: every (role, instance) such that holding it there gives what is asked for,
 * backward from the instance along derivations and tuples. Guards depend on the user, so there are two
 * readings: all goals of any user (guards ignored, but noted), or the goals that count for one user.
 */
import { holdsAnyDirectly } from './forward-search.ts'
import type { Instance, Role, User } from './nodes.ts'

export interface Goal {
  readonly role: Role
  readonly instance: Instance
  /** The goal this one was found from, nearer to the question; `null` for a goal of the question itself. */
  readonly next: Goal | null
}

export interface Goals {
  /** Nearest first: a goal comes after those with fewer derivations between them and the question. */
  readonly goals: readonly Goal[]
  /** Whether a guarded derivation was followed, so that some goals may not count for some users. */
  readonly hasGuards: boolean
}

/** Breadth first, each goal once. `user` null: guards ignored. O(goals and their tuples). */
export function findGoals(roles: Iterable<Role>, instance: Instance, user: User | null): Goals {
  const seen = new Map<Role, Set<Instance>>()
  const goals: Goal[] = []
  let hasGuards = false
  for (const role of roles) add({ role, instance, next: null })
  // The array is its own worklist.
  for (const goal of goals) {
    for (const { source, relation, guarded } of goal.role.derivations) {
      const subjects = relation.tuples.leftsOf(goal.instance)
      if (subjects.size === 0) continue
      if (guarded) {
        hasGuards = true
        if (user !== null && holdsAnyDirectly(user, goal.instance)) continue
      }
      for (const subject of subjects) add({ role: source, instance: subject, next: goal })
    }
  }
  return { goals, hasGuards }

  function add(goal: Goal): void {
    const instances = seen.get(goal.role) ?? new Set()
    if (instances.has(goal.instance)) return
    seen.set(goal.role, instances.add(goal.instance))
    goals.push(goal)
  }
}
