/** Projects and their environments (native.md B.13), for organization keys and project keys. */
import type { Route } from '#http/routing/route.ts'
import {
  Environment,
  EnvironmentCopy,
  EnvironmentCreate,
  EnvironmentList,
  EnvironmentPath,
  EnvironmentsQuery,
  EnvironmentStats,
  EnvironmentUpdate,
  EnvironmentWithEmail,
} from '#model/wire/organization/environment.ts'
import {
  Project,
  ProjectCreate,
  ProjectList,
  ProjectPath,
  ProjectsQuery,
  ProjectUpdate,
} from '#model/wire/organization/project.ts'
import type { ManageOrganization } from './managed.ts'

const PROJECTS = '/v2/projects'
const PROJECT = `${PROJECTS}/{proj_id}`
const ENVIRONMENTS = `${PROJECT}/envs`
const ENVIRONMENT = `${ENVIRONMENTS}/{env_id}`

export function projectRoutes(manage: ManageOrganization): Route[] {
  return [
    manage({
      operation: 'listProjects',
      level: 'read',
      method: 'GET',
      path: PROJECTS,
      summary: 'List projects',
      access: 'project',
      query: ProjectsQuery,
      answer: ProjectList,
    }),
    manage({
      operation: 'createProject',
      level: 'admin',
      method: 'POST',
      path: PROJECTS,
      summary: 'Create a project with its initial environments, all or nothing',
      access: 'organization',
      body: ProjectCreate,
      answer: Project,
      refusals: [409],
    }),
    manage({
      operation: 'getProject',
      level: 'read',
      method: 'GET',
      path: PROJECT,
      summary: 'Read a project',
      access: 'project',
      params: ProjectPath,
      answer: Project,
    }),
    manage({
      operation: 'updateProject',
      level: 'admin',
      method: 'PATCH',
      path: PROJECT,
      summary: 'Change a project; each given field replaces the whole old value',
      access: 'project',
      params: ProjectPath,
      body: ProjectUpdate,
      answer: Project,
    }),
    manage({
      operation: 'deleteProject',
      level: 'admin',
      method: 'DELETE',
      path: PROJECT,
      summary: 'Delete a project, its environments and their API keys',
      access: 'project',
      params: ProjectPath,
    }),
  ]
}

export function environmentRoutes(manage: ManageOrganization): Route[] {
  return [
    manage({
      operation: 'listEnvironments',
      level: 'read',
      method: 'GET',
      path: ENVIRONMENTS,
      summary: 'List the environments of a project',
      access: 'project',
      params: ProjectPath,
      query: EnvironmentsQuery,
      answer: EnvironmentList,
    }),
    manage({
      operation: 'createEnvironment',
      level: 'admin',
      method: 'POST',
      path: ENVIRONMENTS,
      summary: 'Create an environment and its first API key',
      access: 'project',
      params: ProjectPath,
      body: EnvironmentCreate,
      answer: Environment,
      refusals: [409],
    }),
    manage({
      operation: 'getEnvironment',
      level: 'read',
      method: 'GET',
      path: ENVIRONMENT,
      summary: 'Read an environment',
      access: 'project',
      params: EnvironmentPath,
      answer: EnvironmentWithEmail,
    }),
    manage({
      operation: 'updateEnvironment',
      level: 'admin',
      method: 'PATCH',
      path: ENVIRONMENT,
      summary: 'Change an environment; each given field replaces the whole old value',
      access: 'project',
      params: EnvironmentPath,
      body: EnvironmentUpdate,
      answer: Environment,
    }),
    manage({
      operation: 'deleteEnvironment',
      level: 'admin',
      method: 'DELETE',
      path: ENVIRONMENT,
      summary: 'Delete an environment, all its content and its API keys',
      access: 'project',
      params: EnvironmentPath,
    }),
    manage({
      operation: 'getEnvironmentStats',
      level: 'read',
      method: 'GET',
      path: `${ENVIRONMENT}/stats`,
      summary: 'Count the entities in an environment',
      access: 'project',
      params: EnvironmentPath,
      answer: EnvironmentStats,
    }),
    manage({
      operation: 'copyEnvironment',
      level: 'admin',
      method: 'POST',
      path: `${ENVIRONMENT}/copy`,
      summary: 'Copy the schema of an environment into another one of the project, atomically',
      access: 'project',
      params: EnvironmentPath,
      body: EnvironmentCopy,
      answer: Environment,
      refusals: [409],
      alwaysCreates: true,
    }),
  ]
}
