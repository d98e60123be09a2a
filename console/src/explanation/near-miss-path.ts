/** Builds the path of a near miss: a path that fails because of exactly one edge. */
import { type NearMiss, type Request, resourceName } from './explained.ts'
import { derivedEdge, heldEdge } from './path-edges.ts'
import { instanceNode, userNode, type Words } from './path-nodes.ts'
import type { Path } from './path.ts'

export function pathOfNearMiss(miss: NearMiss, request: Request, words: Words): Path {
  const user = userNode(request, words)
  const who = request.user.key
  switch (miss.kind) {
    case 'other-role': {
      const on = resourceName(miss.instance)
      const needed = words.either(miss.needed_roles)
      const held = words.both(miss.held_roles.map(({ role }) => role))
      return {
        nodes: [
          user,
          instanceNode(miss.instance, undefined, words),
          ...miss.path.map(({ object, role }) => instanceNode(object, role, words)),
        ],
        edges: [
          {
            text: words.path.needs(needed),
            notes: [words.path.holdsOnly(held)],
            state: 'missing',
            sentence: words.near.otherRole(who, held, needed, on),
          },
          ...miss.path.map(step => derivedEdge(step, 'there', words)),
        ],
      }
    }
    case 'guard': {
      const [first, ...rest] = miss.path
      if (first === undefined) return { nodes: [user], edges: [] }
      const { subject, derivation } = first
      const blocking = words.both(miss.blocking_roles)
      return {
        nodes: [
          user,
          instanceNode(subject, derivation.role, words),
          ...miss.path.map(({ object, role }) => instanceNode(object, role, words)),
        ],
        edges: [
          heldEdge(who, { role: derivation.role, instance: subject }, words),
          {
            ...derivedEdge(first, 'void', words),
            notes: [words.path.blocked(blocking)],
            sentence: words.near.guarded(who, blocking, resourceName(miss.instance), resourceName(subject)),
          },
          ...rest.map(step => derivedEdge(step, 'there', words)),
        ],
      }
    }
    case 'no-tuple': {
      const { instance, role, derivation, held_on: heldOn } = miss
      const from = resourceName(heldOn)
      return {
        nodes: [user, instanceNode(heldOn, derivation.role, words), instanceNode(instance, role, words)],
        edges: [
          heldEdge(who, { role: derivation.role, instance: heldOn }, words),
          {
            text: derivation.relation,
            notes: derivation.role === role ? [] : [words.path.becomes(derivation.role, role)],
            state: 'missing',
            sentence: words.near.noTuple(from, derivation.relation, resourceName(instance), derivation.role),
          },
        ],
      }
    }
  }
}
