/**
 * Actors that clients claim in `X-Actor` and `X-Actor-For` (administration.md N1). A claim gives no rights
 * (administration.md N4).
 */
import { type Static, Type } from 'typebox'
import type { SessionCaller } from '#model/principal.ts'
import { nullable, Uuid } from '#model/wire/common-fields.ts'

/** The content of the two headers. */
export interface Claim {
  readonly name: string
  /** The actors for whom `name` acts, the nearest first. */
  readonly onBehalfOf: readonly string[]
}

const ActorName = Type.String({ minLength: 1 })

const ClaimedActor = Type.Object(
  {
    kind: Type.Literal('claimed'),
    name: { ...ActorName, description: 'The name in `X-Actor`, decoded.' },
    on_behalf_of: Type.Array(ActorName, { description: 'The names in `X-Actor-For`, decoded.' }),
    claimed_by: Type.Object(
      { api_key_id: { ...nullable(Uuid), description: 'Null: the key in `ADMIN_API_KEY`.' } },
      { description: 'The key with which the call was made. The service has not verified the names.' },
    ),
  },
  { description: 'An actor that the client of the call claimed.' },
)
export type ClaimedActor = Static<typeof ClaimedActor>

const memberFields = {
  kind: Type.Literal('member'),
  member_id: Uuid,
  issuer: Type.String({ description: 'The issuer at which the member signed in.' }),
  subject: Type.String({ description: 'Identifies the person at the issuer.' }),
  name: nullable(Type.String(), 'The name of the member at the time of the call.'),
}
const description = 'The member in whose session the call was made.'
const MemberActor = Type.Object({ ...memberFields, session_id: Uuid }, { description })
export type MemberActor = Static<typeof MemberActor>

/** Actor of a call (administration.md N5). */
export const Actor = Type.Union([ClaimedActor, MemberActor])
export type Actor = Static<typeof Actor>

/** Actor of a change event, whose readers need not know the id of the session. */
export const EventActor = Type.Union([ClaimedActor, Type.Object(memberFields, { description })])
export type EventActor = Static<typeof EventActor>

/** The member of a session. */
export function memberActor({ memberId, issuer, subject, name, sessionId }: SessionCaller): MemberActor {
  return { kind: 'member', member_id: memberId, issuer, subject, name, session_id: sessionId }
}

/** The actor that the client with this key claims. `keyId` is null for `ADMIN_API_KEY`. */
export function claimedActor({ name, onBehalfOf }: Claim, keyId: string | null): ClaimedActor {
  return { kind: 'claimed', name, on_behalf_of: [...onBehalfOf], claimed_by: { api_key_id: keyId } }
}

/** An actor as the decision log shows it (administration.md N6). */
export type LoggedActor = ClaimedActor | MemberActor | { readonly kind: 'claimed'; readonly malformed: true }
