/**
 * Actors that clients claim in `X-Actor` and `X-Actor-For` (administration.md N1). A claim gives no rights
 * (administration.md N4).
 */
import { type Static, Type } from 'typebox'
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

/** Actor of a call; null if the call named none (administration.md N5). */
export const Actor = nullable(ClaimedActor)

/** The actor that the client with this key claims. `keyId` is null for `ADMIN_API_KEY`. */
export function claimedActor({ name, onBehalfOf }: Claim, keyId: string | null): ClaimedActor {
  return { kind: 'claimed', name, on_behalf_of: [...onBehalfOf], claimed_by: { api_key_id: keyId } }
}

/** An actor as the decision log shows it (administration.md N6). */
export type LoggedActor = ClaimedActor | { readonly kind: 'claimed'; readonly malformed: true }
