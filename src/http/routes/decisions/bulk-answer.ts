/**
 * Writes the response to a bulk check directly as bytes, without building a value or a string. The bytes are
 * identical to the output of `JSON.stringify`. A string of 10,000 decisions would be a large object of V8:
 * the operating system would allocate memory for it each time. It would also be copied twice.
 */
import { BodyBuffers } from '#http/message/body-buffers.ts'
import { LentJson, type Reply } from '#http/message/request-reply.ts'

/** Decisions in order: true or 1 allows. */
type Verdicts = ArrayLike<boolean | number>

const ROW = 8
/** Minimum size of a buffer. It fits bulks of up to several hundred checks. */
const BUFFER_BYTES_MIN = 16 * 1_024

/** Response of `/allowed/bulk`: `{"allow":[{"allow":true,"result":true},…]}`. */
export const bulkAnswer = answerWith('{"allow":[', allow => `{"allow":${allow},"result":${allow}}`)

/** The same response in the envelope of the Open Policy Agent. */
export const opaBulkAnswer = answerWith(
  '{"result":{"allow":[',
  allow => `{"allow":${allow},"result":${allow}}`,
  ']}}',
)

/** Response to a batch of evaluations: `{"evaluations":[{"decision":true},…]}`. */
export const evaluationsAnswer = answerWith('{"evaluations":[', decision => `{"decision":${decision}}`)

/** The reply for decisions that are known, or promised. */
export function replyWith(
  verdicts: Verdicts | Promise<Verdicts>,
  write: (verdicts: Verdicts) => LentJson,
): Reply | Promise<Reply> {
  if (verdicts instanceof Promise) return verdicts.then(made => ({ status: 200, body: write(made) }))
  return { status: 200, body: write(verdicts) }
}

/** Returns a writer of responses with one format. O(decisions). */
function answerWith(
  head: string,
  result: (decision: boolean) => string,
  end = ']}',
): (decisions: Verdicts) => LentJson {
  const headBytes = Buffer.from(head)
  const endBytes = Buffer.from(end)
  const results = [Buffer.from(`,${result(false)}`), Buffer.from(`,${result(true)}`)] as const
  const resultBytesMax = Math.max(...results.map(({ length }) => length))
  // JSON of all combinations of eight results, indexed by their bits. The lowest bit is the first result.
  const rows = Array.from({ length: 1 << ROW }, (_, bits) =>
    Buffer.concat(Array.from({ length: ROW }, (_unused, place) => results[(bits >> place) & 1]!)),
  )
  const buffers = new BodyBuffers()
  const giveBack = ({ buffer }: Uint8Array): void => buffers.giveBack(Buffer.from(buffer))
  return decisions => {
    const bytesMax = headBytes.length + decisions.length * resultBytesMax + endBytes.length
    const bytes = buffers.take(Math.max(bytesMax, BUFFER_BYTES_MIN))
    // A comma precedes each result. The end of the head overwrites the comma of the first one.
    let at = decisions.length === 0 ? headBytes.length : headBytes.length - 1
    let index = 0
    for (; index + ROW <= decisions.length; index += ROW) {
      let bits = 0
      for (let place = 0; place < ROW; place++) bits |= Number(decisions[index + place]!) << place
      const row = rows[bits]!
      bytes.set(row, at)
      at += row.length
    }
    for (; index < decisions.length; index++) {
      const one = results[Number(decisions[index]!)]!
      bytes.set(one, at)
      at += one.length
    }
    bytes.set(endBytes, at)
    at += endBytes.length
    bytes.set(headBytes)
    return new LentJson(bytes.subarray(0, at), giveBack)
  }
}
