/**
 * Dispatches management requests. It finds the environment of a request, checks that the caller may access
 * it, and runs the operation there. Requests about the organization itself go to its service. There is one
 * instance per process, on the main thread, which writes.
 */
import { type RequestClient, SOMEBODY, type WaitingClient } from '#model/caller.ts'
import type { Claim } from '#model/wire/organization/actor.ts'
import { ChangeFilter } from '#management/changes/change-filter.ts'
import type { ChangeStreams } from '#management/changes/change-streams.ts'
import type { StreamPosition } from '#management/changes/stream-position.ts'
import { auditCallerOf, type AuditCaller } from '#management/audit/audit.ts'
import type { Answered } from '#management/drafts/commit-draft.ts'
import { Admission } from '#scheduling/admission.ts'
import { PageBytes, windowOf } from '#management/paging/paging.ts'
import type { LiveBytes, StreamHolder } from '#management/changes/live-bytes.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import type { ChangeCondition } from '#management/environment/environment-service.ts'
import type { OperationAnswer, OperationInput, OperationName } from '#management/environment/operations.ts'
import type { EnvironmentCopies } from '#management/organization/environment-copies.ts'
import type { EnvironmentImports } from '#management/organization/environment-imports.ts'
import {
  type ManagedEnvironment,
  type OpenEnvironments,
  openService,
} from '#management/organization/environment-opening.ts'
import type { OrganizationOperations } from '#management/organization/organization-operations.ts'
import type {
  OrganizationCondition,
  OrganizationService,
} from '#management/organization/organization-service.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import {
  EXPORTS_MAX,
  EXPORTS_PER_ENVIRONMENT_MAX,
  IMPORTS_MAX,
  IMPORTS_PER_ENVIRONMENT_MAX,
} from '#model/limits.ts'
import { coversEnvironment, type Delegation, type Principal } from '#model/principal.ts'
import type { Revision } from '#model/revision.ts'
import type { SignInCall, SignInStep } from '#model/sign-in/sign-in-request.ts'
import type { ChangesQuery } from '#entities/change-event.ts'

/** A management request that an HTTP thread has parsed, validated and authenticated. */
export type ManagementRequest =
  | EnvironmentRequest
  | OrganizationRequest
  | ContentRequest
  | BackupRequest
  | ChangesRequest
  | SignInRequest

/** The caller, and the kind of the request. */
export interface AskedBy {
  readonly caller: RequestClient
  /** Whether the request changes nothing. */
  readonly isRead: boolean
  /** The body, if the caller sends it in pieces. */
  readonly body?: PieceSource
}

export interface ManagementReply {
  /** Response as JSON; null if the response has no JSON. */
  readonly json: string | Uint8Array | null
  /**
   * Whether the operation created the entity in the response. Only for operations whose status reports this.
   */
  readonly isCreated: boolean
  /** Warning for the client about the change. */
  readonly warning: string | null
  /** Revision of the state that the response reflects. Several revisions are separated by commas. */
  readonly revision: string
  /** Set if the response is sent in pieces. */
  readonly pieces?: PieceSource
  /**
   * Set if the response is a live stream. The stream calls `isAdmitted` to check whether the key or the
   * session of the client is still valid.
   */
  readonly stream?: (isAdmitted: () => boolean, holder: StreamHolder) => LiveBytes
}

export interface EnvironmentRequest<Name extends OperationName = OperationName> {
  readonly about: 'environment'
  readonly operation: Name
  readonly principal: Principal
  /** Id of the request, for the audit log. */
  readonly requestId: string
  /** The `traceparent` for the work; null if it is not traced. */
  readonly traceparent: string | null
  /** The environment in the path, by key or id; null for all environments that the caller may access. */
  readonly path: EnvironmentNames | null
  readonly input: OperationInput<Name>
  /** Precondition of a change; absent: none. */
  readonly condition?: ChangeCondition
  /** Actor that the client claims, for the audit log; null if it claims none. */
  readonly claim: Claim | null
}

/** A request about the whole content of an environment, as lines in pieces of bytes. */
export interface ContentRequest {
  readonly about: 'content'
  readonly operation: 'exportContent' | 'exportModel' | 'importContent'
  readonly principal: Principal
  readonly requestId: string
  readonly traceparent: string | null
  readonly path: EnvironmentNames
  /** For an import: whether it replaces existing content. */
  readonly replaces: boolean
  /** Actor that the client claims, for the audit log; null if it claims none. */
  readonly claim: Claim | null
}

