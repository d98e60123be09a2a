/** Audit log: changes that were made through the management API, each with its API key and time. */
import type { Route } from '#http/routing/route.ts'
import {
  AuditEntryEnvelope,
  AuditPath,
  AuditQuery,
  OrganizationAuditQuery,
} from '#model/wire/organization/audit.ts'
import { managed, type ManagementGateway, type ManageOrganization } from './managed.ts'

const AUDIT_LOG = '/v2/audit-log'

export function auditRoutes(gateway: ManagementGateway, manageOrganization: ManageOrganization): Route[] {
  return [
    managed(gateway)({
      operation: 'listAuditEntries',
      level: 'read',
      method: 'GET',
      path: `${AUDIT_LOG}/{proj_id}/{env_id}`,
      summary: 'List changes in an environment, with API key and time',
      params: AuditPath,
      query: AuditQuery,
      answer: AuditEntryEnvelope,
    }),
    manageOrganization({
      operation: 'listOrganizationAuditEntries',
      level: 'read',
      method: 'GET',
      path: AUDIT_LOG,
      summary: 'List changes of projects, environments and API keys, with API key and time',
      access: 'organization',
      query: OrganizationAuditQuery,
      answer: AuditEntryEnvelope,
    }),
  ]
}
