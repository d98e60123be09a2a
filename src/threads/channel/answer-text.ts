/**
 * Serializes responses to JSON. A long list is serialized item by item, so that it does not block the event
 * loop, and is returned as bytes. Bytes can be transferred to another thread, whereas a text of megabytes
 * would have to be copied and encoded.
 */
import { jsonText } from '#model/text/json-text.ts'

/** Characters serialized in one step: a few tenths of a millisecond. */
const SLICE_LENGTH = 131_072

const encoder = new TextEncoder()

/** Returns the same text as `JSON.stringify` for `answer`, which is a list or an envelope around one. */
export async function answerText(answer: unknown): Promise<string | Uint8Array<ArrayBuffer>> {
  const items: unknown = Array.isArray(answer) ? answer : (answer as { readonly data?: unknown } | null)?.data
  if (!Array.isArray(items) || items.length < 2) return jsonText(answer)
  const slices: Uint8Array[] = []
  let texts: string[] = []
  let length = 0
  for (const item of items) {
    const text = jsonText(item)
    texts.push(text)
    length += text.length
    if (length < SLICE_LENGTH) continue
    slices.push(encoder.encode(`${slices.length === 0 ? '' : ','}${texts.join(',')}`))
    texts = []
    length = 0
    await new Promise(resolve => setImmediate(resolve))
  }
  if (slices.length === 0) return jsonText(answer)
  if (texts.length > 0) slices.push(encoder.encode(`,${texts.join(',')}`))
  const [head, tail] = Array.isArray(answer)
    ? ['[', ']']
    : around(answer as Readonly<Record<string, unknown>>)
  return joined([encoder.encode(head), ...slices, encoder.encode(tail)])
}

/** Returns the text before and after the items of an envelope. */
function around(envelope: Readonly<Record<string, unknown>>): readonly [head: string, tail: string] {
  const names = Object.keys(envelope).filter(name => envelope[name] !== undefined)
  const fields = names.map(
    name => `${JSON.stringify(name)}:${name === 'data' ? '[' : jsonText(envelope[name])}`,
  )
  const at = names.indexOf('data') + 1
  const behind = fields.slice(at).map(field => `,${field}`)
  return [`{${fields.slice(0, at).join(',')}`, `]${behind.join('')}}`]
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
