/** Runs the service inside this process, with an in-memory store. */
import { InProcessService } from '#composition/wiring/in-process-service.ts'
import { assert } from '#model/assert.ts'
import { type Api, type ApiAnswer, bodyOf, warningOf } from './api.ts'

export class InProcessApi implements Api {
  readonly #service: InProcessService
  /** Defects that occurred in the service. The first one is reported to the user. */
  readonly #faults: unknown[]

  /** `variables`: settings of the service. */
  static async open(variables: Readonly<Record<string, string>> = {}): Promise<InProcessApi> {
    const faults: unknown[] = []
    return new InProcessApi(await InProcessService.open(fault => faults.push(fault), variables), faults)
  }

  private constructor(service: InProcessService, faults: unknown[]) {
    this.#service = service
    this.#faults = faults
  }

  async send(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const answer = await this.#service.answer(method, path, body === undefined ? '' : JSON.stringify(body))
    if (this.#faults.length > 0) throw this.#faults[0]
    const { body: content, pieces } = answer
    assert(pieces === null, 'responses in pieces are not requested here')
    const text = typeof content === 'string' ? content : Buffer.from(content ?? []).toString()
    const { status, headers } = answer
    const warning = warningOf(headers?.['warning'])
    return { status, body: bodyOf(text), warning, tag: headers?.['etag'] ?? null }
  }

  close(): Promise<void> {
    return this.#service.close()
  }
}
