/** What threads check callers by: the keys that are kept, and the organization's key from the settings. */
import type { KnownSecret, Organization } from '#management/organization/organization.ts'
import type { Credential } from '#threads/channel/messages.ts'

/** `adminHash`: of the organization's key; null where there is none. Secrets of one key are counted in one place. */
export function credentialsOf(organization: Pick<Organization, 'organizationId'>, adminHash: string | null) {
  return (known: readonly KnownSecret[]): Credential[] => {
    const slots = new Map<string | null, number>([[null, 0]])
    const credentials = known.map(({ hash, principal, validUntil }): Credential => {
      const slot = slots.get(principal.keyId) ?? slots.size
      slots.set(principal.keyId, slot)
      return { secretHash: hash, principal, slot, validUntil }
    })
    if (adminHash === null) return credentials
    const organizationId = organization.organizationId()
    const principal = { kind: 'organization', keyId: null, organizationId } as const
    return [...credentials, { secretHash: adminHash, principal, slot: 0, validUntil: null }]
  }
}
