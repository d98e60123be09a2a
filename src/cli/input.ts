/** Files that are read: line by line, without being held in memory as a whole, or as one text. */
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { UsageError } from './exit-codes.ts'

/** A positional argument that is a file. `-`, which the parser does not take for a text, is standard input or output. */
export const FILE_ARGUMENT = { type: 'string', coerce: (file: string) => (file === '' ? '-' : file) } as const

export interface InputLine {
  /** Without blanks around it; never empty. */
  readonly text: string
  /** From 1. */
  readonly number: number
}

/** The lines of a file that are not blank; `-` is standard input. Lines that begin with # are comments. */
export async function* linesOf(
  file: string,
  stdin: NodeJS.ReadableStream,
  onBytes: (read: number) => void = () => {},
): AsyncIterable<InputLine> {
  let number = 0
  for await (const line of linesIn(counted(file === '-' ? stdin : named(file), onBytes))) {
    number += 1
    const text = line.trim()
    if (text !== '' && !text.startsWith('#')) yield { text, number }
  }
}

/** The text of a whole file. */
export async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => {
    throw about(file, error)
  })
}

/** The pieces of a file. */
async function* named(file: string): AsyncIterable<Uint8Array> {
  try {
    yield* createReadStream(file) as AsyncIterable<Uint8Array>
  } catch (error) {
    throw about(file, error as Error)
  }
}

/** Calls of the system that read what is open already do not say which file they were about. */
function about(file: string, error: Error): Error {
  return Object.assign(error, { path: file })
}

async function* counted(
  pieces: AsyncIterable<Uint8Array | string>,
  onBytes: (read: number) => void,
): AsyncIterable<Uint8Array | string> {
  let read = 0
  for await (const piece of pieces) {
    yield piece
    onBytes((read += piece.length))
  }
}

/**
 * The lines in pieces of UTF-8, which may end anywhere. Throws what reading the pieces throws, and `UsageError` for bytes
 * that are no UTF-8.
 */
export async function* linesIn(pieces: AsyncIterable<Uint8Array | string>): AsyncIterable<string> {
  // Invalid bytes are refused: with a replacement character another key would be meant.
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decoded = (piece?: Uint8Array): string => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined })
    } catch {
      throw new UsageError('what is to be read line by line is no UTF-8')
    }
  }
  let rest = ''
  for await (const piece of pieces) {
    const lines = (typeof piece === 'string' ? piece : decoded(piece)).split('\n')
    lines[0] = rest + lines[0]
    rest = lines.pop()!
    yield* lines
  }
  rest += decoded()
  if (rest !== '') yield rest
}
