/**
 * Answers that may be large: they go out as fast as their callers read them. The bytes kept until then are bounded, for all callers
 * of a thread and for those of one environment: a caller that reads slowly keeps large answers from its own environment only.
 */
import { RawBytes, RawPieces, type Reply } from '#http/message/request-reply.ts'
import { ContentStream } from '#management/content/content-stream.ts'
import { AuthzError } from '#model/errors.ts'

/** Answers of at least this size are sent in pieces. Shorter ones are left to the library's buffer. */
const LARGE_BYTES_MIN = 1_024 * 1_024
/** Bytes given to a socket at a time. */
const PIECE_BYTES = 65_536
/** The part of all kept bytes that one environment may have. */
const SHARE = 1 / 2

/** A thread keeps at most as many bytes as this number of the longest lists. */
const LONGEST_ANSWERS = 4

/** Makes replies of JSON that comes in parts. */
export interface AnswersOfParts {
  /** Throws `OVERLOADED` when too much is kept for others already. */
  reply(environmentId: string, json: readonly Uint8Array[]): Reply | Promise<Reply>
}

/** The reply with a list that is there, or will be. */
export function listReply(
  answers: AnswersOfParts,
  environmentId: string,
  json: Uint8Array | Promise<Uint8Array>,
): Reply | Promise<Reply> {
  if (json instanceof Promise) return json.then(part => answers.reply(environmentId, [part]))
  return answers.reply(environmentId, [json])
}

export class LargeAnswers implements AnswersOfParts {
  readonly #bytesMax: number
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0

  /** `listedBytesMax` is the ceiling of one list, in bytes. */
  constructor(listedBytesMax: number) {
    this.#bytesMax = LONGEST_ANSWERS * listedBytesMax
  }

  reply(environmentId: string, json: readonly Uint8Array[]): Reply | Promise<Reply> {
    const bytes = json.reduce((sum, part) => sum + part.length, 0)
    if (bytes < LARGE_BYTES_MIN) {
      return { status: 200, body: new RawBytes(json.length === 1 ? json[0]! : Buffer.concat(json)) }
    }
    const release = this.#take(environmentId, bytes)
    const pieces = RawPieces.begun(new ContentStream(piecesOf(json), release))
    return pieces.then(body => ({ status: 200, body }))
  }

  #take(environmentId: string, bytes: number): () => void {
    const before = this.#bytesOf.get(environmentId) ?? 0
    if (before + bytes > SHARE * this.#bytesMax || this.#bytes + bytes > this.#bytesMax) {
      throw new AuthzError('OVERLOADED', 'too many large answers are being sent; try again shortly', {
        limit: 'list',
      })
    }
    this.#add(environmentId, bytes)
    return () => this.#add(environmentId, -bytes)
  }

  #add(environmentId: string, bytes: number): void {
    this.#bytes += bytes
    const ofEnvironment = (this.#bytesOf.get(environmentId) ?? 0) + bytes
    if (ofEnvironment === 0) this.#bytesOf.delete(environmentId)
    else this.#bytesOf.set(environmentId, ofEnvironment)
  }
}

function* piecesOf(parts: readonly Uint8Array[]): Iterable<Uint8Array> {
  for (const part of parts) {
    for (let from = 0; from < part.length; from += PIECE_BYTES) yield part.subarray(from, from + PIECE_BYTES)
  }
}
