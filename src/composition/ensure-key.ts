/** Makes the first API key of a node that has none. */
import type { Config } from '#config/config.ts'
import { loadSampleWorkspace } from '#management/environment/sample-workspace.ts'
import type { OpenEnvironments } from '#management/organization/open-environments.ts'
import type { Organization } from '#management/organization/organization.ts'

/**
 * Makes a key when there is none, or none that anybody could still use. The first start, if no key is configured, also
 * fills the default environment with the sample workspace.
 */
export async function ensureKey(parts: {
  readonly organization: Organization
  readonly config: Config
  readonly environments: OpenEnvironments
}): Promise<{ readonly apiKey: string; readonly hasSampleWorkspace: boolean } | null> {
  const { organization, config, environments } = parts
  const isFirstStart = organization.isNew()
  if (!isFirstStart && (organization.hasKeys() || config.adminApiKey !== null)) return null
  const hasSampleWorkspace = isFirstStart && config.storeUrl === null
  // The sample comes first. If the process dies before the key is kept, the next start counts as the first again.
  if (hasSampleWorkspace) {
    for (const { service } of environments.all()) if (service) await loadSampleWorkspace(service)
  }
  return { apiKey: await organization.addGeneratedKey(), hasSampleWorkspace }
}
