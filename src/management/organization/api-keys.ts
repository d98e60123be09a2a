/**
 * API keys: create, list, get, update, rotate and revoke (native.md B.13, D-35; administration.md K6 to K11).
 * Keys of the organization manage all keys, and the key of a project manages those of its environments. The
 * response that creates a secret contains it. Later, only the secret of an environment's key can be read, by
 * a key of the organization.
 */
import {
  isDelegated,
  presentLimits,
  roleNamesOf,
  tenantIdsOf,
  type WantedLimits,
} from '#management/delegation/delegated-grant.ts'
import { presentInstant } from '#management/drafts/context.ts'
import { matchesSearch, type Page, pageOfLists } from '#management/paging/paging.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import { API_KEYS_MAX } from '#model/limits.ts'
import { type AccessLevel, type Delegation, reaches } from '#model/principal.ts'
import type { ApiKeyRecord, KeyMaker } from '#entities/organization-records.ts'
import type {
  ApiKey,
  ApiKeyCreate,
  ApiKeyObjectType,
  ApiKeyPath,
  ApiKeyRotation,
  ApiKeysQuery,
  ApiKeyUpdate,
} from '#model/wire/organization/api-key.ts'
import type { EnvironmentPath } from '#model/wire/organization/environment.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import {
  mayTouch,
  type OrganizationReadContext,
  type OrganizationWriteContext,
  requireEnvironment,
  requireOrganization,
  requireProject,
  requireCapacity,
} from '#management/scopes/organization-context.ts'
import { objectTypeOf, requireNames } from '#management/scopes/named-objects.ts'

/** Lists keys without their secrets. */
export function* listApiKeys(
  context: OrganizationReadContext,
  input: { readonly query: ApiKeysQuery },
): Resumable<Page<ApiKey>> {
  const { object_type, proj_id, created_by_member, search } = input.query
  const memberId = created_by_member === undefined ? undefined : idFrom(created_by_member)
  const projectId = proj_id === undefined ? null : requireProject(context, proj_id).id
  return yield* pageOfLists(context.records, {
    kind: 'api-key',
    lists: [lists.all('api-key')],
    paging: input.query,
    matches: key =>
      isManagedBy(context, key) &&
      (object_type === undefined || objectTypeOf(key) === object_type) &&
      (memberId === undefined || (memberId !== null && key.createdBy?.member?.id === memberId)) &&
      (projectId === null || projectOf(context, key) === projectId) &&
      (search === undefined || matchesSearch(search, [key.name, key.id])),
    present: key => presentApiKey(context, key, null),
  })
}

export function createApiKey(
  context: OrganizationWriteContext,
  input: { readonly body: ApiKeyCreate },
): ApiKey {
  const { body } = input
  const scope = openedBy(context, body)
  const accessLevel = body.access_level ?? 'admin'
  requireFitting(accessLevel, scope)
  const { key, secret } = addApiKey(context, {
    ...scope,
    accessLevel,
    delegation: limitsOf(context, { ...scope, accessLevel, delegation: null }, body),
    source: 'created',
    name: body.name ?? null,
    ownerType: body.owner_type ?? null,
  })
  return presentApiKey(context, key, secret)
}

export function getApiKey(context: OrganizationReadContext, input: { readonly params: ApiKeyPath }): ApiKey {
  return presentApiKey(context, requireApiKey(context, input.params.api_key_id), null)
}

/**
 * Returns the oldest of the keys with the highest level of an environment, without those that are limited to
 * tenants (administration.md K11). The response contains its secret, unless the secret is not stored or was
 * encrypted with another key of the organization.
 */
export function getEnvironmentApiKey(
  context: OrganizationReadContext,
  input: { readonly params: EnvironmentPath },
): ApiKey {
  const { proj_id, env_id } = input.params
  const environment = requireEnvironment(context, requireProject(context, proj_id), env_id)
  let highest: ApiKeyRecord | null = null
  for (const key of context.records.list('api-key', lists.all('api-key'))) {
    if (key.environmentId !== environment.id || key.delegation !== null) continue
    if (highest === null || !reaches(highest.accessLevel, key.accessLevel)) highest = key
  }
  if (highest === null) throw new AuthzError('NOT_FOUND', 'this environment has no API key: create one')
  const secret = highest.sealedSecret && context.secrets.unseal(highest.id, highest.sealedSecret)
  return presentApiKey(context, highest, secret)
}

/**
 * Changes the name, the level and the limits of a key. A name that is null clears it (administration.md K9).
 */
