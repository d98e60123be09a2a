/** Lists of rules, filtered by their sides and permissions (conditions.md 2). */
import type { ReadContext } from '#management/drafts/context.ts'
import { findType } from '#management/drafts/lookups.ts'
import { arrayOrEnvelope, type Page } from '#management/paging/paging.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { type Filter, idFilter, pageOfSelection } from '#management/paging/selection.ts'
import type { RuleRecord } from '#entities/records.ts'
import type { SetRule, SetRulesQuery } from '#entities/set-rule.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { actionsNamed, findResourceSide, findUserSide, partsOfRule } from './rule-sides.ts'
import { presentRule } from './set-rules.ts'

/** Lists rules in creation order. A filter by an unknown reference matches nothing. */
export function* listSetRules(
  context: ReadContext,
  input: { readonly query: SetRulesQuery },
): Resumable<Page<SetRule> | SetRule[]> {
  const { records } = context
  const { query } = input
  const hasTotal = query.include_total_count ?? false
  const page = yield* pageOfSelection(records, {
    kind: 'rule',
    all: lists.all('rule'),
    filters: [
      sideFilter(query.user_set, lists.rulesOfUserSide, {
        find: reference => findUserSide(records, reference, false),
        idOf: rule => rule.userSideId,
      }),
      sideFilter(query.resource_set, lists.rulesOfResourceSide, {
        find: reference => findResourceSide(records, reference, false),
        idOf: rule => rule.resourceSideId,
      }),
      yield* permissionFilter(records, query.permission),
    ],
    paging: query,
    hasTotal,
    present: rule => presentRule(context, rule, partsOfRule(records, rule)),
  })
  return arrayOrEnvelope(page, hasTotal)
}

/** Whether a filter is given. Clients send an empty string if they do not filter. */
function isGiven(reference: string | undefined): reference is string {
  return reference !== undefined && reference !== ''
}

function sideFilter(
  reference: string | undefined,
  listOf: (typeof lists)['rulesOfUserSide'],
  side: {
    readonly find: (reference: string) => { readonly id: string } | null
    readonly idOf: (rule: RuleRecord) => string
  },
): Filter<RuleRecord> | null {
  if (!isGiven(reference)) return null
  const found = side.find(reference)
  return idFilter(found === null ? [] : [found.id], listOf, side.idOf)
}

/** Accepts `resource:action`, the key of an action of any resource type, or the id of an action. */
function* permissionFilter(
  records: RecordReader,
  reference: string | undefined,
): Resumable<Filter<RuleRecord> | null> {
  if (!isGiven(reference)) return null
  const ids = yield* actionIds(records, reference)
  return idFilter(ids, lists.rulesOfAction, rule => rule.actionId)
}

function* actionIds(records: RecordReader, reference: string): Resumable<string[]> {
  const colon = reference.indexOf(':')
  if (colon < 0) return (yield* actionsNamed(records, reference)).map(({ action }) => action.id)
  const type = findType(records, reference.slice(0, colon))
  const key = reference.slice(colon + 1)
  return (type?.actions ?? []).flatMap(action => (action.key === key ? [action.id] : []))
}

export const reads = { listSetRules }
