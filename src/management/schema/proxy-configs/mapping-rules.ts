/** Mapping rules in the form of records and of responses (conditions.md 10.4). */
import { findType, notFound, requireType } from '#management/drafts/lookups.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import type { MappingRuleRecord } from '#entities/records.ts'
import { idFrom } from '#model/instance-reference.ts'
import type { MappingRuleRead, MappingRuleStored, MappingRuleWrite } from '#entities/proxy-config.ts'

/**
 * Converts rules to records with resource types and actions by key. Throws `NOT_FOUND` for an unknown one.
 * If the resource type or the action of a rule is removed later, the rule stays, and requests that match
 * the rule are denied.
 */
function* namedRules(
  records: RecordReader,
  rules: readonly MappingRuleStored[],
): Resumable<MappingRuleRecord[]> {
  const named: MappingRuleRecord[] = []
  for (const rule of rules) {
    const type = requireType(records, rule.resource)
    const action = rule.action ?? null
    const known =
      action === null
        ? null
        : (type.actions.find(({ key }) => key === action) ??
          type.actions.find(({ id }) => id === idFrom(action)))
    if (known === undefined) throw notFound('action', `${type.key}:${action}`)
    named.push({
      url: rule.url,
      method: rule.http_method,
      type: type.key,
      action: known?.key ?? null,
      priority: rule.priority ?? null,
      headers: rule.headers ?? {},
      ...declared(rule),
    })
    if (named.length % YIELD_ROWS === 0) yield
  }
  return named
}

/** Declarations of a rule about its server, in the form of records. */
export function declared({
  case_sensitive,
  encoded_slashes,
}: MappingRuleStored): Pick<MappingRuleRecord, 'caseSensitive' | 'encodedSlashes'> {
  return {
    ...(case_sensitive && { caseSensitive: true }),
    ...(encoded_slashes && { encodedSlashes: encoded_slashes }),
  }
}

export function presentMappingRule(rule: MappingRuleRecord): MappingRuleRead {
  const { url, method, type, action, priority, headers, caseSensitive, encodedSlashes } = rule
  return {
    url,
    http_method: method,
    resource: type,
    headers,
    action,
    priority,
    ...(caseSensitive && { case_sensitive: true }),
    ...(encodedSlashes && { encoded_slashes: encodedSlashes }),
  }
}

/**
 * The rules of a config after an update (`MappingRuleWrite`); a new config has no previous rules. A rule that
 * is marked for deletion is found by its URL, method and resource type, and by its action if given. These may
 * no longer exist.
 */
export function* changedRules(
  records: RecordReader,
  rules: readonly MappingRuleRecord[],
  update: readonly MappingRuleWrite[],
): Resumable<MappingRuleRecord[]> {
  const marked = update.filter(({ should_delete }) => should_delete === true)
  if (marked.length === 0 || marked.length < update.length) {
    return yield* namedRules(
      records,
      update.filter(({ should_delete }) => should_delete !== true),
    )
  }
  const markedOf = Map.groupBy(marked, ({ url }) => url)
  return rules.filter(
    ({ url, method, type, action }) =>
      !markedOf.get(url)?.some(rule => {
        const key = findType(records, rule.resource)?.key ?? rule.resource
        return rule.http_method === method && key === type && (rule.action ?? action) === action
      }),
  )
}
