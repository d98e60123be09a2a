/**
 * What commands print: tables and sentences for people, JSON for programs. Results go to standard output, all else to
 * standard error.
 */
import { styleText } from 'node:util'
import { assert } from '#model/assert.ts'

export type OutputForm = 'auto' | 'table' | 'json'

/** A stream that may be a terminal. */
export type OutputStream = NodeJS.WritableStream & { readonly isTTY?: boolean }

interface OutputStreams {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
}

type Style = Parameters<typeof styleText>[0]

/** Told how much is done. */
export type OnProgress = (done: number) => void

/** Characters a progress bar takes. */
const BAR_WIDTH = 30

export class Output {
  /** Whether a person reads the output. */
  readonly isHuman: boolean
  readonly #stdout: OutputStream
  readonly #stderr: OutputStream

  /** `null`: nobody reads tables. */
  readonly #tables: typeof import('table') | null

  /** Loads what the output takes: to draw tables needs longer than to ask a question. */
  static async open(streams: OutputStreams, form: OutputForm): Promise<Output> {
    const isHuman = form === 'auto' ? streams.stdout.isTTY === true : form === 'table'
    return new Output(streams, isHuman ? await import('table') : null)
  }

  private constructor(streams: OutputStreams, tables: typeof import('table') | null) {
    this.#stdout = streams.stdout
    this.#stderr = streams.stderr
    this.#tables = tables
    this.isHuman = tables !== null
  }

  /** Prints a result: the value as JSON on one line, or the text for people. */
  result(value: unknown, human: () => string): void {
    this.#stdout.write(`${this.isHuman ? human() : JSON.stringify(value)}\n`)
  }

  /** Prints something besides the result. */
  note(text: string): void {
    this.#stderr.write(`${text}\n`)
  }

  table(header: readonly string[], rows: readonly (readonly unknown[])[]): string {
    assert(this.#tables !== null, 'tables are for people')
    const { getBorderCharacters, table } = this.#tables
    const cells = [header.map(name => this.style('bold', name)), ...rows.map(row => row.map(textOf))]
    return table(cells, {
      border: getBorderCharacters('void'),
      columnDefault: { paddingLeft: 0, paddingRight: 2 },
      drawHorizontalLine: () => false,
    })
      .replaceAll(/[ \t]+$/gm, '')
      .trimEnd()
  }

  style(style: Style, text: string): string {
    return this.#stdout.isTTY ? styleText(style, text) : text
  }

  /** Does work of which nobody knows how much there is, under a count on standard error, where that is a terminal. */
  async counting<Result>(
    what: string,
    unit: string,
    work: (onProgress: OnProgress) => Promise<Result>,
  ): Promise<Result> {
    const stderr = this.#stderr
    if (!stderr.isTTY) return work(() => {})
    let shown = -1
    try {
      return await work(done => {
        if (done !== shown) stderr.write(`\r${what}: ${(shown = done)} ${unit}`)
      })
    } finally {
      if (shown >= 0) stderr.write('\n')
    }
  }

  /** Does the work under a bar on standard error, where that is a terminal. The bar ends with the work, however that ends. */
  async progress<Result>(
    what: string,
    total: number,
    unit: string,
    work: (onProgress: OnProgress) => Promise<Result>,
  ): Promise<Result> {
    if (!this.#stderr.isTTY || total === 0) return work(() => {})
    const { SingleBar } = await import('cli-progress')
    const bar = new SingleBar({
      format: `${what} {bar} {percentage} % · {value} of {total} ${unit} · {eta_formatted} left`,
      stream: this.#stderr,
      barsize: BAR_WIDTH,
      // Cut by us at the edge. If the terminal's line wrapping were switched off for that, it would stay off when the
      // process is killed.
      linewrap: true,
    })
    bar.start(total, 0)
    try {
      return await work(done => bar.update(done))
    } finally {
      // Until then its timer keeps the process alive.
      bar.stop()
    }
  }
}

/** The text of a cell: one line, without control sequences. */
function textOf(value: unknown): string {
  const text =
    typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)
  return text.replaceAll(/\p{Cc}/gu, '�')
}
