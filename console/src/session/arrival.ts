/**
 * Addresses with which the console is opened from outside: the service redirects to them after a sign-in, and
 * links of invitations contain them.
 */
import { partOf } from '../shell/address.ts'

/** Reasons why a sign-in failed. The service adds one of them to the address. */
export const REFUSALS = ['denied', 'expired', 'failed', 'unavailable', 'not_a_member', 'invite'] as const
export type Refusal = (typeof REFUSALS)[number]

export type Arrival =
  /** `revision` is the revision of the organization that includes the new session. */
  | { readonly kind: 'signed-in'; readonly revision: string | null }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'invite'; readonly code: string }

/** Null if the address is that of a page. */
export function arrivalIn(address: string): Arrival | null {
  const [path = '', query = ''] = address.split('?', 2)
  const parameters = new URLSearchParams(query)
  const [, first, second = ''] = path.split('/')
  if (first === 'signed-in') return { kind: 'signed-in', revision: parameters.get('revision') }
  if (first === 'invite') return { kind: 'invite', code: partOf(second) }
  if (first !== 'sign-in') return null
  const error = parameters.get('error')
  return { kind: 'refused', refusal: REFUSALS.find(refusal => refusal === error) ?? 'failed' }
}
