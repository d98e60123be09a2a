/** The answer to a bulk decision, written without making a value of it: byte for byte what `JSON.stringify` would. */
import { RawJson, type Reply } from '../exchange.ts'

/** Verdicts in order: true or 1 allows. */
type Verdicts = ArrayLike<boolean | number>

const ROW = 8

/** The answer of `/allowed/bulk`: `{"allow":[{"allow":true,"result":true},…]}`. */
export const bulkAnswer = answerWith('{"allow":[', allow => `{"allow":${allow},"result":${allow}}`)

/** That of a batch of evaluations: `{"evaluations":[{"decision":true},…]}`. */
export const evaluationsAnswer = answerWith('{"evaluations":[', decision => `{"decision":${decision}}`)

/** The reply with verdicts that are there, or will be. */
export function replyWith(
  verdicts: Verdicts | Promise<Verdicts>,
  write: (verdicts: Verdicts) => RawJson,
): Reply | Promise<Reply> {
  if (verdicts instanceof Promise) return verdicts.then(come => ({ status: 200, body: write(come) }))
  return { status: 200, body: write(verdicts) }
}

/** Writes answers of one form. O(decisions). */
function answerWith(head: string, result: (decision: boolean) => string): (decisions: Verdicts) => RawJson {
  const results = [result(false), result(true)] as const
  // Eight results in a row, by their bits, the first one lowest.
  const rows = Array.from({ length: 1 << ROW }, (_, bits) =>
    Array.from({ length: ROW }, (_unused, place) => `,${results[(bits >> place) & 1]!}`).join(''),
  )
  return decisions => {
    if (decisions.length === 0) return new RawJson(`${head}]}`)
    let text = head + results[Number(decisions[0]!)]!
    let index = 1
    for (; index + ROW <= decisions.length; index += ROW) {
      let bits = 0
      for (let place = 0; place < ROW; place++) bits |= Number(decisions[index + place]!) << place
      text += rows[bits]!
    }
    for (; index < decisions.length; index++) text += `,${results[Number(decisions[index]!)]!}`
    return new RawJson(`${text}]}`)
  }
}
