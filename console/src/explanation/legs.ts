/** What leads from one place of a way to the next, in a word or two for a drawing, and as a sentence. */
import { GROUP, groupReference } from '../shell/links.ts'
import { type Derivation, type Instance, resourceName } from './explained.ts'
import type { Words } from './stops.ts'

export interface Leg {
  readonly text: string
  /** What else is to be known of it, a line each. */
  readonly notes: readonly string[]
  /** When it ends; absent: it lasts. */
  readonly end?: string | undefined
  /** `missing`: it would have to be; `void`: it is there, and does not count. */
  readonly state: 'there' | 'missing' | 'void'
  /** The same as a sentence. */
  readonly sentence: string
}

/** The role of those who are in a group. */
const MEMBER = 'member'

export function plainLeg(text: string, sentence: string, end?: string): Leg {
  return { text, notes: [], state: 'there', sentence, ...endOf(end) }
}

/** A role that the user holds on an instance; on a group, it may be the membership. */
export function heldLeg(
  user: string,
  { role, instance, end }: { readonly role: string; readonly instance: Instance; readonly end?: string },
  { way }: Words,
): Leg {
  return instance.type === GROUP && role === MEMBER
    ? plainLeg(way.isIn, way.memberOf(user, groupReference(instance.type, instance.key)), end)
    : plainLeg(way.holds, way.holdsOn(user, role, resourceName(instance)), end)
}

export function derivedLeg(step: Derivation, state: Leg['state'], { way }: Words): Leg {
  const { subject, relation, object, role, derivation } = step
  const from = resourceName(subject)
  const to = resourceName(object)
  // The same role here as there is told by the places.
  const becomes = derivation.role === role ? [] : [way.becomes(derivation.role, role)]
  const leg = { state, ...endOf(step.expires_at) }
  const notes = derivation.guarded ? [way.guarded] : []
  switch (kindOf(step)) {
    case 'grant':
      return {
        ...leg,
        notes,
        text: way.granted,
        sentence: way.groupHolds(groupReference(subject.type, subject.key), role, to),
      }
    case 'nesting':
      return { ...leg, notes, text: way.isIn, sentence: way.groupIsIn(subject.key, object.key) }
    case 'relation':
      return {
        ...leg,
        notes: [...becomes, ...notes],
        text: relation,
        sentence: way.derives({ from, relation, to, held: derivation.role, role }),
      }
  }
}

/** What a grant to a group, and a group in a group, are stored as is of no interest to whoever made them. */
function kindOf({
  subject,
  relation,
  object,
  role,
  derivation,
}: Derivation): 'grant' | 'nesting' | 'relation' {
  if (derivation.role !== MEMBER) return 'relation'
  if (relation.startsWith(`${subject.type}_group_`)) return 'grant'
  const isNesting = subject.type === GROUP && object.type === GROUP && relation === GROUP && role === MEMBER
  return isNesting ? 'nesting' : 'relation'
}

function endOf(end: string | undefined): { readonly end?: string } {
  return end === undefined ? {} : { end }
}
