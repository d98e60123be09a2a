/** The steps from a goal of a backward walk to the question, in names. Reads without the lock. */
import type { DerivationStep } from '#engine/explanation.ts'
import type { InstanceKey } from '#model/change.ts'
import { keyText } from '#engine/shared-index/memory/records.ts'
import type { BackwardWalk } from './backward-walk.ts'
import { type ListingParts, typeOf } from './listings.ts'

export function nameOf({ regions, schema }: ListingParts, line: number): InstanceKey {
  return { type: typeOf(schema, regions.graph, line)?.key ?? '', key: keyText(regions.graph, line) }
}

/** The key of the role at a goal. */
export function roleAt({ regions, schema }: ListingParts, walk: BackwardWalk, goal: number): string {
  return typeOf(schema, regions.graph, walk.lineAt(goal))?.roleKeys[walk.roleIndexAt(goal)] ?? ''
}

/** From the goal along those it was found from. O(steps + types for each relation). */
export function derivationSteps(parts: ListingParts, walk: BackwardWalk, from: number): DerivationStep[] {
  const relations = new Map<number, string>()
  const steps: DerivationStep[] = []
  for (let goal = from; walk.nextOf(goal) >= 0; goal = walk.nextOf(goal)) {
    const next = walk.nextOf(goal)
    const edgeClass = walk.edgeClassOf(goal)
    const relation = relations.get(edgeClass) ?? parts.schema.relationKey(edgeClass)
    relations.set(edgeClass, relation)
    const subject = nameOf(parts, walk.lineAt(goal))
    steps.push({
      kind: 'derivation',
      subject,
      relation,
      object: nameOf(parts, walk.lineAt(next)),
      role: roleAt(parts, walk, next),
      derivation: {
        role: roleAt(parts, walk, goal),
        onType: subject.type,
        relation,
        guarded: walk.isGuarded(goal),
      },
    })
  }
  return steps
}
