/**
 * The answer to a bulk decision, written without making a value or a text of it: byte for byte what `JSON.stringify` would. As a
 * text an answer of 10,000 was a large object of V8's, for which the system gave memory each time, and was copied twice.
 */
import { BodyBuffers } from '#http/message/body-buffers.ts'
import { LentJson, type Reply } from '#http/message/request-reply.ts'

/** Verdicts in order: true or 1 allows. */
type Verdicts = ArrayLike<boolean | number>

const ROW = 8
/** One buffer serves all bulks of up to some hundred. */
const BUFFER_BYTES_MIN = 16 * 1_024

/** The answer of `/allowed/bulk`: `{"allow":[{"allow":true,"result":true},…]}`. */
export const bulkAnswer = answerWith('{"allow":[', allow => `{"allow":${allow},"result":${allow}}`)

/** The same in the envelope of an Open Policy Agent. */
export const opaBulkAnswer = answerWith(
  '{"result":{"allow":[',
  allow => `{"allow":${allow},"result":${allow}}`,
  ']}}',
)

/** The answer to a batch of evaluations: `{"evaluations":[{"decision":true},…]}`. */
export const evaluationsAnswer = answerWith('{"evaluations":[', decision => `{"decision":${decision}}`)

/** The reply for verdicts that are known, or promised. */
export function replyWith(
  verdicts: Verdicts | Promise<Verdicts>,
  write: (verdicts: Verdicts) => LentJson,
): Reply | Promise<Reply> {
  if (verdicts instanceof Promise) return verdicts.then(made => ({ status: 200, body: write(made) }))
  return { status: 200, body: write(verdicts) }
}

/** Writes answers of one form. O(decisions). */
function answerWith(
  head: string,
  result: (decision: boolean) => string,
  end = ']}',
): (decisions: Verdicts) => LentJson {
  const headBytes = Buffer.from(head)
  const endBytes = Buffer.from(end)
  const results = [Buffer.from(`,${result(false)}`), Buffer.from(`,${result(true)}`)] as const
  const resultBytesMax = Math.max(...results.map(({ length }) => length))
  // Eight results in a row, by their bits, the first one lowest.
  const rows = Array.from({ length: 1 << ROW }, (_, bits) =>
    Buffer.concat(Array.from({ length: ROW }, (_unused, place) => results[(bits >> place) & 1]!)),
  )
  const buffers = new BodyBuffers()
  const giveBack = ({ buffer }: Uint8Array): void => buffers.giveBack(Buffer.from(buffer))
  return decisions => {
    const bytesMax = headBytes.length + decisions.length * resultBytesMax + endBytes.length
    const bytes = buffers.take(Math.max(bytesMax, BUFFER_BYTES_MIN))
    // A comma comes before each result. The comma of the first one is overwritten by the end of the head.
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
