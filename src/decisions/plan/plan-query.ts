/** Converts the body of a plan to its question (filter.md P2 to P10). */
import { AuthzError } from '#model/errors.ts'
import { COLUMN_NAME_BYTES_MAX, FILTER_IDS_DEFAULT, PLAN_COLUMNS_MAX } from '#model/limits.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import type { PlanQuery } from '#model/wire/decisions/plan.ts'
import type { DeclaredColumn, PlannedQuestion } from './planned-question.ts'
import { NativeQueryContext } from '#decisions/questions/request-attributes.ts'

/** Attributes that the service computes (conditions.md 4.1). */
const COMPUTED_NAMES: readonly string[] = ['type', 'key', 'tenant']
const DOT_OR_CONTROL = /[.\p{Cc}]/u

/** `readAt` is the time at which the request was read, in milliseconds since 1970. */
export function plannedQuestionOf(body: PlanQuery, readAt: number): PlannedQuestion {
  const { user, action, resource, columns, tenants_agree: tenantsAgree, max_ids: idsMax } = body
  if (resource.key) {
    throw invalid(
      ['resource', 'key'],
      'a plan applies to all rows: omit the key, or check one row with /allowed',
    )
  }
  const sent = new Set(Object.keys(resource.attributes ?? {}))
  const declared = Object.entries(columns?.attributes ?? {})
  const relations = columns?.relations ?? []
  requireAtMost(declared.length, 'columns.attributes')
  requireAtMost(relations.length, 'columns.relations')
  return {
    user: user.key,
    action,
    type: resource.type,
    tenant: resource.tenant ?? null,
    hasTenantColumn: columns?.tenant ?? false,
    attributes: declared.map(([name, { type, nulls }]): DeclaredColumn => {
      requireName(name, sent)
      return { name, type, nulls: nulls ?? 'sent' }
    }),
    relations: relations.toSorted(compareUtf8),
    tenantsAgree: tenantsAgree ?? false,
    idsMax: idsMax ?? FILTER_IDS_DEFAULT,
    queryContext: new NativeQueryContext(body, readAt),
  }
}

function requireName(name: string, sent: ReadonlySet<string>): void {
  const loc = ['columns', 'attributes', name]
  if (name === '' || DOT_OR_CONTROL.test(name)) {
    throw invalid(loc, 'is not the name of a column: expected a text without dots and control characters')
  }
  if (COMPUTED_NAMES.includes(name)) {
    throw invalid(loc, `is not the name of a column: the service computes ${COMPUTED_NAMES.join(', ')}`)
  }
  if (Buffer.byteLength(name) > COLUMN_NAME_BYTES_MAX) {
    throw invalid(loc, `must be at most ${COLUMN_NAME_BYTES_MAX} bytes of UTF-8`)
  }
  if (sent.has(name)) {
    throw invalid(loc, 'is not the name of a column: resource.attributes has an attribute with this name')
  }
}

function requireAtMost(count: number, place: string): void {
  if (count <= PLAN_COLUMNS_MAX) return
  throw new AuthzError(
    'LIMIT_EXCEEDED',
    `${place}: a plan has at most ${PLAN_COLUMNS_MAX} columns of this kind, got ${count}; omit columns that no rule reads`,
    { limit: 'plan' },
  )
}

function invalid(loc: readonly string[], msg: string): AuthzError {
  const detail = [{ loc: ['body', ...loc], msg, type: 'value_error' }]
  return new AuthzError('INVALID_SHAPE', `${loc.join('.')}: ${msg}`, { detail })
}
