/** A view that always delegates to the current replica. */
import { AuthzError } from '#model/errors.ts'
import type { Row } from '#store/ledger.ts'
import type { View, ViewSnapshot } from '#store/view.ts'
import type { LocalCopy } from './local-copy.ts'

export class PresentView implements View {
  readonly #present: () => LocalCopy

  constructor(present: () => LocalCopy) {
    this.#present = present
  }

  get present(): View {
    return this.#present().view
  }

  sequence(): number {
    return this.#present().view.sequence()
  }

  get(key: Uint8Array): Row | undefined {
    return this.#complete().get(key)
  }

  places(...args: Parameters<View['places']>): Iterable<number> {
    return this.#complete().places(...args)
  }

  scan(...args: Parameters<View['scan']>): Iterable<Row> {
    return this.#complete().scan(...args)
  }

  count(list: Uint8Array): number {
    return this.#complete().count(list)
  }

  batches(): Iterable<readonly Row[]> {
    return this.#present().view.batches()
  }

  beginningWith(prefix: Uint8Array): Iterable<Row> {
    const copy = this.#present()
    return (copy.hasKeysOf(prefix) ? copy.view : this.#complete()).beginningWith(prefix)
  }

  snapshot(): ViewSnapshot {
    return this.#complete().snapshot()
  }

  #complete(): View {
    const copy = this.#present()
    if (copy.isComplete) return copy.view
    throw new AuthzError(
      'NOT_READY',
      'the secondary indexes of this environment are still being built; try again shortly',
    )
  }
}
