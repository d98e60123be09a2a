/** Account of a member who is signed in: who it is, when the session ends, and what the member may do. */
import { SERVICE } from '../interface/base-url.ts'
import type { components } from '../../types/interface.d.ts'
import { Problem } from '../interface/problem.ts'
import { causeHeaders } from './activity.ts'

type OwnSession = components['schemas']['OwnSession']

/** A grant, as responses about sessions and about members contain it. */
export interface Grant {
  readonly object_type: 'org' | 'project' | 'env'
  readonly access_level: components['schemas']['AccessLevel']
  readonly project_id: string | null
  readonly project_key: string | null
  readonly project_name?: string | null
  readonly environment_id: string | null
  readonly environment_key: string | null
  readonly environment_name?: string | null
  /** Ids of the tenants to which the grant is limited. */
  readonly tenants?: readonly string[]
  readonly roles?: readonly string[]
  /** Origin: the member itself, a group of the issuer, or the settings of the service. */
  readonly via: 'own' | 'group' | 'settings'
}

/** The response to `GET /v2/session`, with its times on the clock of the browser. */
export interface Account extends OwnSession {
  readonly receivedAt: number
  readonly idleEndsAt: number
  readonly endsAt: number
}

/** The best known name of a member: the name, the e-mail address or the identifier at the issuer. */
export function nameOfMember({
  name,
  email,
  subject,
}: {
  readonly name?: string | null | undefined
  readonly email?: string | null | undefined
  readonly subject?: string | null | undefined
}): string {
  return name || email || subject || '?'
}

const SECOND_MS = 1000

/**
 * Returns the account of the member whose cookie the browser holds, or null if there is none. With a
 * revision, the response of the service includes all changes up to it.
 */
export async function readAccount(revision: string | null): Promise<Account | null> {
  const headers = { ...causeHeaders(), ...(revision !== null && { 'X-Min-Revision': revision }) }
  const response = await fetch(`${SERVICE}/v2/session`, { headers }).catch(() => {
    throw Problem.unreachable()
  })
  if (response.status === 401) return null
  const body: unknown = await response.json().catch(() => null)
  if (!response.ok) throw Problem.of(response, body)
  const account = body as OwnSession
  const receivedAt = Date.now()
  // The clock of the browser can differ from that of the service, whose header contains whole seconds. The
  // session must not end before the time that is assumed here.
  const sent = response.headers.get('date')
  const aheadMs = sent === null ? 0 : receivedAt - Date.parse(sent) - SECOND_MS
  return {
    ...account,
    receivedAt,
    idleEndsAt: Date.parse(account.idle_expires_at) + aheadMs,
    endsAt: Date.parse(account.expires_at) + aheadMs,
  }
}
