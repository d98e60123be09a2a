/** Audit log: changes through the management API, with their keys and times. */
import type { Route } from '#http/routing/route.ts'
import { AuditEntryEnvelope, AuditPath, AuditQuery, OrganizationAuditQuery } from '#model/wire/audit.ts'
import { managed, type ManagementGateway, type ManageOrganization } from './managed.ts'

const AUDIT_LOG = '/v2/audit-log'

export function auditRoutes(gateway: ManagementGateway, manageOrganization: ManageOrganization): Route[] {
  return [
    managed(gateway)({
      operation: 'listAuditEntries',
      method: 'GET',
      path: `${AUDIT_LOG}/{proj_id}/{env_id}`,
      summary: 'What was changed in an environment, by which key, when',
      params: AuditPath,
      query: AuditQuery,
      answer: AuditEntryEnvelope,
    }),
    manageOrganization({
      operation: 'listOrganizationAuditEntries',
      method: 'GET',
      path: AUDIT_LOG,
      summary: 'What was changed of projects, environments and keys, by which key, when',
      access: 'organization',
      query: OrganizationAuditQuery,
      answer: AuditEntryEnvelope,
    }),
  ]
}
