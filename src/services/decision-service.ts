/** Answers decision requests on the thread that parsed them, from that thread's engines. Never waits. */
import type { Query } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import type { AllowedQuery } from '#model/wire/decision.ts'
import type { Engine } from '#engine/engine.ts'

/** Where a thread keeps its engines. */
export interface EngineSource {
  /** The environment's engine; null while it is not loaded. */
  engine(environmentId: string): Engine | null
}

export class DecisionService {
  readonly #engines: EngineSource
  readonly #bulkChecksMax: number

  constructor(engines: EngineSource, limits: { readonly bulkChecksMax: number }) {
    this.#engines = engines
    this.#bulkChecksMax = limits.bulkChecksMax
  }

  /** Throws `NOT_READY` while the environment is not loaded; an unknown name is a plain false. */
  check(environmentId: string, question: AllowedQuery): boolean {
    return this.#engine(environmentId).evaluate(queryOf(question))
  }

  /** All checks at one state, in order. Throws `LIMIT_EXCEEDED` beyond the configured number. */
  checkAll(environmentId: string, questions: readonly AllowedQuery[]): boolean[] {
    if (questions.length > this.#bulkChecksMax) {
      throw new AuthzError(
        'LIMIT_EXCEEDED',
        `a bulk holds at most ${this.#bulkChecksMax} checks (MAX_BULK_CHECKS), this one ${questions.length}`,
      )
    }
    return this.#engine(environmentId).evaluateAll(questions.map(queryOf))
  }

  #engine(environmentId: string): Engine {
    const engine = this.#engines.engine(environmentId)
    if (!engine)
      throw new AuthzError('NOT_READY', 'this environment is still being loaded; try again shortly')
    return engine
  }
}

function queryOf(question: AllowedQuery): Query {
  return {
    user: question.user.key,
    action: question.action,
    type: question.resource.type,
    key: question.resource.key ?? null,
    tenant: question.resource.tenant ?? null,
  }
}
