/**
 * Converts the steps that lead from a goal of a backward walk to the query into names. Reads without the
 * lock.
 */
import type { DerivationStep } from '#engine/explanation.ts'
import { expiresAtOf } from '#engine/shared-index/memory/expiry-table.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import type { Expiration, InstanceKey } from '#model/change.ts'
import { keyText } from '#engine/shared-index/memory/records.ts'
import type { BackwardWalk } from './backward-walk.ts'
import { type ListingParts, typeOf } from './listings.ts'

export function nameOf({ regions, schema }: ListingParts, line: number): InstanceKey {
  return { type: typeOf(schema, regions.graph, line)?.key ?? '', key: keyText(regions.graph, line) }
}

/** Returns the key of the role at a goal. */
export function roleAt({ regions, schema }: ListingParts, walk: BackwardWalk, goal: number): string {
  return typeOf(schema, regions.graph, walk.lineAt(goal))?.roleKeys[walk.roleIndexAt(goal)] ?? ''
}

/**
 * Returns the expiration time of a role that the user directly holds on the line. Returns an empty object if
 * the role does not expire.
 */
export function expiryOfRole(regions: Regions, user: number, line: number, roleIndex: number): Expiration {
  const bank = (roleIndex >>> 5) & (L.BANKS_MAX - 1)
  const other = line | (bank << L.BANK_SHIFT)
  return expiryOf(expiresAtOf(regions, { isTuple: false, line: user, other, link: roleIndex & 31 }))
}

/** Like `expiryOfRole`, for the tuple from the subject to the object. */
export function expiryOfTuple(
  regions: Regions,
  subject: number,
  edgeClass: number,
  object: number,
): Expiration {
  const other = regions.graph[(subject << L.LINE_WORDS_LOG2) + L.I_CONTAINER]!
  return expiryOf(expiresAtOf(regions, { isTuple: true, line: object, other, link: edgeClass }))
}

function expiryOf(expiresAt: number | null): Expiration {
  return expiresAt === null ? {} : { expiresAt }
}

/** Returns the steps that lead from the goal to the query. O(steps + types for each relation). */
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
      ...expiryOfTuple(parts.regions, walk.lineAt(goal), edgeClass, walk.lineAt(next)),
    })
  }
  return steps
}
