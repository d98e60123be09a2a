/** Operations on projects, which group environments (native.md B.13). */
import { presentTimes } from '#management/drafts/context.ts'
import { pageOfLists } from '#management/paging/paging.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { searchFilter } from '#management/paging/selection.ts'
import { AuthzError } from '#model/errors.ts'
import { PROJECTS_MAX } from '#model/limits.ts'
import type { ProjectRecord } from '#entities/organization-records.ts'
import type { EnvironmentCreate } from '#model/wire/organization/environment.ts'
import type {
  Project,
  ProjectCreate,
  ProjectPath,
  ProjectsQuery,
  ProjectUpdate,
} from '#model/wire/organization/project.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { removeGrantsOn } from '#management/members/grant-removal.ts'
import { removeApiKeys } from './api-key-removal.ts'
import { addEnvironment, removeEnvironment } from './environments.ts'
import {
  mayTouch,
  type OrganizationReadContext,
  type OrganizationWriteContext,
  requireOrganization,
  requireProject,
  requireCapacity,
} from '#management/scopes/organization-context.ts'

const INITIAL_ENVIRONMENTS: readonly EnvironmentCreate[] = [
  { key: 'dev', name: 'Development' },
  { key: 'production', name: 'Production' },
]

/** Lists the projects that the caller may see, as a bare array in every case. */
export function* listProjects(
  context: OrganizationReadContext,
  input: { readonly query: ProjectsQuery },
): Resumable<Project[]> {
  const search = searchFilter(input.query.search, ({ key, name }: ProjectRecord) => [key, name])
  const page = yield* pageOfLists(context.records, {
    kind: 'project',
    lists: [lists.all('project')],
    paging: input.query,
    matches: project => mayTouch(context.principal, project) && (search?.matches(project) ?? true),
    present: project => presentProject(context, project),
  })
  return page.data
}

/** Creates a project with its initial environments, all or nothing. */
export function createProject(
  context: OrganizationWriteContext,
  input: { readonly body: ProjectCreate },
): Project {
  const { records, now } = context
  const { body } = input
  if (records.get('project', rowKeys.project(body.key))) {
    throw new AuthzError('DUPLICATE_ENTITY', `there is a project ${JSON.stringify(body.key)} already`)
  }
  requireCapacity(context, records.count(lists.all('project')), { what: 'projects', maximum: PROJECTS_MAX })
  const project: ProjectRecord = {
    kind: 'project',
    id: context.newId(),
    key: body.key,
    name: body.name,
    description: body.description ?? null,
    urnNamespace: body.urn_namespace ?? null,
    settings: body.settings ?? null,
    activePolicyRepoId: body.active_policy_repo_id ?? null,
    createdAt: now,
    updatedAt: now,
  }
  records.put(project)
  for (const environment of body.initial_environments ?? INITIAL_ENVIRONMENTS) {
    addEnvironment(context, { params: { proj_id: project.key }, body: environment }, { isBeingCopied: false })
  }
  return presentProject(context, project)
}

export function getProject(
  context: OrganizationReadContext,
  input: { readonly params: ProjectPath },
): Project {
  return presentProject(context, requireProject(context, input.params.proj_id))
}

/** Updates a project. Each field in the body replaces the whole old value, and null clears it. */
export function updateProject(
  context: OrganizationWriteContext,
  input: { readonly params: ProjectPath; readonly body: ProjectUpdate },
): Project {
  const project = requireProject(context, input.params.proj_id)
  const { name, description, settings, active_policy_repo_id } = input.body
  const updated: ProjectRecord = {
    ...project,
    name: name ?? project.name,
    description: description === undefined ? project.description : description,
    settings: settings === undefined ? project.settings : settings,
    activePolicyRepoId:
      active_policy_repo_id === undefined ? project.activePolicyRepoId : active_policy_repo_id,
    updatedAt: context.now,
  }
  context.records.put(updated)
  return presentProject(context, updated)
}

/**
 * Removes a project with its environments, all their keys and the grants of members on them. No concurrent
 * addition is missed: a command that adds an environment, a key or a grant also writes the row of the project
 * or of the environment.
 */
export function* deleteProject(
  context: OrganizationWriteContext,
  input: { readonly params: ProjectPath },
): Resumable<void> {
  const { records } = context
  const project = requireProject(context, input.params.proj_id)
  const environments = [...records.list('environment', lists.all('environment'))]
  for (const environment of environments) {
    if (environment.projectId === project.id) removeEnvironment(context, environment)
  }
  removeApiKeys(context, key => key.projectId === project.id)
  records.delete(project)
  yield* removeGrantsOn(context, project.id)
}

export function presentProject(context: OrganizationReadContext, project: ProjectRecord): Project {
  return {
    id: project.id,
    key: project.key,
    organization_id: requireOrganization(context.records).id,
    ...presentTimes(project),
    name: project.name,
    description: project.description,
    urn_namespace: project.urnNamespace,
    settings: project.settings,
    active_policy_repo_id: project.activePolicyRepoId,
  }
}
