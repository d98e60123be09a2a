/** Reads input files: line by line as a stream, or as one text. */
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { EncodingError, utf8Text } from '#model/text/utf8-text.ts'
import { ModelFileError, UsageError } from './exit-codes.ts'

/**
 * Positional argument for a file. `-` means standard input or output. The parser passes it as an empty
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
 * Yields the lines of a file. Blank lines and comments, which begin with `#`, are skipped. `-` means standard
 * input. Throws `UsageError` if the file is not valid UTF-8.
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

/**
 * Yields the lines of a file as UTF-8, to be sent as a body. Throws `UsageError` if the file is not valid
 * UTF-8.
 */
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

/** Returns the text of a model file. Throws `ModelFileError` if the file is not valid UTF-8. */
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

/** Yields the pieces of a file. If reading fails, the error contains the path of the file. */
async function* named(file: string): AsyncIterable<Uint8Array> {
  try {
    yield* createReadStream(file) as AsyncIterable<Uint8Array>
  } catch (error) {
    throw about(file, error as Error)
  }
}

/**
 * Adds the path of a file to an error. If a system call on an open file fails, its error does not contain the
 * path.
 */
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
 * Yields the lines of a UTF-8 text that is given in pieces. Pieces can be split at any byte. Throws the
 * errors of the source, and `EncodingError`.
 */
export async function* linesIn(pieces: AsyncIterable<Uint8Array | string>): AsyncIterable<string> {
  for await (const lines of lineGroupsIn(pieces)) yield* lines
}

/** Yields the lines in groups. A group consists of the lines that end in the same piece. */
async function* lineGroupsIn(pieces: AsyncIterable<Uint8Array | string>): AsyncIterable<string[]> {
  // Pieces of the current line, whose end has not been read.
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