export function updateApiKey(
  context: OrganizationWriteContext,
  input: { readonly params: ApiKeyPath; readonly body: ApiKeyUpdate },
): ApiKey {
  const key = requireChangeable(requireApiKey(context, input.params.api_key_id))
  if (key.id === context.principal.keyId) {
    throw new AuthzError('INVALID_INPUT', 'an API key cannot change itself: use another one')
  }
  const { name = key.name, access_level: accessLevel = key.accessLevel } = input.body
  requireFitting(accessLevel, key)
  const delegation = limitsOf(context, { ...key, accessLevel }, input.body, key.accessLevel)
  const updated: ApiKeyRecord = { ...key, name, accessLevel, delegation }
  context.records.put(updated)
  return presentApiKey(context, updated, null)
}

/** Only keys of environments make decisions, so that other keys cannot have the level `decide`. */
function requireFitting(
  accessLevel: AccessLevel,
  { environmentId }: Pick<ApiKeyRecord, 'environmentId'>,
): void {
  if (accessLevel !== 'decide' || environmentId !== null) return
  const msg = 'access_level "decide" is only for keys of environments'
  throw new AuthzError('INVALID_SHAPE', msg, {
    detail: [{ loc: ['body', 'access_level'], msg, type: 'value_error' }],
  })
}

/**
 * Limits of a new or changed key; null if it has none. `key` has the new level. A limit that is absent in the
 * request stays as it is. Roles of a key that was lowered to `read` are dropped.
 */
function limitsOf(
  context: OrganizationReadContext,
  {
    environmentId,
    accessLevel,
    delegation,
  }: Pick<ApiKeyRecord, 'environmentId' | 'accessLevel' | 'delegation'>,
  wanted: WantedLimits,
  formerLevel: AccessLevel = accessLevel,
): Delegation | null {
  const isRead = accessLevel === 'read' || formerLevel === 'read'
  const keptRoles = isRead ? null : (delegation?.roles ?? null)
  const tenants = wanted.tenants ?? delegation?.tenants
  const roles = wanted.roles ?? keptRoles
  if (!isDelegated({ isOnEnvironment: environmentId !== null, accessLevel, tenants, roles }, ['body']))
    return null
  // Limits that are kept are not looked up, so that a key can be lowered while its environment is closed.
  const recordsOf = () => context.recordsOf(environmentId!)
  return {
    tenants: wanted.tenants ? tenantIdsOf(recordsOf(), wanted.tenants) : delegation!.tenants,
    roles: wanted.roles ? roleNamesOf(recordsOf(), wanted.roles) : (keptRoles ?? []),
  }
}

/**
 * Gives a key a new secret. The previous secret stays valid for the overlap time. The one before that is
 * revoked immediately.
 */
export function rotateApiKey(
  context: OrganizationWriteContext,
  input: { readonly params: ApiKeyPath; readonly body: ApiKeyRotation | undefined },
): ApiKey {
  const key = requireChangeable(requireApiKey(context, input.params.api_key_id))
  const overlapSeconds = input.body?.overlap_seconds ?? context.keyOverlapSeconds
  const secret = context.secrets.newSecret()
  const rotated: ApiKeyRecord = {
    ...key,
    secretHash: context.secrets.hash(secret),
    sealedSecret: sealedFor(context, key, secret),
    former:
      overlapSeconds === 0
        ? null
        : { hash: key.secretHash, validUntil: context.now + overlapSeconds * 1_000 },
  }
  context.records.put(rotated)
  return presentApiKey(context, rotated, secret)
}

/** Revokes a key, including its former secret. */
export function deleteApiKey(
  context: OrganizationWriteContext,
  input: { readonly params: ApiKeyPath },
): void {
  context.records.delete(requireChangeable(requireApiKey(context, input.params.api_key_id)))
}

type NewApiKey = Pick<ApiKeyRecord, 'environmentId' | 'projectId' | 'source'> &
  Partial<Pick<ApiKeyRecord, 'name' | 'ownerType' | 'accessLevel' | 'delegation'>> & {
    /** A secret that the operator configured; absent: a new one. */
    readonly secret?: string
  }

/** Adds a key. The caller has looked up its environment or project. */
export function addApiKey(
  context: OrganizationWriteContext,
  { secret = context.secrets.newSecret(), ...fields }: NewApiKey,
): { readonly key: ApiKeyRecord; readonly secret: string } {
  const { records } = context
  requireCapacity(context, records.count(lists.all('api-key')), { what: 'API keys', maximum: API_KEYS_MAX })
  // This causes a conflict with a concurrent removal of that environment or project, which then runs again.
  const opened =
    (fields.environmentId !== null && records.byId('environment', fields.environmentId)) ||
    (fields.projectId !== null && records.byId('project', fields.projectId))
  if (opened) records.touch(opened)
  const bare: ApiKeyRecord = {
    kind: 'api-key',
    id: context.newId(),
    secretHash: context.secrets.hash(secret),
    sealedSecret: null,
    former: null,
    name: null,
    ownerType: null,
    accessLevel: 'admin',
    delegation: null,
    ...fields,
    createdAt: context.now,
    createdBy: fields.source === 'created' ? makerOf(context) : null,
    lastUsedAt: null,
  }
  const key = { ...bare, sealedSecret: sealedFor(context, bare, secret) }
  records.put(key)
  return { key, secret }
}

