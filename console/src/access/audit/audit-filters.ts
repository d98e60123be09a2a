/** What narrows the log, by the names that its address has. */
import type { Filters } from '../address.ts'

export const AUDIT_FILTERS = ['operation', 'key', 'request', 'since', 'until'] as const
export type AuditFilters = Filters<(typeof AUDIT_FILTERS)[number]>
export const NO_FILTERS: AuditFilters = { operation: '', key: '', request: '', since: '', until: '' }