/** A request for a backup of the whole store, in pieces of bytes. */
export interface BackupRequest {
  readonly about: 'backup'
  readonly operation: 'backUp'
  readonly principal: Principal
  readonly requestId: string
  readonly traceparent: string | null
}

/** A step of a sign-in, or the logout of a person at the issuer. No credentials are needed. */
export interface SignInRequest {
  readonly about: 'sign-in'
  readonly operation: SignInCall['operation']
  readonly requestId: string
  readonly traceparent: string | null
  readonly call: SignInCall
}

/** A request for the change stream of an environment. */
export interface ChangesRequest {
  readonly about: 'changes'
  readonly operation: 'streamChanges'
  readonly principal: Principal
  readonly requestId: string
  readonly traceparent: string | null
  readonly path: EnvironmentNames
  readonly query: ChangesQuery
  /** Position after which the client resumes; null for a new stream. */
  readonly since: StreamPosition | null
}

export interface OrganizationRequest {
  readonly about: 'organization'
  readonly operation: OrganizationOperationName
  readonly principal: Principal
  readonly requestId: string
  readonly traceparent: string | null
  readonly input: unknown
  /** Precondition of a change; absent: none. */
  readonly condition?: OrganizationCondition
  /** Actor that the client claims, for the audit log; null if it claims none. */
  readonly claim: Claim | null
}

interface EnvironmentNames {
  readonly project: string
  readonly environment: string
}

/** Operations that use more than the organization's own records. */
type WideOperations = {
  readonly [Name in 'copyEnvironment' | 'getEnvironmentStats']: EnvironmentCopies[Name]
}

type AllOrganizationOperations = OrganizationOperations & WideOperations
export type OrganizationOperationName = keyof AllOrganizationOperations
export type OrganizationInput<Name extends OrganizationOperationName> = Parameters<
  AllOrganizationOperations[Name]
>[1]

/** The operations that are available over all environments at once. */
export type EverywhereOperation = 'listUsersEverywhere' | 'listTenantsEverywhere'

/** A response, and the revisions that it reflects: of an environment, of the organization, or of both. */
export interface ManagementAnswer {
  readonly answer: unknown
  readonly revisions: readonly Revision[]
}

/** An operation with its arguments for one environment. */
interface OperationCall<Name extends OperationName> {
  readonly operation: Name
  readonly input: OperationInput<Name>
  readonly caller: AuditCaller | null
  readonly waiting: WaitingClient
  readonly condition?: ChangeCondition
  /** Limits of the caller's grant. */
  readonly delegations: readonly Delegation[] | null
}

export interface Backups {
  /**
   * The bytes of a backup (`model/backup.ts`), and the minimum revision of the organization that it contains.
   * Throws `OVERLOADED` while another backup is running or if environments are created or deleted
   * continuously, and errors of the store.
   */
  take(): Promise<Answered<PieceSource>>
}

/** Limits the concurrent exports or imports, which need much memory. */
function transfers(what: string, max: number, shareMax: number): Admission {
  return new Admission({ max, shareMax }, isShareFull => {
    const message = isShareFull
      ? `${shareMax} ${what} of this environment are in progress, which is the maximum; try again shortly`
      : `${max} ${what} are in progress, which is the maximum; try again shortly`
    return new AuthzError(isShareFull ? 'RATE_LIMITED' : 'OVERLOADED', message, { limit: 'content' })
  })
}

/** Sign-in of people (`src/sign-in`). */
export interface SignIns {
  /** Returns the next step of the browser, or null if there is none. Throws `AuthzError`. */
  execute(call: SignInCall, requestId: string): Promise<SignInStep | null>
}

export class ManagementService {
  readonly #environments: OpenEnvironments
  readonly #organization: OrganizationService
  readonly #copies: EnvironmentCopies
  readonly #imports: EnvironmentImports
  readonly #backups: Backups
  readonly #streams: ChangeStreams
  readonly #signIn: SignIns | null
  readonly #exporting = transfers('exports', EXPORTS_MAX, EXPORTS_PER_ENVIRONMENT_MAX)
  readonly #importing = transfers('imports', IMPORTS_MAX, IMPORTS_PER_ENVIRONMENT_MAX)

