/** Mapping rules as they are kept and shown (conditions, section 10.4). */
import { notFound, requireType } from '#management/commands/lookups.ts'
import type { RecordReader } from '#management/commands/record-reader.ts'
import { type Resumable, YIELD_ROWS } from '#management/commands/resumable.ts'
import type { MappingRuleRecord } from '#model/records.ts'
import type { MappingRuleCreate, MappingRuleRead } from '#model/wire/proxy-config.ts'

/**
 * Rules with their resources and actions by key. Throws `NOT_FOUND` for what is not there. They name them, and do not depend on them:
 * one whose resource or action is removed stays, and whoever it fits is denied.
 */
export function* namedRules(
  records: RecordReader,
  rules: readonly MappingRuleCreate[],
): Resumable<MappingRuleRecord[]> {
  const named: MappingRuleRecord[] = []
  for (const rule of rules) {
    const type = requireType(records, rule.resource)
    const action = rule.action ?? null
    const known =
      action === null
        ? null
        : (type.actions.find(({ key }) => key === action) ??
          type.actions.find(({ id }) => id === action.toLowerCase()))
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

/** Declarations of a rule about its server, as they are kept. */
export function declared({
  case_sensitive,
  encoded_slashes,
}: MappingRuleCreate): Pick<MappingRuleRecord, 'caseSensitive' | 'encodedSlashes'> {
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
