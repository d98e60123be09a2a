/** Files that are read line by line, without being held in memory as a whole. */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** A positional argument that is a file; `-`, which the parser takes for no text, is standard input or output. */
export const FILE_ARGUMENT = { type: 'string', coerce: (file: string) => (file === '' ? '-' : file) } as const

export interface InputLine {
  /** Without blanks around it; never empty. */
  readonly text: string
  /** From 1. */
  readonly number: number
}

/** The lines of a file that say something; `-` is standard input. Lines that begin with # are comments. */
export async function* linesOf(file: string, stdin: NodeJS.ReadableStream): AsyncIterable<InputLine> {
  const input = file === '-' ? stdin : createReadStream(file)
  let number = 0
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1
    const text = line.trim()
    if (text !== '' && !text.startsWith('#')) yield { text, number }
  }
}
