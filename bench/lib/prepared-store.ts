/**
 * A store on disk with a dataset in the default environment. The store is created once and cached in the
 * temporary directory. Each run uses a copy. A service that starts on it makes the decisions of the dataset.
 */
import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiKeySecrets } from '../../src/secrets/api-key-secrets.ts'
import { OrganizationState, ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import { RowLoader } from '#testing/processes/row-loader.ts'
import type { Dataset } from '#testing/data/dataset.ts'
import { storedRows } from '../data/stored-rows.ts'
import { newId } from '../data/bulk-store.ts'

export const API_KEY = 'bench-key-bench-key'
/** Version of the cached store. Increment it when the stored format or a dataset changes. */
const VERSION = 2

/** Returns the URL of the store. The first call takes one or two minutes for millions of facts. */
export async function preparedStore(dataset: Dataset): Promise<string> {
  const directory = join(tmpdir(), `verdict-bench-${dataset.name.replaceAll(' ', '-')}-${VERSION}`)
  if (!existsSync(directory)) {
    const unfinished = `${directory}-unfinished`
    rmSync(unfinished, { recursive: true, force: true })
    mkdirSync(unfinished, { recursive: true })
    await fill(`lmdb:${unfinished}`, dataset)
    renameSync(unfinished, directory)
  }
  const copy = `${directory}-in-use`
  rmSync(copy, { recursive: true, force: true })
  cpSync(directory, copy, { recursive: true })
  return `lmdb:${copy}`
}

async function fill(url: string, dataset: Dataset): Promise<void> {
  const store = await openStore(url, listRule)
  const secrets = new ApiKeySecrets(null)
  const runtime = {
    now: Date.now,
    elapsedMs: () => performance.now(),
    newId,
    newCommitId: () => randomBytes(16),
    newSecret: () => randomBytes(32).toString('hex'),
    seal: () => null,
    attributesBytesMax: 65_536,
    onCommit: () => {},
    onBackgroundFault: (error: unknown) => {
      throw error
    },
  }
  const organizationStore = await store.environment(ORGANIZATION_STORE_ID)
  const organization = new OrganizationState(organizationStore, runtime, secrets)
  await organization.bootstrap({ apiKey: API_KEY, apiKeyAccessLevel: 'admin', adminApiKey: null }, store)
  const { environmentId } = organization.environments()[0]!.scope
  const loader = new RowLoader((await store.environment(environmentId)).ledger)
  for (const record of storedRows(dataset)) await loader.add(record)
  await loader.flush()
  await store.close()
}
