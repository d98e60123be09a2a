/** An HTTP thread's engines, one an environment, kept level by the main thread's messages. */
import { assert } from '#model/assert.ts'
import type { Engine } from '#engine/engine.ts'
import type { EngineSource } from '#services/decision-service.ts'
import type { IndexMessage } from './messages.ts'

export class EngineReplicas implements EngineSource {
  readonly #createEngine: () => Engine
  readonly #inUse = new Map<string, Engine>()
  readonly #loading = new Map<string, Engine>()

  constructor(createEngine: () => Engine) {
    this.#createEngine = createEngine
  }

  engine(environmentId: string): Engine | null {
    return this.#inUse.get(environmentId) ?? null
  }

  /** Takes one message. Throws only on a broken invariant, after which no answer of this thread can be trusted. */
  receive(message: IndexMessage): void {
    const { environmentId } = message
    switch (message.kind) {
      case 'load-begin':
        this.#loading.set(environmentId, this.#createEngine())
        break
      case 'load-part':
        this.#require(this.#loading, environmentId).apply(message.changes)
        break
      case 'load-end':
        this.#inUse.set(environmentId, this.#require(this.#loading, environmentId))
        this.#loading.delete(environmentId)
        break
      case 'apply':
        this.#require(this.#inUse, environmentId).apply(message.changes)
        break
    }
  }

  #require(engines: ReadonlyMap<string, Engine>, environmentId: string): Engine {
    const engine = engines.get(environmentId)
    assert(engine, 'changes come for an environment that has been, or is being, loaded')
    return engine
  }
}
