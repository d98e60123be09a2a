/** Asks a question, and again whenever something changes in the environment. */
import { useQuery } from '@tanstack/react-query'
import type { Explained } from '../explanation/explained.ts'
import { answerOf, service } from '../interface/client.ts'
import { Problem } from '../interface/problem.ts'
import { type Place, usePlace } from '../shell/place.tsx'
import { bodyOf, isComplete, type Question } from './question.ts'

export interface Explanation {
  readonly explained: Explained
  /** The state that it was answered on has this revision; perhaps newer ones. */
  readonly revision: string | null
  /** Where the resource is stored; null: it is not; undefined: that is not known. */
  readonly storedIn: string | null | undefined
  readonly askedAt: string
}

/** `isAllowedToAsk`: the key decides. */
export function useExplanation(question: Question, isAllowedToAsk: boolean) {
  const place = usePlace()
  return useQuery({
    queryKey: place.key('any', 'explanation', question),
    queryFn: ({ signal }) => explain(place, question, signal),
    enabled: isAllowedToAsk && isComplete(question),
    staleTime: 0,
  })
}

async function explain(place: Place, question: Question, signal: AbortSignal): Promise<Explanation> {
  // What was changed before is known to the answer.
  const revision = await revisionOf(place, signal)
  const explained = await answerOf(
    service.POST('/allowed/explain', {
      params: {
        query: { full: true },
        header: revision === null ? {} : { 'X-Min-Revision': revision },
      },
      body: bodyOf(question),
      signal,
    }),
  )
  const isTypeKnown = explained.debug.rbac.code !== 'no_such_resource'
  const storedIn = isTypeKnown ? await tenantOf(place, question, signal) : undefined
  return { explained, revision, storedIn, askedAt: new Date().toISOString() }
}

async function revisionOf({ path }: Place, signal: AbortSignal): Promise<string | null> {
  const { error, response } = await service.GET('/v2/facts/{proj_id}/{env_id}/tenants', {
    params: { path, query: { per_page: 1 } },
    signal,
  })
  if (!response.ok) throw Problem.of(response, error)
  return response.headers.get('x-revision')
}

const NAMESAKES_MAX = 100

/** The tenant in which the resource is stored. A list is asked: that there is none is an answer, not an error. */
async function tenantOf({ path }: Place, { type, key }: Question, signal: AbortSignal) {
  if (key === '') return undefined
  const answered = await service.GET('/v2/facts/{proj_id}/{env_id}/resource_instances', {
    params: { path, query: { resource: type, search: key, per_page: NAMESAKES_MAX } },
    signal,
  })
  // The answer to the question stands without it.
  if (answered.data === undefined) return undefined
  const found = 'data' in answered.data ? answered.data.data : answered.data
  const stored = found.find(instance => instance.key === key)
  if (stored !== undefined) return stored.tenant ?? undefined
  return found.length < NAMESAKES_MAX ? null : undefined
}
