/** Opens the sign-in of people on this node, from the settings. */
import type { Config } from '#config/settings.ts'
import type { RuntimeServices } from '#management/drafts/runtime-services.ts'
import type { OrganizationService } from '#management/organization/organization-service.ts'
import type { OrganizationState } from '#management/organization/organization.ts'
import { assert } from '#model/assert.ts'
import type { SignInCounts } from '#model/sign-in/sign-in-counts.ts'
import { SignInService } from '#sign-in/sign-in-service.ts'
import type { Logger } from '#telemetry/log.ts'

export function openSignIn(parts: {
  readonly config: Config
  readonly log: Logger
  readonly runtime: RuntimeServices
  readonly organization: OrganizationState
  readonly service: OrganizationService
  readonly counts: SignInCounts
}): SignInService {
  const { config, log, runtime, organization, service, counts } = parts
  const { oidcIssuer: issuer, oidcClientId: clientId, publicUrl } = config
  assert(issuer !== null && clientId !== null && publicUrl !== null, 'the settings were checked together')
  const settings = {
    issuer,
    clientId,
    clientSecret: config.oidcClientSecret,
    scopes: config.oidcScopes,
    groupsClaim: config.oidcGroupsClaim,
    owners: { owners: new Set(config.oidcOwners), ownerGroups: new Set(config.oidcOwnerGroups) },
    skewSeconds: config.oidcClockSkewSeconds,
    sessionIdleMs: config.sessionIdleSeconds * 1_000,
    sessionMaxMs: config.sessionMaxSeconds * 1_000,
    publicUrl,
    tokenSecret: organization.tokenSecret(),
  }
  const { now, elapsedMs } = runtime
  const organizationId = organization.organizationId()
  return new SignInService(settings, { organization: service, organizationId, counts, log, now, elapsedMs })
}
