/**
 * What nodes did in the last minutes. Behind a balancer one answer is of this node and the next of that one: of each the last answer is
 * kept, and each is whole.
 */
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas, service } from '../../interface/client.ts'
import { Problem } from '../../interface/problem.ts'
import { AGAIN_MS } from '../health.ts'

export type Recent = Schemas['RecentFigures']
export type Sample = Recent['samples'][number]

export const SHOWN_MS = 15 * 60_000

/** The answers of all nodes that answered while somebody looked, by when each answered first. */
export function useRecent() {
  return useQuery<readonly Recent[]>({
    queryKey: ['recent'],
    queryFn: async ({ signal, client }) => {
      const answered = await answerOf(service.GET('/v2/nodes/this/recent', { signal }))
      return withAnswer(client.getQueryData<readonly Recent[]>(['recent']) ?? [], answered)
    },
    // Who may not read this is told so once.
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
