/**
 * Output of commands. People get tables and sentences, and programs get JSON. Results are written to standard
 * output, and all other text to standard error.
 */
import { styleText } from 'node:util'
import { assert } from '#model/assert.ts'

export type OutputForm = 'auto' | 'table' | 'json'

/** A stream that can be a terminal. */
export type OutputStream = NodeJS.WritableStream & { readonly isTTY?: boolean }

interface OutputStreams {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
}

type Style = Parameters<typeof styleText>[0]

/** Receives the amount of completed work. */
export type OnProgress = (done: number) => void

/** Width of a progress bar, in characters. */
const BAR_WIDTH = 30

export class Output {
  /** Whether the output is for people. */
  readonly isHuman: boolean
  readonly #stdout: OutputStream
  readonly #stderr: OutputStream

  /** Library for tables. Null if the output is for programs. */
  readonly #tables: typeof import('table') | null

  /**
   * Creates the output. Loads the library for tables only if it is needed, because loading it takes longer
   * than a check.
   */
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

  /** Prints a result. Programs get the value as JSON in one line, and people get the text. */
  result(value: unknown, human: () => string): void {
    this.#stdout.write(`${this.isHuman ? human() : JSON.stringify(value)}\n`)
  }

  /** Prints a note to standard error. */
  note(text: string): void {
    this.#stderr.write(`${text}\n`)
  }

  table(header: readonly string[], rows: readonly (readonly unknown[])[]): string {
    assert(this.#tables !== null, 'tables are printed for terminals only')
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

  /** Performs work whose size is unknown. If standard error is a terminal, shows a counter on it. */
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

  /**
   * Performs work. If standard error is a terminal, shows a progress bar on it. The bar is removed even if
   * the work fails.
   */
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
      // This code truncates the line to the width of the terminal, so the library must not change the line
      // wrapping. If the library disabled the wrapping and the process were killed, the terminal would keep
      // this setting.
      linewrap: true,
    })
    bar.start(total, 0)
    try {
      return await work(done => bar.update(done))
    } finally {
      // Without this call, the timer of the bar would keep the process alive.
      bar.stop()
    }
  }
}

/** Converts a value to the text of a table cell: one line without control characters. */
function textOf(value: unknown): string {
  const text =
    typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)
  return text.replaceAll(/\p{Cc}/gu, '�')
}
