/**
 * Replaces the whole content of an environment by the content of a file. The content is loaded into a new,
 * hidden environment that no path can name:
 *
 *     add, hidden, not open ─► fill its store ─► open it: its index is loaded
 *         ─► copy the audit log ─► exchange ─► drop the old environment
 *
 * The exchange is one commit of the organization: the new environment takes over key, name, API keys and
 * grants of the old one, which is removed. Until then, the old environment makes decisions and accepts
 * changes. If the import fails or the process crashes, the old environment stays unchanged, and the hidden
 * one is removed (`Organization.bootstrap`). Directly before the exchange, changes are rejected for a moment,
 * so that no acknowledged change is lost. This applies only to this node; with several nodes, clients must
 * not write during an import (`docs/redis.md`). The new environment has a different id.
 */
import type { AuditCaller, AuditedCall } from '#management/audit/audit.ts'
import type { Answered } from '#management/drafts/commit-draft.ts'
import type { AuditTransfer } from '#management/audit/audit-transfer.ts'
import type { ContentLoader } from '#management/content/ledger-import.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import type { EnvironmentService } from '#management/environment/environment-service.ts'
import { AuthzError } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import type { EnvironmentRecord } from '#entities/organization-records.ts'
import type { Revision } from '#model/revision.ts'
import type { ImportResult } from '#entities/environment-content.ts'
import type { EnvironmentPath } from '#model/wire/organization/environment.ts'
import { environmentClosed, replacementClosed } from '#replica/closed-environment.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { moveGrantsOn } from '#management/members/grant-removal.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { removeEnvironment } from './environments.ts'
import type { ManagedEnvironment, OpenEnvironments } from './environment-opening.ts'
import type { OrganizationWriteContext } from '#management/scopes/organization-context.ts'
import type { OrganizationService } from './organization-service.ts'

export interface ImportInput {
  readonly environment: ManagedEnvironment
  /** Null if the environment cannot be read: then there is no audit log to copy, and no change to reject. */
  readonly service: EnvironmentService | null
  readonly body: PieceSource
  /** Whether the environment may have content. Otherwise it must be as empty as a new environment. */
  readonly replaces: boolean
  readonly caller: AuditCaller
  /** The parameters of the path that named the environment. */
  readonly params: EnvironmentPath
}

export class EnvironmentImports {
  readonly #organization: OrganizationService
  readonly #environments: OpenEnvironments
  readonly #loader: ContentLoader
  /** Deletes the stored data of an environment. Idempotent. */
  readonly #drop: (environmentId: string) => Promise<void>
  readonly #onFault: (error: unknown) => void

  constructor(options: {
    readonly organization: OrganizationService
    readonly environments: OpenEnvironments
    readonly loader: ContentLoader
    readonly drop: (environmentId: string) => Promise<void>
    /** Receives the error if the data of a failed import could not be removed immediately. */
    readonly onFault: (error: unknown) => void
  }) {
    this.#organization = options.organization
    this.#environments = options.environments
    this.#loader = options.loader
    this.#drop = options.drop
    this.#onFault = options.onFault
  }

  /**
   * Throws `DUPLICATE_ENTITY` if the environment has content that must not be replaced, and `NOT_FOUND` if
   * the environment is removed concurrently. Throws `REVISION_CONFLICT` if another import replaces it first,
   * and all errors of the loader.
   */
  async importContent(input: ImportInput): Promise<Answered<ImportResult>> {
    const { environment, service, body, replaces, caller, params } = input
    if (!replaces) await requireEmpty(readable(service, environment))
    const { organizationId, environmentId } = environment.scope
    // The caller's permission was checked when the environment was resolved. The changes of keys and rows
    // need the permissions of the organization.
    const principal = { kind: 'organization', level: 'admin', organizationId, keyId: caller.keyId } as const
    const { id, place } = await this.#addHidden(principal, environmentId)
    try {
      const counts = await this.#loader.load(id, body)
      const opened = await this.#open(principal, id)
      const auditTransfer = service && opened.auditTransferFrom(service)
      await auditTransfer?.run()
      // The same name refers to another environment from now on.
      const allParams = { ...params, environment_id: id, replaced_environment_id: environmentId }
      const asked = { params: allParams, query: { replace: replaces } }
      const call = { ...caller, operation: 'importContent', input: asked }
      const exchanged = { id, replaced: environmentId, service, replaces, auditTransfer, call }
      const revision = await this.#exchange(principal, exchanged)
      return { answer: { environment_id: id, counts }, revision }
    } catch (error) {
      const isReplaced = await this.#discard(principal, id, { replaced: environmentId, place })
      throw isReplaced && isOfWhatIsGone(error) ? replacedMeanwhile() : error
    }
  }

