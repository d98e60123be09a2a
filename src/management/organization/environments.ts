/**
 * Environments in the organization's records (native.md B.13). Their content is in separate stores, which
 * `environment-opening.ts` opens and removes.
 */
import { presentInstant, presentTimes } from '#management/drafts/context.ts'
import { pageOfLists } from '#management/paging/paging.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { searchFilter } from '#management/paging/selection.ts'
import { AuthzError } from '#model/errors.ts'
import { COPY_MS_MAX, ENVIRONMENTS_MAX } from '#model/limits.ts'
import type { EnvironmentRecord } from '#entities/organization-records.ts'
import type {
  Environment,
  EnvironmentCreate,
  EnvironmentPath,
  EnvironmentsQuery,
  EnvironmentUpdate,
  EnvironmentWithEmail,
} from '#model/wire/organization/environment.ts'
import type { ProjectPath } from '#model/wire/organization/project.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { removeGrantsOn } from '#management/members/grant-removal.ts'
import { removeApiKeys } from './api-key-removal.ts'
import { addApiKey } from './api-keys.ts'
import {
  type OrganizationReadContext,
  type OrganizationWriteContext,
  requireEnvironment,
  requireOrganization,
  requireProject,
  requireCapacity,
} from '#management/scopes/organization-context.ts'

/** Lists the environments of one project as a bare array in every case. */
export function* listEnvironments(
  context: OrganizationReadContext,
  input: { readonly params: ProjectPath; readonly query: EnvironmentsQuery },
): Resumable<EnvironmentWithEmail[]> {
  const { id } = requireProject(context, input.params.proj_id)
  const search = searchFilter(input.query.search, ({ key, name }: EnvironmentRecord) => [key, name])
  const page = yield* pageOfLists(context.records, {
    kind: 'environment',
    lists: [lists.all('environment')],
    paging: input.query,
    matches: environment =>
      environment.projectId === id && !environment.isBeingCopied && (search?.matches(environment) ?? true),
    present: environment => withEmail(presentEnvironment(context, environment)),
  })
  return page.data
}

export function createEnvironment(
  context: OrganizationWriteContext,
  input: { readonly params: ProjectPath; readonly body: EnvironmentCreate },
): Environment {
  return presentEnvironment(context, addEnvironment(context, input, { isBeingCopied: false }))
}

/** Adds an environment with a first API key, which a key of the organization can read. */
export function addEnvironment(
  context: OrganizationWriteContext,
  input: { readonly params: ProjectPath; readonly body: EnvironmentCreate },
  { isBeingCopied }: { readonly isBeingCopied: boolean },
): EnvironmentRecord {
  const { records, now } = context
  const { body } = input
  const project = requireProject(context, input.params.proj_id)
  const existing = records.get('environment', rowKeys.environment(project.id, body.key))
  if (existing && isAbandonedCopy(context, existing)) removeEnvironment(context, existing)
  else if (existing) {
    const place = JSON.stringify(`${project.key}/${body.key}`)
    throw new AuthzError('DUPLICATE_ENTITY', `there is an environment ${place} already`)
  }
  const limit = { what: 'environments', maximum: ENVIRONMENTS_MAX }
  requireCapacity(context, records.count(lists.all('environment')), limit)
  // This causes a conflict with a concurrent removal of the project, which then runs again.
  records.touch(project)
  const environment: EnvironmentRecord = {
    kind: 'environment',
    id: context.newId(),
    projectId: project.id,
    key: body.key,
    name: body.name,
    description: body.description ?? null,
    customBranchName: body.custom_branch_name ?? null,
    jwks: body.jwks ?? null,
    settings: body.settings ?? null,
    isBeingCopied,
    isBeingLoaded: false,
    isBegun: false,
    createdAt: now,
    updatedAt: now,
  }
  records.put(environment)
  addApiKey(context, { environmentId: environment.id, projectId: null, source: 'created' })
  return environment
}

export function getEnvironment(
  context: OrganizationReadContext,
  input: { readonly params: EnvironmentPath },
): EnvironmentWithEmail {
  return withEmail(presentEnvironment(context, environmentAt(context, input.params)))
}

/** Updates an environment. Each field in the body replaces the whole old value, and null clears it. */
export function updateEnvironment(
  context: OrganizationWriteContext,
  input: { readonly params: EnvironmentPath; readonly body: EnvironmentUpdate },
): Environment {
  const environment = environmentAt(context, input.params)
  const { name, description, custom_branch_name, jwks, settings } = input.body
  const updated: EnvironmentRecord = {
    ...environment,
    name: name ?? environment.name,
    description: description === undefined ? environment.description : description,
    customBranchName: custom_branch_name === undefined ? environment.customBranchName : custom_branch_name,
    jwks: jwks === undefined ? environment.jwks : jwks,
    settings: settings === undefined ? environment.settings : settings,
    updatedAt: context.now,
  }
  context.records.put(updated)
  return presentEnvironment(context, updated)
}

/** Removes an environment with its keys and the grants of members on it. */
export function* deleteEnvironment(
  context: OrganizationWriteContext,
  input: { readonly params: EnvironmentPath },
): Resumable<void> {
  const environment = environmentAt(context, input.params)
  removeEnvironment(context, environment)
  yield* removeGrantsOn(context, environment.id)
}

/**
 * Whether a copy has been running for so long that the node that makes it must have stopped. If that node is
 * still running, it finds the environment removed and returns an error.
 */
export function isAbandonedCopy({ now }: OrganizationReadContext, environment: EnvironmentRecord): boolean {
  return environment.isBeingCopied && environment.createdAt + COPY_MS_MAX < now
}

/**
 * Removes an environment and its keys, and adds a record that its data must be deleted. Grants of members
 * stay (`removeGrantsOn`).
 */
export function removeEnvironment(context: OrganizationWriteContext, environment: EnvironmentRecord): void {
  const { records } = context
  records.delete(environment)
  removeApiKeys(context, key => key.environmentId === environment.id)
  records.put({ kind: 'removed-environment', id: environment.id })
}

function withEmail(environment: Environment): EnvironmentWithEmail {
  return { ...environment, email_configuration: null }
}

/** The environment that a path names. */
export function environmentAt(context: OrganizationReadContext, path: EnvironmentPath): EnvironmentRecord {
  return requireEnvironment(context, requireProject(context, path.proj_id), path.env_id)
}

export function presentEnvironment(
  context: OrganizationReadContext,
  environment: EnvironmentRecord,
): Environment {
  const closure = context.closureOf(environment.id)
  return {
    id: environment.id,
    key: environment.key,
    organization_id: requireOrganization(context.records).id,
    project_id: environment.projectId,
    ...presentTimes(environment),
    name: environment.name,
    description: environment.description,
    custom_branch_name: environment.customBranchName,
    jwks: environment.jwks,
    settings: environment.settings,
    ...(closure && { closed: { reason: closure.reason, since: presentInstant(closure.since) } }),
  }
}
