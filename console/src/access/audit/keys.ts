/**
 * Loads the names of API keys. Only some sessions are allowed to read keys. A session with an environment key
 * is not allowed to read them.
 */
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas, service } from '../../interface/client.ts'
import { Problem } from '../../interface/problem.ts'
import type { Option } from '../../parts/fields.tsx'
import { useManagesKeys } from '../../session/held.ts'
import type { Texts } from '../../texts/en.ts'

const OPTIONS_MAX = 100
const NAMES_KEPT_MS = 60_000

/** Identifier of the key in `ADMIN_API_KEY`, as the API uses it. */
export const ADMIN = 'admin'

export function useReadsKeys(): boolean {
  return useManagesKeys() === true
}

/** Null if the session is not allowed to read the key or if the key no longer exists. */
export function useKeyName(id: string | null): string | null {
  const readsKeys = useReadsKeys()
  const { data } = useQuery({
    queryKey: ['api-key-names'],
    queryFn: ({ signal }) => listKeys('', signal),
    enabled: readsKeys && id !== null,
    staleTime: NAMES_KEPT_MS,
  })
  const isLacking = data !== undefined && data.length === OPTIONS_MAX && !data.some(key => key.id === id)
  const { data: other } = useQuery({
    queryKey: ['api-key-names', id],
    queryFn: ({ signal }) => nameOf(id!, signal),
    enabled: readsKeys && id !== null && isLacking,
    staleTime: NAMES_KEPT_MS,
  })
  return data?.find(key => key.id === id)?.name ?? other ?? null
}

/** Null if the key has no name or no longer exists. */
async function nameOf(id: string, signal: AbortSignal): Promise<string | null> {
  const params = { path: { api_key_id: id } }
  try {
    return (await answerOf(service.GET('/v2/api-key/{api_key_id}', { params, signal }))).name
  } catch (problem) {
    if (problem instanceof Problem && problem.status === 404) return null
    throw problem
  }
}

/** Returns the first keys that the session can manage and whose name or ID contains the search text. */
async function listKeys(search: string, signal: AbortSignal): Promise<readonly Schemas['ApiKey'][]> {
  const params = { query: { per_page: OPTIONS_MAX, ...(search === '' ? {} : { search }) } }
  return (await answerOf(service.GET('/v2/api-key', { params, signal }))).data
}

export function keysLike(readsKeys: boolean, labels: Texts['access']['audit']) {
  return async (search: string, signal: AbortSignal): Promise<readonly Option[]> => {
    const part = search.toLowerCase()
    const keys = readsKeys ? await listKeys(search, signal) : []
    const options = [
      { id: ADMIN, note: labels.adminKey },
      ...keys.map(({ id, name }) => ({ id, ...(name === null ? {} : { note: name }) })),
    ]
    return options.filter(({ id, note = '' }) => `${id} ${note}`.toLowerCase().includes(part))
  }
}
