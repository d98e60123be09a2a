/**
 * Warns about mapping rules that can never match, because another rule with precedence matches all of their
 * URLs.
 */
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { type PlacedRule, rulesThatNeverDecide } from '#model/mapping-order.ts'
import type { ProxyConfigRecord } from '#entities/records.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { mappingChange } from '#replica/record-changes.ts'

/** Maximum number of rules that one warning names. */
const RULES_NAMED_MAX = 5

interface RuleLocation {
  readonly config: string
  readonly index: number
}

/**
 * Returns the warning about such rules; null if the changed config contains none and causes none in other
 * configs.
 */
export function* warningOfRules(records: RecordReader, changed: ProxyConfigRecord): Resumable<string | null> {
  const configs = [
    changed,
    ...[...records.list('proxy-config', lists.all('proxy-config'))].filter(({ id }) => id !== changed.id),
  ].toSorted((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1))
  const rules = configs.flatMap(config =>
    mappingChange(config).rules.map((rule, index): PlacedRule<RuleLocation> => ({
      rule,
      place: { config: config.key, index },
    })),
  )
  const isOfChanged = ({ config }: RuleLocation) => config === changed.key
  const all = yield* rulesThatNeverDecide(rules)
  const affected = all.filter(({ rule, because }) => isOfChanged(rule) || isOfChanged(because))
  if (affected.length === 0) return null
  const named = affected
    .slice(0, RULES_NAMED_MAX)
    .map(({ rule, because }) => `${nameOf(rule)} because of ${nameOf(because)}`)
  const more = affected.length > named.length ? `, and ${affected.length - named.length} more` : ''
  return (
    `mapping rules without effect, because a preceding rule matches all of their URLs: ${named.join(', ')}${more}; ` +
    'remove them or give them a higher priority'
  )
}

function nameOf({ config, index }: RuleLocation): string {
  return `mapping_rules.${index} of ${config}`
}
