/**
 * Reads the actor that a client claims in `X-Actor` and `X-Actor-For` (administration.md N1). Both headers
 * contain percent-encoded names.
 */
import { type Claim, claimedActor, type LoggedActor, memberActor } from '#model/wire/organization/actor.ts'
import { AuthzError } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import { ACTOR_HEADERS_BYTES_MAX, ACTOR_NAME_BYTES_MAX, ACTORS_FOR_MAX } from '#model/limits.ts'
import { ACTOR, ACTOR_FOR } from './header-fields.ts'
import type { HeaderList } from './header-list.ts'
import { isPrintableAscii } from './header-text.ts'

const NAME = ACTOR.name.toLowerCase()
const FOR_NAME = ACTOR_FOR.name.toLowerCase()
const CONTROL = /\p{Cc}/u

/**
 * Returns the claim, or null if there is none. Throws `INVALID_SHAPE` if it is not valid (administration.md
 * N2).
 */
export function claimIn(headers: HeaderList): Claim | null {
  const claim = readClaim(headers)
  if (typeof claim !== 'string') return claim
  throw refusedClaim(claim)
}

/** Error for a claim that is not accepted. `msg` states why. */
export function refusedClaim(msg: string): AuthzError {
  return new AuthzError('INVALID_SHAPE', `header.${ACTOR.name}: ${msg}`, {
    detail: [{ loc: ['header', ACTOR.name], msg, type: 'actor' }],
  })
}

/**
 * Returns the actor for the decision log: the member of a session, or the actor that the client of a key
 * claims. Null if there is none. A claim in a request of a session is ignored.
 */
export function loggedActor(headers: HeaderList, caller: () => Principal | null): LoggedActor | null {
  if (headers.authorization === undefined) {
    const session = caller()?.session
    if (session !== undefined) return memberActor(session)
  }
  const claim = readClaim(headers)
  if (claim === null) return null
  if (typeof claim === 'string') return { kind: 'claimed', malformed: true }
  return claimedActor(claim, caller()?.keyId ?? null)
}

/** Returns the claim, null if there is none, or a text that states why the claim is not valid. */
function readClaim(headers: HeaderList): Claim | string | null {
  const actor = headers.get(NAME) ?? ''
  const actorsFor = headers.get(FOR_NAME) ?? ''
  if (headers.isRepeated(NAME) || headers.isRepeated(FOR_NAME))
    return 'each of the two headers must be sent once'
  if (actor === '') return actorsFor === '' ? null : `${ACTOR_FOR.name} needs ${ACTOR.name}`
  if (actor.length + actorsFor.length > ACTOR_HEADERS_BYTES_MAX) {
    return `must have at most ${ACTOR_HEADERS_BYTES_MAX} bytes together with ${ACTOR_FOR.name}`
  }
  if (actor.includes(',')) return 'must be one name; encode a comma as %2C'
  const name = decodedName(actor)
  const names = actorsFor === '' ? [] : actorsFor.split(',').map(text => decodedName(trimmed(text)))
  if (names.length > ACTORS_FOR_MAX) return `${ACTOR_FOR.name} must have at most ${ACTORS_FOR_MAX} names`
  if (name === null) return `must be ${NAME_FORM}`
  const onBehalfOf = names.filter(each => each !== null)
  if (onBehalfOf.length < names.length) return `each name in ${ACTOR_FOR.name} must be ${NAME_FORM}`
  return { name, onBehalfOf }
}

const NAME_FORM =
  `percent-encoded UTF-8 of 1 to ${ACTOR_NAME_BYTES_MAX} bytes, ` +
  'without control characters and without blanks at its ends'

/** Removes the optional spaces around a list element (RFC 9110, section 5.6.1). */
function trimmed(text: string): string {
  return text.replace(/^ +| +$/g, '')
}

/** Decodes a name once. Returns null if it is not valid. */
function decodedName(text: string): string | null {
  if (!isPrintableAscii(text)) return null
  let name: string
  try {
    name = text.includes('%') ? decodeURIComponent(text) : text
  } catch {
    return null
  }
  const isValid = name !== '' && name.trim() === name && !CONTROL.test(name)
  return isValid && Buffer.byteLength(name) <= ACTOR_NAME_BYTES_MAX ? name : null
}
