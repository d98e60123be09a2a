/**
 * Receives management requests from the HTTP threads. Until the environments are loaded, each request fails
 * with `NOT_READY`.
 */
import type { WaitingClient } from '#model/caller.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import type {
  ManagementAnswer,
  ManagementRequest,
  ManagementService,
} from '#management/management-service.ts'
import { AuthzError } from '#model/errors.ts'
import type { Tracing } from '#telemetry/tracing.ts'

export class ManagementRequests {
  readonly #tracing: Tracing | null
  /** Null if management is not open yet. */
  #service: ManagementService | null = null

  constructor(tracing: Tracing | null) {
    this.#tracing = tracing
  }

  open(service: ManagementService): void {
    this.#service = service
  }

  /** Executes a request. Throws `NOT_READY` if management is not open yet. */
  execute(
    request: ManagementRequest,
    body: PieceSource | null,
    waiting: WaitingClient,
  ): Promise<ManagementAnswer> {
    const work = async () => {
      if (!this.#service) throw new AuthzError('NOT_READY', 'the service is starting; try again shortly')
      return this.#service.execute(request, body, waiting)
    }
    return this.#tracing ? this.#tracing.within(request.operation, request.traceparent, work) : work()
  }
}
