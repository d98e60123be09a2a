/**
 * The entrance to management: finds the environment a request is about, makes sure the caller may touch it, and runs
 * the operation there. One per process, on the thread that writes.
 */
import { AuthzError } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import type { EnvironmentService } from './environment-service.ts'
import type { Answered } from './management/commit-draft.ts'
import type { OperationInput, OperationName } from './management/operations.ts'
import type { KnownEnvironment } from './organization.ts'

/** A management request as it crosses from the thread that parsed it: validated, credentials checked. */
export interface ManagementRequest<Name extends OperationName = OperationName> {
  readonly operation: Name
  readonly principal: Principal
  /** The environment as the path names it, by key or id. */
  readonly project: string
  readonly environment: string
  readonly input: OperationInput<Name>
}

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
    return this.#resolve(request).service.execute(request.operation, request.input)
  }

  /** An environment key learns nothing about other environments, not even whether they exist. */
  #resolve(request: ManagementRequest): ManagedEnvironment {
    const { principal, project, environment } = request
    const visible =
      principal.kind === 'organization'
        ? this.#environments
        : this.#environments.filter(({ scope }) => scope.environmentId === principal.environmentId)
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
