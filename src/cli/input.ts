/** Files that are read: line by line, without being held in memory as a whole, or as one text. */
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { EncodingError, utf8Text } from '#model/utf8-text.ts'
import { ModelFileError, UsageError } from './exit-codes.ts'

/** A positional argument that is a file. `-`, which the parser does not take for a text, is standard input or output. */
export const FILE_ARGUMENT = { type: 'string', coerce: (file: string) => (file === '' ? '-' : file) } as const

export interface InputLine {
  /** Without blanks around it; never empty. */
  readonly text: string
  /** From 1. */
  readonly number: number
}

/**
 * The lines of a file that are not blank; `-` is standard input. Lines that begin with # are comments. Throws `UsageError` for bytes
 * that are not UTF-8.
 */
export async function* linesOf(
  file: string,
  stdin: NodeJS.ReadableStream,
  onBytes: (read: number) => void = () => {},
): AsyncIterable<InputLine> {
  let number = 0
  try {
    for await (const line of linesIn(counted(file === '-' ? stdin : named(file), onBytes))) {
      number += 1
      const text = line.trim()
      if (text !== '' && !text.startsWith('#')) yield { text, number }
    }
  } catch (error) {
    throw error instanceof EncodingError ? new UsageError(`${file}:${error.message}`) : error
  }
}

/** The lines of a file as UTF-8 again, for a body that is not held in memory. Throws `UsageError` for bytes that are not UTF-8. */
export async function* checkedBytesOf(
  file: string,
  pieces: AsyncIterable<Uint8Array | string>,
): AsyncIterable<Uint8Array> {
  try {
    for await (const lines of lineGroupsIn(pieces)) yield Buffer.from(`${lines.join('\n')}\n`)
  } catch (error) {
    throw error instanceof EncodingError ? new UsageError(`${file}:${error.message}`) : error
  }
}

/** The text of a model file. Throws `ModelFileError` for bytes that are not UTF-8. */
export async function modelTextOf(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: Error) => {
    throw about(file, error)
  })
  try {
    return utf8Text(bytes)
  } catch (error) {
    throw error instanceof EncodingError ? new ModelFileError(`${file}:${error.message}`) : error
  }
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

/** The lines in pieces of UTF-8, which may end anywhere. Throws what reading the pieces throws, and `EncodingError`. */
export async function* linesIn(pieces: AsyncIterable<Uint8Array | string>): AsyncIterable<string> {
  for await (const lines of lineGroupsIn(pieces)) yield* lines
}

/** The same lines, those that end in one piece together. */
async function* lineGroupsIn(pieces: AsyncIterable<Uint8Array | string>): AsyncIterable<string[]> {
  // The pieces of a line whose end has not come.
  let rest: Uint8Array[] = []
  let count = 0
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece)
    const end = bytes.lastIndexOf('\n')
    if (end >= 0) {
      const lines = utf8Text(Buffer.concat([...rest, bytes.subarray(0, end)]), count + 1).split('\n')
      rest = []
      count += lines.length
      yield lines
    }
    rest.push(bytes.subarray(end + 1))
  }
  const last = utf8Text(Buffer.concat(rest), count + 1)
  if (last !== '') yield [last]
}
