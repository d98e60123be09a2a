/**
 * Provides the credentials that threads check callers against: the stored keys and the configured key of the
 * organization.
 */
import type { KnownSecret, OrganizationState } from '#management/organization/organization.ts'
import type { Credential } from '#threads/channel/messages.ts'

/**
 * Returns a function that converts the stored secrets to credentials. `adminHash` is the hash of the
 * organization's key; null if there is none. All secrets of one key share one counter.
 */
export function credentialsOf(
  organization: Pick<OrganizationState, 'organizationId'>,
  adminHash: string | null,
) {
  return (known: readonly KnownSecret[]): Credential[] => {
    const slots = new Map<string | null, number>([[null, 0]])
    const credentials = known.map(({ hash, principal, validUntil }): Credential => {
      const slot = slots.get(principal.keyId) ?? slots.size
      slots.set(principal.keyId, slot)
      return { secretHash: hash, principal, slot, validUntil }
    })
    if (adminHash === null) return credentials
    const organizationId = organization.organizationId()
    const principal = { kind: 'organization', keyId: null, level: 'admin', organizationId } as const
    return [...credentials, { secretHash: adminHash, principal, slot: 0, validUntil: null }]
  }
}
