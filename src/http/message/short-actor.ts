/**
 * Actors in the decision log (administration.md N6): as JSON, and in a short form for the lines after the
 * first one of a request. The lines of a bulk would otherwise repeat up to 2 kB each.
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

/** Returns an actor as JSON. The JSON of a claimed actor is built from its parts, which is faster. */
export function actorText(actor: object): string {
  const { name, on_behalf_of: actorsFor, claimed_by: by } = actor as Partial<ClaimedActor>
  if (name === undefined || actorsFor === undefined || by === undefined || 'is_cut' in actor)
    return JSON.stringify(actor)
  const names = actorsFor.length === 0 ? '[]' : JSON.stringify(actorsFor)
  const key = by.api_key_id === null ? 'null' : `"${by.api_key_id}"`
  return `{"kind":"claimed","name":${JSON.stringify(name)},"on_behalf_of":${names},"claimed_by":{"api_key_id":${key}}}`
}