function makerOf({ records, principal: { keyId, session } }: OrganizationReadContext): KeyMaker {
  if (session) return { keyId: null, name: null, member: { id: session.memberId, name: session.name } }
  const key = keyId === null ? null : records.get('api-key', rowKeys.apiKey(keyId))
  return { keyId, name: key?.name ?? null }
}

/**
 * Encrypts the secret of an environment's key. The secret of a key of a project or of the organization is
 * shown only once and is therefore not stored.
 */
function sealedFor(
  { secrets }: OrganizationReadContext,
  key: ApiKeyRecord,
  secret: string,
): Uint8Array | null {
  return key.environmentId === null ? null : secrets.seal(key.id, secret)
}

/**
 * Scope of a new key, if the caller may create such a key. Throws `FORBIDDEN`, `NOT_FOUND` or
 * `INVALID_INPUT`.
 */
function openedBy(
  context: OrganizationReadContext,
  body: ApiKeyCreate,
): Pick<ApiKeyRecord, 'environmentId' | 'projectId'> {
  const objectType = body.object_type ?? narrowestOf(body)
  if (objectType !== 'env' && context.principal.kind !== 'organization') {
    const holder = context.principal.session === undefined ? 'an API key of' : 'a grant on'
    const message = `${holder} a project can create only API keys of its environments`
    throw new AuthzError('FORBIDDEN', message)
  }
  requireNames(context, body, objectType, 'key')
  if (objectType === 'org') return { environmentId: null, projectId: null }
  const project = requireProject(context, body.project_id!)
  if (objectType === 'project') return { environmentId: null, projectId: project.id }
  return {
    environmentId: requireEnvironment(context, project, body.environment_id!).id,
    projectId: null,
  }
}

function narrowestOf(body: ApiKeyCreate): ApiKeyObjectType {
  if (body.environment_id) return 'env'
  return body.project_id ? 'project' : 'org'
}

/** Finds a key by id. A key that the caller does not manage is reported as not found. */
function requireApiKey(context: OrganizationReadContext, reference: string): ApiKeyRecord {
  const id = idFrom(reference)
  const key = id === null ? null : context.records.get('api-key', rowKeys.apiKey(id))
  if (key && isManagedBy(context, key)) return key
  throw new AuthzError('NOT_FOUND', `there is no API key ${JSON.stringify(reference)}`)
}

/** Rejects changes of the operator's key: the next start would restore it from the settings. */
function requireChangeable(key: ApiKeyRecord): ApiKeyRecord {
  if (key.source !== 'configured') return key
  throw new AuthzError(
    'INVALID_INPUT',
    'this key is set by API_KEY: change or remove that setting and restart',
  )
}

/**
 * Whether the caller manages a key. The key of a project manages the keys of its environments, but not those
 * of the project itself.
 */
function isManagedBy(context: OrganizationReadContext, key: ApiKeyRecord): boolean {
  const { principal } = context
  if (principal.kind === 'organization') return true
  const projectId = projectOf(context, key)
  return key.environmentId !== null && projectId !== null && mayTouch(principal, { id: projectId })
}

function projectOf(context: OrganizationReadContext, key: ApiKeyRecord): string | null {
  if (key.environmentId === null) return key.projectId
  return context.records.byId('environment', key.environmentId)?.projectId ?? null
}

function presentMaker({ keyId, name, member }: KeyMaker) {
  return { api_key_id: keyId, name, ...(member && { member }) }
}

function presentApiKey(context: OrganizationReadContext, key: ApiKeyRecord, secret: string | null): ApiKey {
  const { former, createdBy } = key
  const lastUsedAt = Math.max(key.lastUsedAt ?? 0, context.lastUseOf(key.id) ?? 0)
  return {
    id: key.id,
    organization_id: requireOrganization(context.records).id,
    project_id: projectOf(context, key),
    environment_id: key.environmentId,
    object_type: objectTypeOf(key),
    access_level: key.accessLevel,
    ...presentLimits(key.delegation),
    owner_type: key.ownerType ?? 'member',
    name: key.name,
    secret,
    ...(former &&
      former.validUntil > context.now && { former_secret_valid_until: presentInstant(former.validUntil) }),
    created_at: presentInstant(key.createdAt),
    ...(createdBy && { created_by: presentMaker(createdBy) }),
    // The recorded time is rounded down to ten minutes and can precede the creation of the key.
    last_used_at: lastUsedAt === 0 ? null : presentInstant(Math.max(lastUsedAt, key.createdAt)),
  }
}
