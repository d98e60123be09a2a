/** The first key of a node that has none. */
import type { Config } from '#config/config.ts'
import { loadSampleWorkspace } from '#management/environment/sample-workspace.ts'
import type { OpenEnvironments } from '#management/organization/open-environments.ts'
import type { Organization } from '#management/organization/organization.ts'

/**
 * Makes a key when there is none yet, or none any more that anybody could use. The first start, if nothing is configured,
 * fills the default environment with the sample workspace, too.
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
  // The sample first: a crash before the key is kept makes the next start a first one again.
  if (hasSampleWorkspace) {
    for (const { service } of environments.all()) if (service) await loadSampleWorkspace(service)
  }
  return { apiKey: await organization.addGeneratedKey(), hasSampleWorkspace }
}