  /** `place` is the row key of the name of the environment to be replaced. */
  async #addHidden(
    principal: Principal,
    replacedId: string,
  ): Promise<{ readonly id: string; readonly place: Uint8Array }> {
    const { answer } = await this.#organization.commit(principal, context => {
      const replaced = context.records.byId('environment', replacedId)
      if (!replaced) throw gone()
      const id = context.newId()
      const times = { createdAt: context.now, updatedAt: context.now }
      // All other code treats the hidden environment as a running copy. No client uses its key.
      const hidden = { isBeingCopied: true, isBeingLoaded: true, isBegun: false }
      context.records.put({ ...replaced, id, key: `import-${id}`, ...hidden, ...times })
      return { id, place: rowKeys.environment(replaced.projectId, replaced.key) }
    })
    return answer
  }

  /** Opens the new environment. Resolves when its index is loaded. */
  async #open(principal: Principal, id: string): Promise<EnvironmentService> {
    await this.#organization.commit(principal, context => {
      const hidden = context.records.byId('environment', id)
      if (!hidden) throw gone()
      context.records.put({ ...hidden, isBeingLoaded: false })
    })
    // If the new content cannot be loaded into an index, the old content stays.
    const closure = this.#environments.closureOf(id)
    if (closure) throw replacementClosed(closure)
    const service = this.#environments.serviceOf(id)
    if (service) return service
    throw new AuthzError('INTERNAL', 'the imported content could not be opened; the log contains the reason')
  }

  async #exchange(
    principal: Principal,
    parts: {
      readonly id: string
      readonly replaced: string
      readonly service: EnvironmentService | null
      readonly replaces: boolean
      readonly auditTransfer: AuditTransfer | null
      readonly call: AuditedCall
    },
  ): Promise<Revision> {
    const { service } = parts
    const thaw = await service?.freeze()
    try {
      if (!parts.replaces && service) await requireEmpty(service)
      await parts.auditTransfer?.run()
      const exchange = function* (context: OrganizationWriteContext): Resumable<void> {
        const { records } = context
        const [hidden, replaced] = [parts.id, parts.replaced].map(id => records.byId('environment', id))
        if (!hidden || !replaced) throw gone()
        const keys = [...records.list('api-key', lists.all('api-key'))]
        for (const key of keys) {
          if (key.environmentId === replaced.id) records.put({ ...key, environmentId: hidden.id })
        }
        records.delete(hidden)
        removeEnvironment(context, replaced)
        records.put(withoutTraces(hidden, replaced))
        yield* moveGrantsOn(context, { from: replaced.id, to: hidden.id })
      }
      const { revision } = await this.#organization.commit(principal, exchange, parts.call)
      return revision
    } catch (error) {
      thaw?.()
      throw error
    }
  }

  /**
   * Removes a new environment that was not exchanged, unless it is already removed, or leaves that to the
   * next start. Returns whether another environment has the name of the one that was to be replaced.
   */
  async #discard(
    principal: Principal,
    id: string,
    { replaced, place }: { readonly replaced: string; readonly place: Uint8Array },
  ): Promise<boolean> {
    const discard = (context: OrganizationWriteContext): boolean => {
      const { records } = context
      const hidden = records.byId('environment', id)
      if (hidden?.isBeingCopied) removeEnvironment(context, hidden)
      return !records.byId('environment', replaced) && records.get('environment', place) !== null
    }
    const discarded = await this.#organization.commit(principal, discard).catch(this.#onFault)
    // If the store was filled and never opened, the open environments do not know it, and another node may
    // have deleted the record of its removal already. Therefore, its data is deleted here. An open
    // environment is removed together with its record, and stays if the exchange was committed after all.
    if (!this.#environments.serviceOf(id)) await this.#drop(id).catch(this.#onFault)
    return discarded?.answer === true
  }
}

/** The new environment with the names of the old one. */
function withoutTraces(hidden: EnvironmentRecord, replaced: EnvironmentRecord): EnvironmentRecord {
  return {
    ...replaced,
    id: hidden.id,
    updatedAt: hidden.updatedAt,
    isBeingCopied: false,
    isBeingLoaded: false,
    isBegun: hidden.isBegun,
  }
}

/** Management of an environment. Throws `ENVIRONMENT_CLOSED` if its content cannot be read. */
function readable(service: EnvironmentService | null, { closure }: ManagedEnvironment): EnvironmentService {
  if (service) return service
  throw environmentClosed(closure?.reason ?? 'it is not open')
}

/** Throws `DUPLICATE_ENTITY` if the environment has more content than a new one. */
async function requireEmpty(service: EnvironmentService): Promise<void> {
  const { answer: counts } = await service.execute('countEnvironment', undefined)
  const { roles, users, policies, resources, tenants, condition_sets: sets } = counts
  if (roles + users + policies + resources + sets === 0 && tenants <= 1) return
  const there = `${resources} resources, ${roles} roles, ${sets} condition sets, ${tenants} tenants, ${users} users`
  throw new AuthzError(
    'DUPLICATE_ENTITY',
    `the environment is not empty (${there}): import with replace=true to replace all of it`,
  )
}

/** Whether the error is typical of an environment that is being removed or was removed. */
function isOfWhatIsGone(error: unknown): boolean {
  return error instanceof AuthzError && (error.code === 'NOT_FOUND' || error.code === 'STORE_CLOSED')
}

function replacedMeanwhile(): AuthzError {
  return new AuthzError(
    'REVISION_CONFLICT',
    'another import replaced the content of the environment in the meantime; nothing was changed: check the content before you retry',
  )
}

function gone(): AuthzError {
  return new AuthzError(
    'NOT_FOUND',
    'the environment was deleted while its content was imported, or the import took too long',
  )
}
