/** Builds the path of a near miss: a path that fails because of exactly one edge. */
import { type NearMiss, type Request, resourceName } from './explained.ts'
import { derivedLeg, heldLeg } from './legs.ts'
import { instanceStop, userStop, type Words } from './stops.ts'
import type { Way } from './way.ts'

export function wayOfNearMiss(miss: NearMiss, request: Request, words: Words): Way {
  const user = userStop(request, words)
  const who = request.user.key
  switch (miss.kind) {
    case 'other-role': {
      const on = resourceName(miss.instance)
      const needed = words.either(miss.needed_roles)
      const held = words.both(miss.held_roles.map(({ role }) => role))
      return {
        stops: [
          user,
          instanceStop(miss.instance, undefined, words),
          ...miss.path.map(({ object, role }) => instanceStop(object, role, words)),
        ],
        legs: [
          {
            text: words.way.needs(needed),
            notes: [words.way.holdsOnly(held)],
            state: 'missing',
            sentence: words.near.otherRole(who, held, needed, on),
          },
          ...miss.path.map(step => derivedLeg(step, 'there', words)),
        ],
      }
    }
    case 'guard': {
      const [first, ...rest] = miss.path
      if (first === undefined) return { stops: [user], legs: [] }
      const { subject, derivation } = first
      const blocking = words.both(miss.blocking_roles)
      return {
        stops: [
          user,
          instanceStop(subject, derivation.role, words),
          ...miss.path.map(({ object, role }) => instanceStop(object, role, words)),
        ],
        legs: [
          heldLeg(who, { role: derivation.role, instance: subject }, words),
          {
            ...derivedLeg(first, 'void', words),
            notes: [words.way.blocked(blocking)],
            sentence: words.near.guarded(who, blocking, resourceName(miss.instance), resourceName(subject)),
          },
          ...rest.map(step => derivedLeg(step, 'there', words)),
        ],
      }
    }
    case 'no-tuple': {
      const { instance, role, derivation, held_on: heldOn } = miss
      const from = resourceName(heldOn)
      return {
        stops: [user, instanceStop(heldOn, derivation.role, words), instanceStop(instance, role, words)],
        legs: [
          heldLeg(who, { role: derivation.role, instance: heldOn }, words),
          {
            text: derivation.relation,
            notes: derivation.role === role ? [] : [words.way.becomes(derivation.role, role)],
            state: 'missing',
            sentence: words.near.noTuple(from, derivation.relation, resourceName(instance), derivation.role),
          },
        ],
      }
    }
  }
}
