/** An organization of which nothing is opened: its rows and its operations. */
import { onTestFinished } from 'vitest'
import { ApiKeySecrets } from '#secrets/api-key-secrets.ts'
import { Organization } from '#management/organization/organization.ts'
import { OrganizationService } from '#management/organization/organization-service.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open-store.ts'
import { surroundingsWith } from './surroundings.ts'

export async function organizationService(url = 'memory:') {
  const store = await openStore(url, listRule)
  onTestFinished(() => store.close())
  const surroundings = surroundingsWith()
  const secrets = new ApiKeySecrets(null)
  const organization = new Organization(await store.environment('organization'), surroundings, secrets)
  await organization.bootstrap({ apiKey: 'a-configured-key-for-tests', adminApiKey: null }, store)
  const whenInForce = () => Promise.resolve()
  const options = {
    organization,
    surroundings,
    secrets,
    keyOverlapSeconds: 0,
    closureOf: () => null,
    lastUseOf: () => null,
    whenInForce,
  }
  return { organization, service: new OrganizationService(options) }
}
