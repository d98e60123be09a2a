/** Edges of a path. Each edge has a label for the drawing and a sentence for the text. */
import { GROUP, groupReference } from '../shell/links.ts'
import { type Derivation, type Instance, resourceName } from './explained.ts'
import type { Words } from './path-nodes.ts'

export interface PathEdge {
  readonly text: string
  /** Additional notes about the edge, one per line. */
  readonly notes: readonly string[]
  /** Expiration time. Absent if the fact does not expire. */
  readonly end?: string | undefined
  /**
   * `there`: the fact exists. `missing`: the fact does not exist but is needed. `void`: the fact exists but
   * has no effect.
   */
  readonly state: 'there' | 'missing' | 'void'
  /** The edge described as a sentence. */
  readonly sentence: string
}

/** Key of the role of group members. */
const MEMBER = 'member'

export function plainEdge(text: string, sentence: string, end?: string): PathEdge {
  return { text, notes: [], state: 'there', sentence, ...endOf(end) }
}

/**
 * Edge for a role that the user holds on an instance. If the instance is a group, the role can be the
 * membership.
 */
export function heldEdge(
  user: string,
  { role, instance, end }: { readonly role: string; readonly instance: Instance; readonly end?: string },
  { path }: Words,
): PathEdge {
  return instance.type === GROUP && role === MEMBER
    ? plainEdge(path.isIn, path.memberOf(user, groupReference(instance.type, instance.key)), end)
    : plainEdge(path.holds, path.holdsOn(user, role, resourceName(instance)), end)
}

export function derivedEdge(step: Derivation, state: PathEdge['state'], { path }: Words): PathEdge {
  const { subject, relation, object, role, derivation } = step
  const from = resourceName(subject)
  const to = resourceName(object)
  // If the role stays the same along the edge, the nodes already show it.
  const becomes = derivation.role === role ? [] : [path.becomes(derivation.role, role)]
  const edge = { state, ...endOf(step.expires_at) }
  const notes = derivation.guarded ? [path.guarded] : []
  switch (kindOf(step)) {
    case 'grant':
      return {
        ...edge,
        notes,
        text: path.granted,
        sentence: path.groupHolds(groupReference(subject.type, subject.key), role, to),
      }
    case 'nesting':
      return { ...edge, notes, text: path.isIn, sentence: path.groupIsIn(subject.key, object.key) }
    case 'relation':
      return {
        ...edge,
        notes: [...becomes, ...notes],
        text: relation,
        sentence: path.derives({ from, relation, to, held: derivation.role, role }),
      }
  }
}

/**
 * Kind of an edge. Grants to groups and nested groups are stored as relations that the service generates. The
 * internal names of these relations are not shown.
 */
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
