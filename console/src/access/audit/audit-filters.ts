/** Filters of the audit log and their names in the address. */
import type { Filters } from '../address.ts'

/**
 * The filter `about` is the kind of the entity whose key is in the filter `named`. `actor` is a claimed
 * name, and `member` is the id of a member.
 */
export const AUDIT_FILTERS = [
  'operation',
  'about',
  'named',
  'key',
  'actor',
  'member',
  'request',
  'since',
  'until',
] as const
export type AuditFilters = Filters<(typeof AUDIT_FILTERS)[number]>
export const NO_FILTERS: AuditFilters = {
  operation: '',
  about: '',
  named: '',
  key: '',
  actor: '',
  member: '',
  request: '',
  since: '',
  until: '',
}
