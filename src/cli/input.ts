/** Reads input files: line by line as a stream, or as one text. */
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { EncodingError, utf8Text } from '#model/utf8-text.ts'
import { ModelFileError, UsageError } from './exit-codes.ts'

/**
 * A positional argument for a file. `-` stands for standard input or output; the parser passes it as an empty
 * string.
 */
export const FILE_ARGUMENT = { type: 'string', coerce: (file: string) => (file === '' ? '-' : file) } as const

export interface InputLine {
  /** Text without surrounding whitespace; never empty. */
  readonly text: string
  /** Line number, starting at 1. */
  readonly number: number
}

/**
 * Yields the lines of a file, without blank lines and comments, which begin with #. `-` is standard input.
 * Throws `UsageError` for invalid UTF-8.
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

/** Yields the lines of a file as UTF-8, for a streamed body. Throws `UsageError` for invalid UTF-8. */
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

/** Text of a model file. Throws `ModelFileError` for invalid UTF-8. */
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

/** Yields the pieces of a file. Errors contain its path. */
async function* named(file: string): AsyncIterable<Uint8Array> {
  try {
    yield* createReadStream(file) as AsyncIterable<Uint8Array>
  } catch (error) {
    throw about(file, error as Error)
  }
}

/** Adds the path of the file to an error. Errors of system calls on open files do not contain it. */
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
 * Yields the lines in pieces of UTF-8, which can be split at any byte. Throws errors of the source, and
 * `EncodingError`.
 */
export async function* linesIn(pieces: AsyncIterable<Uint8Array | string>): AsyncIterable<string> {
  for await (const lines of lineGroupsIn(pieces)) yield* lines
}

/** Yields the lines in groups: the lines that end in the same piece. */
async function* lineGroupsIn(pieces: AsyncIterable<Uint8Array | string>): AsyncIterable<string[]> {
  // Pieces of a line whose end has not been read.
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
