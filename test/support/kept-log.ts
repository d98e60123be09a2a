/** A log of a store that keeps its lines for assertions. */
import type { StoreLog } from '#store/store-log.ts'

export interface KeptLine {
  readonly level: 'info' | 'warn'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export class KeptLog implements StoreLog {
  readonly lines: KeptLine[] = []
  readonly #waiting = new Set<() => void>()

  info(fields: KeptLine['fields'], message: string): void {
    this.#keep({ level: 'info', message, fields })
  }

  warn(fields: KeptLine['fields'], message: string): void {
    this.#keep({ level: 'warn', message, fields })
  }

  /** Resolves when a matching line exists. */
  async has(isMeant: (line: KeptLine) => boolean): Promise<void> {
    while (!this.lines.some(isMeant)) {
      await new Promise<void>(resolve => {
        this.#waiting.add(resolve)
      })
    }
  }

  #keep(line: KeptLine): void {
    this.lines.push(line)
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}
