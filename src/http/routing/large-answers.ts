/**
 * Sends large responses at the speed at which their clients read them. The number of bytes that wait to be
 * sent is limited per thread and per environment. A slow client can therefore block only large responses of
 * the same environment.
 */
import { RawBytes, RawPieces, type Reply } from '#http/message/request-reply.ts'
import { ContentStream } from '#management/content/content-stream.ts'
import { AuthzError } from '#model/errors.ts'
import { Admission } from '#scheduling/admission.ts'

/**
 * Minimum size in bytes of responses that are sent in pieces. Shorter responses are buffered by the HTTP
 * library.
 */
const LARGE_BYTES_MIN = 1_024 * 1_024
/** Number of bytes that are passed to a socket at a time. */
const PIECE_BYTES = 65_536
/** Fraction of the limit that the responses of one environment can use together. */
const SHARE = 1 / 2

/** Limit of the waiting bytes of a thread, as a multiple of the maximum size of a list. */
const LONGEST_ANSWERS = 4

/** Creates replies from JSON that is given in several parts. */
export interface AnswersOfParts {
  /** Throws `OVERLOADED` if too many bytes wait to be sent. */
  reply(environmentId: string, json: readonly Uint8Array[]): Reply | Promise<Reply>
}

/** Creates a reply from a list or from a promise of a list. */
export function listReply(
  answers: AnswersOfParts,
  environmentId: string,
  json: Uint8Array | Promise<Uint8Array>,
): Reply | Promise<Reply> {
  if (json instanceof Promise) return json.then(part => answers.reply(environmentId, [part]))
  return answers.reply(environmentId, [json])
}

export class LargeAnswers implements AnswersOfParts {
  readonly #admission: Admission

  /** `listedBytesMax`: maximum size of one list, in bytes. */
  constructor(listedBytesMax: number) {
    const max = LONGEST_ANSWERS * listedBytesMax
    this.#admission = new Admission({ max, shareMax: SHARE * max }, tooManyAnswers)
  }

  reply(environmentId: string, json: readonly Uint8Array[]): Reply | Promise<Reply> {
    const bytes = json.reduce((sum, part) => sum + part.length, 0)
    if (bytes < LARGE_BYTES_MIN) {
      return { status: 200, body: new RawBytes(json.length === 1 ? json[0]! : Buffer.concat(json)) }
    }
    const release = this.#admission.acquire(environmentId, bytes)
    const pieces = RawPieces.begun(new ContentStream(piecesOf(json), release))
    return pieces.then(body => ({ status: 200, body }))
  }
}

function tooManyAnswers(): AuthzError {
  return new AuthzError('OVERLOADED', 'too many large responses are being sent; try again shortly', {
    limit: 'list',
  })
}

function* piecesOf(parts: readonly Uint8Array[]): Iterable<Uint8Array> {
  for (const part of parts) {
    for (let from = 0; from < part.length; from += PIECE_BYTES) yield part.subarray(from, from + PIECE_BYTES)
  }
}