  constructor(parts: {
    readonly environments: OpenEnvironments
    readonly organization: OrganizationService
    readonly copies: EnvironmentCopies
    readonly imports: EnvironmentImports
    readonly backups: Backups
    readonly streams: ChangeStreams
    /** Null if sign-in is not configured. */
    readonly signIn: SignIns | null
  }) {
    this.#environments = parts.environments
    this.#organization = parts.organization
    this.#copies = parts.copies
    this.#imports = parts.imports
    this.#backups = parts.backups
    this.#streams = parts.streams
    this.#signIn = parts.signIn
  }

  /**
   * `body` is the request body, for operations that receive it in pieces. If the client disconnects, the work
   * is canceled (`OVERLOADED`). Throws `FORBIDDEN` or `NOT_FOUND` for the environment, and all errors of the
   * operation.
   */
  async execute(
    request: ManagementRequest,
    body: PieceSource | null = null,
    waiting: WaitingClient = SOMEBODY,
  ): Promise<ManagementAnswer> {
    if (request.about === 'backup') {
      const { answer, revision } = await this.#backups.take()
      return { answer, revisions: [revision] }
    }
    if (request.about === 'changes') return this.#openStream(request, waiting)
    if (request.about === 'content') return this.#executeOnContent(request, body)
    if (request.about === 'organization') return this.#executeOnOrganization(request, waiting)
    if (request.about === 'sign-in') {
      assert(this.#signIn, 'routes forward sign-ins only if they are configured')
      const { call, requestId } = request
      return { answer: (await this.#signIn.execute(call, requestId)) ?? undefined, revisions: [] }
    }
    const { answer, revision } = await this.#executeOnEnvironments(request, waiting)
    return { answer, revisions: [revision] }
  }

  async #executeOnEnvironments(
    request: EnvironmentRequest,
    waiting: WaitingClient,
  ): Promise<Answered<unknown>> {
    const { principal, path } = request
    if (path === null) {
      return this.#executeEverywhere(request as EnvironmentRequest<EverywhereOperation>, waiting)
    }
    const caller = auditCallerOf(request)
    const delegations = principal.delegations ?? null
    const asked = { ...request, caller, waiting, delegations }
    const answered = await this.#unlessRemoved(this.#resolve(principal, path), asked)
    if (answered) return answered
    // If the environment was removed, this call throws the error for that. Otherwise, the environment was
    // replaced.
    this.#resolve(principal, path)
    throw replacedJustNow()
  }

  async #openStream(request: ChangesRequest, waiting: WaitingClient): Promise<ManagementAnswer> {
    const { principal, path, query, since } = request
    const filter = new ChangeFilter(query)
    const environment = this.#resolve(principal, path)
    const service = openService(environment)
    const changes = filter.effective ? service.accessChanges : service.changes
    const { environmentId } = environment.scope
    const asked = { changes, environmentId, filter, since, principal, waiting }
    const answer = await this.#streams.open(asked)
    return { answer, revisions: [answer.position] }
  }

  async #executeOnContent(
    { operation, principal, requestId, path, replaces, claim }: ContentRequest,
    body: PieceSource | null,
  ): Promise<ManagementAnswer> {
    const environment = this.#resolve(principal, path)
    if (operation !== 'importContent') {
      const leave = this.#exporting.acquire(environment.scope.environmentId)
      try {
        const { answer, revision } = await openService(environment)[operation](leave)
        return { answer, revisions: [revision] }
      } catch (error) {
        leave()
        throw error
      }
    }
    assert(body, 'an import has a body')
    // An import can repair an environment that cannot be read.
    const service = environment.closure ? environment.service : openService(environment)
    const caller = auditCallerOf({ principal, requestId, claim })
    const params = { proj_id: path.project, env_id: path.environment }
    const leave = this.#importing.acquire(environment.scope.environmentId)
    try {
      const imported = await this.#imports.importContent({
        environment,
        service,
        body,
        replaces,
        caller,
        params,
      })
      return { answer: imported.answer, revisions: [imported.revision] }
    } finally {
      leave()
    }
  }

  async #executeOnOrganization(
    request: OrganizationRequest,
    waiting: WaitingClient,
  ): Promise<ManagementAnswer> {
    const { operation, principal, input, condition } = request
    const caller = auditCallerOf(request)
    if (operation === 'copyEnvironment') {
      return this.#copies.copyEnvironment(principal, input as OrganizationInput<'copyEnvironment'>, caller)
    }
    if (operation === 'getEnvironmentStats') {
      return this.#copies.getEnvironmentStats(principal, input as OrganizationInput<'getEnvironmentStats'>)
    }
    const { answer, revision } = await this.#organization.execute(
      operation,
      principal,
      input,
      caller,
      waiting,
      condition ?? null,
    )
    return { answer, revisions: [revision] }
  }

  /** One page over all environments in order, as a bare array (native.md B.14). */
  async #executeEverywhere(
    { operation, principal, input }: EnvironmentRequest<EverywhereOperation>,
    waiting: WaitingClient,
  ): Promise<Answered<unknown>> {
    const { offset, limit } = windowOf(input.query)
    const data: unknown[] = []
    const bytes = new PageBytes()
    let toSkip = offset
    let revision: Revision | null = null
    for (const environment of this.#visibleTo(principal)) {
      const query = { offset: toSkip, per_page: limit - data.length }
      const delegations = principal.delegations ?? null
      const asked = { operation, input: { query }, caller: null, waiting, delegations }
      const answered = await this.#unlessRemoved(environment, asked)
      if (!answered) continue
      for (const item of answered.answer.data) {
        bytes.add(item)
        data.push(item)
      }
      revision = answered.revision
      toSkip = Math.max(0, toSkip - answered.answer.total_count)
      if (data.length === limit) break
    }
    if (revision !== null) return { answer: data, revision }
    // There are no environments. That is a state of the organization, so the response has the revision of the
    // organization.
    return this.#organization.read(principal, () => data, waiting)
  }

  /**
   * Runs an operation in one of several environments; null if that environment was removed in the meantime.
   */
  async #unlessRemoved<Name extends OperationName>(
    environment: ManagedEnvironment,
    { operation, input, caller, waiting, condition, delegations }: OperationCall<Name>,
  ): Promise<Answered<OperationAnswer<Name>> | null> {
    try {
      return await openService(environment).execute(operation, input, caller, waiting, condition, delegations)
    } catch (error) {
      // A removed environment can cause various errors.
      if (this.#isThere(environment)) throw error
      return null
    }
  }

  #visibleTo(principal: Principal): readonly ManagedEnvironment[] {
    const all = this.#environments.all()
    if (principal.kind === 'organization') return all
    return all.filter(({ scope }) => coversEnvironment(principal, scope))
  }

  /** A key must not reveal anything about environments outside its scope, not even their existence. */
  #resolve(principal: Principal, path: EnvironmentNames): ManagedEnvironment {
    const inProject = named(this.#visibleTo(principal), path.project, known => [
      known.projectKey,
      known.scope.projectId,
    ])
    const [environment] = named(inProject, path.environment, known => [
      known.environmentKey,
      known.scope.environmentId,
    ])
    if (environment) return environment
    if (principal.kind === 'environment') {
      // The environment was replaced after the key was verified. The next verification finds the replacement.
      if (this.#isReplaced(principal)) throw replacedJustNow()
      throw new AuthzError('FORBIDDEN', 'this key belongs to another environment than the one in the path')
    }
    throw notFound(path)
  }

  /** Whether another environment now has the name of the key's environment. */
  #isReplaced({ projectId, environmentId, environmentKey }: Principal & { kind: 'environment' }): boolean {
    const all = this.#environments.all().filter(({ scope }) => scope.projectId === projectId)
    const isThere = all.some(({ scope }) => scope.environmentId === environmentId)
    return !isThere && all.some(known => known.environmentKey === environmentKey)
  }

  #isThere({ scope }: ManagedEnvironment): boolean {
    return this.#environments.all().some(known => known.scope.environmentId === scope.environmentId)
  }
}

/**
 * The projects or environments with that key; if there are none, those with that id, because keys can look
 * like ids (native.md B.1).
 */
function named(
  environments: readonly ManagedEnvironment[],
  reference: string,
  namesOf: (environment: ManagedEnvironment) => readonly [key: string, id: string],
): readonly ManagedEnvironment[] {
  const byKey = environments.filter(known => namesOf(known)[0] === reference)
  if (byKey.length > 0) return byKey
  return environments.filter(known => namesOf(known)[1] === idFrom(reference))
}

function notFound({ project, environment }: EnvironmentNames): AuthzError {
  return new AuthzError('NOT_FOUND', `there is no environment ${JSON.stringify(`${project}/${environment}`)}`)
}

function replacedJustNow(): AuthzError {
  return new AuthzError('NOT_READY', 'this environment was replaced by an import; try again shortly')
}
