/** What narrows the log, by the names that its address has. */
import type { Filters } from '../address.ts'

/** `about` is the kind of what is `named`. */
export const AUDIT_FILTERS = ['operation', 'about', 'named', 'key', 'request', 'since', 'until'] as const
export type AuditFilters = Filters<(typeof AUDIT_FILTERS)[number]>
export const NO_FILTERS: AuditFilters = {
  operation: '',
  about: '',
  named: '',
  key: '',
  request: '',
  since: '',
  until: '',
}
