/**
 * Writes the response to a bulk check directly as bytes, without creating a JavaScript object or a string.
 * The bytes equal the output of `JSON.stringify`. A string of 10,000 decisions would be a large object of V8:
 * V8 would request memory for it from the operating system each time. The string would also be copied twice.
 */
import { BodyBuffers } from '#http/message/body-buffers.ts'
import { LentJson, type Reply } from '#http/message/request-reply.ts'
import type { Verdicts } from '#model/question.ts'

const ROW = 8
/** Minimum size of a buffer in bytes, which is sufficient for bulks of several hundred checks. */
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

/** Creates the reply from decisions or from a promise of decisions. */
export function replyWith(
  verdicts: Verdicts | Promise<Verdicts>,
  write: (verdicts: Verdicts) => LentJson,
): Reply | Promise<Reply> {
  if (verdicts instanceof Promise) return verdicts.then(made => ({ status: 200, body: write(made) }))
  return { status: 200, body: write(verdicts) }
}

/** Returns a function that writes responses in one format. O(decisions). */
function answerWith(
  head: string,
  result: (decision: boolean) => string,
  end = ']}',
): (decisions: Verdicts) => LentJson {
  const headBytes = Buffer.from(head)
  const endBytes = Buffer.from(end)
  const results = [Buffer.from(`,${result(false)}`), Buffer.from(`,${result(true)}`)] as const
  const resultBytesMax = Math.max(...results.map(({ length }) => length))
  // JSON texts of all combinations of eight decisions. The index of a combination is a number whose bits are
  // the decisions; its lowest bit is the first decision.
  const rows = Array.from({ length: 1 << ROW }, (_, bits) =>
    Buffer.concat(Array.from({ length: ROW }, (_unused, place) => results[(bits >> place) & 1]!)),
  )
  const buffers = new BodyBuffers()
  const giveBack = ({ buffer }: Uint8Array): void => buffers.giveBack(Buffer.from(buffer))
  return decisions => {
    const bytesMax = headBytes.length + decisions.length * resultBytesMax + endBytes.length
    const bytes = buffers.take(Math.max(bytesMax, BUFFER_BYTES_MIN))
    // Each result begins with a comma. The writing of results begins at the last byte of the head, so that
    // this byte overwrites the comma of the first result.
    let at = decisions.length === 0 ? headBytes.length : headBytes.length - 1
    let index = 0
    for (; index + ROW <= decisions.length; index += ROW) {
      let bits = 0
      for (let place = 0; place < ROW; place++) bits |= decisions[index + place]! << place
      const row = rows[bits]!
      bytes.set(row, at)
      at += row.length
    }
    for (; index < decisions.length; index++) {
      const one = results[decisions[index]!]!
      bytes.set(one, at)
      at += one.length
    }
    bytes.set(endBytes, at)
    at += endBytes.length
    bytes.set(headBytes)
    return new LentJson(bytes.subarray(0, at), giveBack)
  }
}
