/**
 * The entrance to management: finds the environment a request is about, makes sure the caller may touch it, and runs
 * the operation there. One per process, on the thread that writes.
 */
import { AuthzError } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import type { Revision } from '#model/revision.ts'
import type { EnvironmentService } from './environment-service.ts'
import type { Answered } from './management/commit-draft.ts'
import type { OperationInput, OperationName } from './management/operations.ts'
import { windowOf } from './management/paging.ts'
import type { KnownEnvironment } from './organization.ts'

/** A management request as it crosses from the thread that parsed it: validated, credentials checked. */
export interface ManagementRequest<Name extends OperationName = OperationName> {
  readonly operation: Name
  readonly principal: Principal
  /** The environment as the path names it, by key or id; null: every one the caller may touch. */
  readonly path: { readonly project: string; readonly environment: string } | null
  readonly input: OperationInput<Name>
}

/** The operations that can be asked of all environments at once. */
export type EverywhereOperation = 'listUsersEverywhere' | 'listTenantsEverywhere'

export interface ManagedEnvironment extends KnownEnvironment {
  readonly service: EnvironmentService
}

export class ManagementService {
  readonly #environments: readonly ManagedEnvironment[]

  constructor(environments: readonly ManagedEnvironment[]) {
    this.#environments = environments
  }

  /** Throws `FORBIDDEN` or `NOT_FOUND` for the environment, and whatever the operation throws. */
  execute(request: ManagementRequest): Promise<Answered<unknown>> {
    const { operation, principal, path, input } = request
    if (path === null) return this.#executeEverywhere(request as ManagementRequest<EverywhereOperation>)
    return this.#resolve(principal, path).service.execute(operation, input)
  }

  /** One page over all environments, one after the other, as a bare array (contract B.14). */
  async #executeEverywhere(request: ManagementRequest<EverywhereOperation>): Promise<Answered<unknown>> {
    const { offset, limit } = windowOf(request.input.query)
    const data: unknown[] = []
    let toSkip = offset
    let revision: Revision | null = null
    for (const { service } of this.#visibleTo(request.principal)) {
      const query = { offset: toSkip, per_page: limit - data.length }
      const answered = await service.execute(request.operation, { query })
      data.push(...answered.answer.data)
      revision = answered.revision
      toSkip = Math.max(0, toSkip - answered.answer.total_count)
      if (data.length === limit) break
    }
    if (revision === null) throw new AuthzError('NOT_FOUND', 'there is no environment yet')
    return { answer: data, revision }
  }

  #visibleTo(principal: Principal): readonly ManagedEnvironment[] {
    if (principal.kind === 'organization') return this.#environments
    return this.#environments.filter(({ scope }) => scope.environmentId === principal.environmentId)
  }

  /** An environment key learns nothing about other environments, not even whether they exist. */
  #resolve(principal: Principal, path: NonNullable<ManagementRequest['path']>): ManagedEnvironment {
    const { project, environment } = path
    const visible = this.#visibleTo(principal)
    const named =
      visible.find(known => known.projectKey === project && known.environmentKey === environment) ??
      visible.find(known => isNamed(known, project, environment))
    if (named) return named
    if (principal.kind === 'environment') {
      throw new AuthzError('FORBIDDEN', 'this key belongs to another environment than the one in the path')
    }
    throw new AuthzError(
      'NOT_FOUND',
      `there is no environment ${JSON.stringify(`${project}/${environment}`)}`,
    )
  }
}

function isNamed(known: KnownEnvironment, project: string, environment: string): boolean {
  return (
    (known.projectKey === project || known.scope.projectId === project.toLowerCase()) &&
    (known.environmentKey === environment || known.scope.environmentId === environment.toLowerCase())
  )
}
