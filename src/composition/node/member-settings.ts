/** Settings of the operator that concern members, in the form that the management of members needs. */
import type { Config } from '#config/settings.ts'
import type { MemberSettings } from '#management/scopes/member-settings.ts'
import { assert } from '#model/assert.ts'

/** Null if members cannot sign in. */
export function memberSettings({
  oidcIssuer: issuer,
  oidcOwners,
  oidcOwnerGroups,
  publicUrl,
}: Pick<Config, 'oidcIssuer' | 'oidcOwners' | 'oidcOwnerGroups' | 'publicUrl'>): MemberSettings | null {
  if (issuer === null) return null
  assert(publicUrl, 'an issuer requires the address of the service')
  const owners = { owners: new Set(oidcOwners), ownerGroups: new Set(oidcOwnerGroups) }
  return { issuer, publicUrl, owners }
}
