/** Creates the first API key of a node that has none. */
import type { Config } from '#config/settings.ts'
import { loadSampleWorkspace } from '#management/environment/sample-workspace.ts'
import type { OpenEnvironments } from '#management/organization/environment-opening.ts'
import type { OrganizationState } from '#management/organization/organization.ts'

/**
 * Creates a key if no usable key exists. If no key is configured, the first start also loads the sample
 * workspace into the default environment.
 */
export async function ensureKey(parts: {
  readonly organization: OrganizationState
  readonly config: Config
  readonly environments: OpenEnvironments
}): Promise<{ readonly apiKey: string; readonly hasSampleWorkspace: boolean } | null> {
  const { organization, config, environments } = parts
  const isFirstStart = organization.isNew()
  if (!isFirstStart && (organization.hasKeys() || config.adminApiKey !== null)) return null
  const hasSampleWorkspace = isFirstStart && config.storeUrl === null
  // The sample is loaded first. If the process dies before the key is stored, the next start counts as the
  // first again.
  if (hasSampleWorkspace) {
    for (const { service } of environments.all()) if (service) await loadSampleWorkspace(service)
  }
  return { apiKey: await organization.addGeneratedKey(), hasSampleWorkspace }
}
