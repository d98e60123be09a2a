/**
 * The table of operations on the organization itself. Like those on one environment, they are pure functions
 * of its records.
 */
import { listAuditEntries } from '#management/audit/audit.ts'
import {
  createApiKey,
  deleteApiKey,
  getApiKey,
  getEnvironmentApiKey,
  listApiKeys,
  rotateApiKey,
  updateApiKey,
} from './api-keys.ts'
import {
  createEnvironment,
  deleteEnvironment,
  getEnvironment,
  listEnvironments,
  updateEnvironment,
} from './environments.ts'
import type {
  OrganizationReadContext,
  OrganizationWriteContext,
} from '#management/scopes/organization-context.ts'
import {
  createMemberGroup,
  deleteMemberGroup,
  getMemberGroup,
  listMemberGroups,
  replaceMemberGroup,
} from '#management/members/member-groups.ts'
import {
  createMember,
  deleteMember,
  deleteMemberPermissions,
  getMember,
  getOwnMember,
  listMembers,
  updateMember,
} from '#management/members/members.ts'
import { deleteSession, endSession, getSession, listSessions } from '#management/sessions/sessions.ts'
import { getActiveOrganization, getOrganization, listOrganizations } from './organization-read.ts'
import { createProject, deleteProject, getProject, listProjects, updateProject } from './projects.ts'

export const organizationReads = {
  getActiveOrganization,
  getApiKey,
  getEnvironment,
  getEnvironmentApiKey,
  getMember,
  getMemberGroup,
  getOrganization,
  getOwnMember,
  getProject,
  listApiKeys,
  listEnvironments,
  listMemberGroups,
  listMembers,
  listOrganizationAuditEntries: listAuditEntries,
  listOrganizations,
  listProjects,
  getSession,
  listSessions,
}

export const organizationWrites = {
  createApiKey,
  createEnvironment,
  createMember,
  createMemberGroup,
  createProject,
  deleteApiKey,
  deleteEnvironment,
  deleteMember,
  deleteMemberGroup,
  deleteMemberPermissions,
  deleteProject,
  deleteSession,
  endSession,
  replaceMemberGroup,
  rotateApiKey,
  updateApiKey,
  updateEnvironment,
  updateMember,
  updateProject,
}

/** Operations that read an entity that can be changed with `If-Match`. */
export type OrganizationThing = 'getMember' | 'getMemberGroup'

export type OrganizationOperations = typeof organizationReads & typeof organizationWrites

/** An operation whose name is known only at run time; its input was validated against the route's schemas. */
export type OrganizationRead = (context: OrganizationReadContext, input: unknown) => unknown
export type OrganizationWrite = (context: OrganizationWriteContext, input: unknown) => unknown
