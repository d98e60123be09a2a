/**
 * Samples of the last minutes, separately for each node. Behind a load balancer, responses come from
 * different nodes. Each response is complete for its node, so the last response of each node is kept.
 */
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas, service } from '../../interface/client.ts'
import { Problem } from '../../interface/problem.ts'
import { AGAIN_MS } from '../health.ts'

export type Recent = Schemas['RecentFigures']
export type Sample = Recent['samples'][number]

export const SHOWN_MS = 15 * 60_000

/**
 * Last response of each node that has responded while the page is open, in the order of their first
 * responses.
 */
export function useRecent() {
  return useQuery<readonly Recent[]>({
    queryKey: ['recent'],
    queryFn: async ({ signal, client }) => {
      const answered = await answerOf(service.GET('/v2/nodes/this/recent', { signal }))
      return withAnswer(client.getQueryData<readonly Recent[]>(['recent']) ?? [], answered)
    },
    // Polling stops if the session is not allowed to read the samples.
    refetchInterval: ({ state: { error } }) =>
      error instanceof Problem && error.status === 403 ? false : AGAIN_MS,
  })
}

function withAnswer(known: readonly Recent[], answered: Recent): readonly Recent[] {
  const from = Date.now() - SHOWN_MS
  const others = known.filter(
    ({ node, samples }) => node.id !== answered.node.id && new Date(samples.at(-1)?.at ?? 0).getTime() > from,
  )
  const place = known.findIndex(({ node }) => node.id === answered.node.id)
  return place < 0 ? [...others, answered] : others.toSpliced(place, 0, answered)
}
