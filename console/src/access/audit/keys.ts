/** The names of API keys, for those who may read them: the key of an environment may not. */
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas, service } from '../../interface/client.ts'
import type { Option } from '../../parts/fields.tsx'
import { useScope } from '../../session/scope.ts'
import type { Texts } from '../../texts/en.ts'

const OPTIONS_MAX = 100
const NAMES_KEPT_MS = 60_000

/** What the interface takes for the key in `ADMIN_API_KEY`. */
export const ADMIN = 'admin'

export function useReadsKeys(): boolean {
  const { data } = useScope()
  return data !== undefined && !data.environment_id
}

/** Null: it may not be read, or is not there any more. */
export function useKeyName(id: string | null): string | null {
  const readsKeys = useReadsKeys()
  const { data } = useQuery({
    queryKey: ['api-key-names'],
    queryFn: ({ signal }) => listKeys(signal),
    enabled: readsKeys && id !== null,
    staleTime: NAMES_KEPT_MS,
  })
  return data?.find(key => key.id === id)?.name ?? null
}

/** The first that the key in use manages. */
async function listKeys(signal: AbortSignal): Promise<readonly Schemas['ApiKey'][]> {
  const params = { query: { per_page: OPTIONS_MAX } }
  return (await answerOf(service.GET('/v2/api-key', { params, signal }))).data
}

export function keysLike(readsKeys: boolean, said: Texts['access']['audit']) {
  return async (search: string, signal: AbortSignal): Promise<readonly Option[]> => {
    const part = search.toLowerCase()
    const keys = readsKeys ? await listKeys(signal) : []
    const options = [
      { id: ADMIN, note: said.adminKey },
      ...keys.map(({ id, name }) => ({ id, ...(name === null ? {} : { note: name }) })),
    ]
    return options.filter(({ id, note = '' }) => `${id} ${note}`.toLowerCase().includes(part))
  }
}
