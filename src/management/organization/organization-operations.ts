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
  getActiveOrganization,
  getOrganization,
  listMembers,
  listOrganizations,
} from './organization-read.ts'
import { createProject, deleteProject, getProject, listProjects, updateProject } from './projects.ts'

export const organizationReads = {
  getActiveOrganization,
  getApiKey,
  getEnvironment,
  getEnvironmentApiKey,
  getOrganization,
  getProject,
  listApiKeys,
  listEnvironments,
  listMembers,
  listOrganizationAuditEntries: listAuditEntries,
  listOrganizations,
  listProjects,
}

export const organizationWrites = {
  createApiKey,
  createEnvironment,
  createProject,
  deleteApiKey,
  deleteEnvironment,
  deleteProject,
  rotateApiKey,
  updateApiKey,
  updateEnvironment,
  updateProject,
}

export type OrganizationOperations = typeof organizationReads & typeof organizationWrites

/** An operation whose name is known only at run time; its input was validated against the route's schemas. */
export type OrganizationRead = (context: OrganizationReadContext, input: unknown) => unknown
export type OrganizationWrite = (context: OrganizationWriteContext, input: unknown) => unknown
