/** Sends management requests from an HTTP thread to the thread that writes, and gives each its answer. */
import type { MessagePort } from 'node:worker_threads'
import { assert } from '#model/assert.ts'
import { errorFromData } from '#model/errors.ts'
import type { ManagementRequest } from '#services/management-service.ts'
import type { FromHttpThread, ManagementAnswer } from './messages.ts'

export interface ManagementReply {
  /** The answer's body as JSON; null: no body. */
  readonly json: string | null
  readonly isCreated: boolean
  /** `<epoch>.<sequence>`: the state the answer tells of, or several, separated by commas. */
  readonly revision: string
}

interface Waiting {
  readonly resolve: (reply: ManagementReply) => void
  readonly reject: (error: unknown) => void
}

export class ManagementClient {
  readonly #port: MessagePort
  readonly #waiting = new Map<number, Waiting>()
  #lastCall = 0

  constructor(port: MessagePort) {
    this.#port = port
  }

  /** Resolves when the change is visible to every decision of the process. Rejects with the operation's `AuthzError`. */
  execute(request: ManagementRequest): Promise<ManagementReply> {
    this.#lastCall += 1
    const call = this.#lastCall
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject })
      this.#port.postMessage({ kind: 'manage', call, request } satisfies FromHttpThread)
    })
  }

  receive(call: number, answer: ManagementAnswer): void {
    const waiting = this.#waiting.get(call)
    assert(waiting, 'an answer comes once, to a call that was made')
    this.#waiting.delete(call)
    if ('error' in answer) waiting.reject(errorFromData(answer.error))
    else waiting.resolve(answer)
  }
}
