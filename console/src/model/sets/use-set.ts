/**
 * Loads a saved condition set with its `ETag`, which conditional writes need. Also loads the rules and sets
 * that depend on it.
 */
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas, service, taggedAnswerOf } from '../../interface/client.ts'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { type ConditionSet, draftOf, type SetDraft } from './set-draft.ts'

/** Maximum number of rules that are listed before a change. If there are more, only their number is shown. */
export const NAMED_RULES_MAX = 5
/** Maximum number of rules that an undo can restore together with their set. */
export const KEPT_RULES_MAX = 100

export interface SavedSet {
  readonly set: ConditionSet
  readonly draft: SetDraft
  readonly tag: string | null
}

export function useSet(key: string) {
  const environment = useCurrentEnvironment()
  return useQuery({
    queryKey: environment.key('condition_set', 'one', key),
    queryFn: async ({ signal }): Promise<SavedSet> => {
      const path = { ...environment.path, condition_set_id: key }
      const { value: set, tag } = await taggedAnswerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/condition_sets/{condition_set_id}', {
          params: { path },
          signal,
        }),
      )
      // The ancestors are read after the set. If the parent changes between the two reads, a write with the
      // older tag fails. With the reverse order, such a write would restore an outdated parent.
      const above = await answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/condition_sets/{condition_set_id}/ancestors', {
          params: { path, query: { per_page: 1 } },
          signal,
        }),
      )
      return { set, tag, draft: draftOf(set, above[0]?.key ?? null) }
    },
  })
}

export type SetRule = Schemas['SetRule']

interface RestingOnSet {
  /** The first rules that use the set. */
  readonly rules: readonly SetRule[]
  readonly total: number
  /** Child sets. At most one page of them is loaded. */
  readonly below: readonly ConditionSet[]
}

export function useRestingOn(set: Pick<ConditionSet, 'key' | 'type'>) {
  const environment = useCurrentEnvironment()
  const { key, type } = set
  return useQuery({
    queryKey: environment.key(['set_rule', 'condition_set'], 'resting-on-set', key, type),
    queryFn: async ({ signal }): Promise<RestingOnSet> => {
      const [rules, below] = await Promise.all([
        answerOf(
          service.GET('/v2/facts/{proj_id}/{env_id}/set_rules', {
            params: {
              path: environment.path,
              query: {
                ...(type === 'userset' ? { user_set: key } : { resource_set: key }),
                per_page: KEPT_RULES_MAX,
                include_total_count: true,
              },
            },
            signal,
          }),
        ),
        answerOf(
          service.GET('/v2/schema/{proj_id}/{env_id}/condition_sets/{condition_set_id}/descendants', {
            params: { path: { ...environment.path, condition_set_id: key } },
            signal,
          }),
        ),
      ])
      return 'data' in rules
        ? { rules: rules.data, total: rules.total_count, below }
        : { rules, total: rules.length, below }
    },
  })
}
