/**
 * Short form of an actor, for the lines of the decision log after the first one of a request
 * (administration.md N6). The lines of a bulk would otherwise repeat up to 2 kB each.
 */
import type { ClaimedActor } from '#model/wire/organization/actor.ts'

/** Maximum number of characters of all names in a short actor, unless the first name alone is longer. */
const NAMES_LENGTH_MAX = 256

/**
 * Returns the actor itself if its names are short. Otherwise omits the last names of `on_behalf_of`, and sets
 * `is_cut`.
 */
export function shortActor(actor: object): object {
  const { name = '', on_behalf_of: actorsFor = [] } = actor as Partial<ClaimedActor>
  let { length } = name
  const cutAt = actorsFor.findIndex(each => (length += each.length) > NAMES_LENGTH_MAX)
  return cutAt < 0 ? actor : { ...actor, on_behalf_of: actorsFor.slice(0, cutAt), is_cut: true }
}
