/** Requests a check with its explanation, and repeats the request when the environment changes. */
import { useQuery } from '@tanstack/react-query'
import type { Explained } from '../explanation/explained.ts'
import { answerOf, service } from '../interface/client.ts'
import { Problem } from '../interface/problem.ts'
import { type CurrentEnvironment, useCurrentEnvironment } from '../shell/current-environment.tsx'
import { bodyOf, isComplete, type Question } from './question.ts'

export interface Explanation {
  readonly explained: Explained
  /** The decision reflects this revision or a later one. */
  readonly revision: string | null
  /**
   * Tenant in which the resource is stored. Null if the resource is not stored, and undefined if this is
   * unknown.
   */
  readonly storedIn: string | null | undefined
  readonly askedAt: string
}

/** `isAllowedToAsk` states whether the key of the session can request decisions. */
export function useExplanation(question: Question, isAllowedToAsk: boolean) {
  const environment = useCurrentEnvironment()
  return useQuery({
    queryKey: environment.key('any', 'explanation', question),
    queryFn: ({ signal }) => explain(environment, question, signal),
    enabled: isAllowedToAsk && isComplete(question),
    staleTime: 0,
  })
}

async function explain(
  environment: CurrentEnvironment,
  question: Question,
  signal: AbortSignal,
): Promise<Explanation> {
  // The decision must reflect all earlier changes, so the current revision is sent with the request.
  const revision = await revisionOf(environment, signal)
  const explained = await answerOf(
    service.POST('/allowed/explain', {
      params: {
        query: { full: true },
        header: revision === null ? {} : { 'X-Min-Revision': revision },
      },
      headers: environment.header,
      body: bodyOf(question),
      signal,
    }),
  )
  const isTypeKnown = explained.debug.rbac.code !== 'no_such_resource'
  const storedIn = isTypeKnown ? await tenantOf(environment, question, signal) : undefined
  return { explained, revision, storedIn, askedAt: new Date().toISOString() }
}

async function revisionOf({ path }: CurrentEnvironment, signal: AbortSignal): Promise<string | null> {
  const { error, response } = await service.GET('/v2/facts/{proj_id}/{env_id}/tenants', {
    params: { path, query: { per_page: 1 } },
    signal,
  })
  if (!response.ok) throw Problem.of(response, error)
  return response.headers.get('x-revision')
}

const NAMESAKES_MAX = 100

/**
 * Tenant in which the resource is stored. The list of instances is requested, because it is also successful
 * if the resource does not exist.
 */
async function tenantOf({ path }: CurrentEnvironment, { type, key }: Question, signal: AbortSignal) {
  if (key === '') return undefined
  const answered = await service.GET('/v2/facts/{proj_id}/{env_id}/resource_instances', {
    params: { path, query: { resource: type, search: key, per_page: NAMESAKES_MAX } },
    signal,
  })
  // If the list cannot be read, the decision is still valid, so the tenant is left unknown.
  if (answered.data === undefined) return undefined
  const found = 'data' in answered.data ? answered.data.data : answered.data
  const stored = found.find(instance => instance.key === key)
  if (stored !== undefined) return stored.tenant ?? undefined
  return found.length < NAMESAKES_MAX ? null : undefined
}
