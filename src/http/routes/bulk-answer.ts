/** The answer to a bulk decision, written without making a value of it: byte for byte what `JSON.stringify` would. */
import { RawJson } from '../exchange.ts'

const ROW = 8

/** Eight results in a row, by their bits, the first one lowest. */
const ROWS = Array.from({ length: 1 << ROW }, (_, bits) =>
  Array.from({ length: ROW }, (_unused, place) => `,${result((bits & (1 << place)) !== 0)}`).join(''),
)

/** `{"allow":[{"allow":true,"result":true},…]}`. O(decisions). */
export function bulkAnswer(decisions: readonly boolean[]): RawJson {
  if (decisions.length === 0) return new RawJson('{"allow":[]}')
  let text = `{"allow":[${result(decisions[0]!)}`
  let index = 1
  for (; index + ROW <= decisions.length; index += ROW) {
    let bits = 0
    for (let place = 0; place < ROW; place++) bits |= Number(decisions[index + place]!) << place
    text += ROWS[bits]!
  }
  for (; index < decisions.length; index++) text += `,${result(decisions[index]!)}`
  return new RawJson(`${text}]}`)
}

function result(allow: boolean): string {
  return `{"allow":${allow},"result":${allow}}`
}
