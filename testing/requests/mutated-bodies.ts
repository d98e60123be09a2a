/** Slightly mutated bodies, as an attacker would send to find differences between parsers. */
import { isDeepStrictEqual } from 'node:util'
import type { Query, SentAttributes } from '#model/decision.ts'
import { viewOf } from '#http/message/byte-views.ts'
import type { PackedQueries } from '#model/packed-queries.ts'
import type { Random } from '#testing/data/random.ts'

/** Bytes that are inserted or that replace bytes: all bytes with a meaning in JSON, and a few more. */
const BYTES = [
  ...Buffer.from('{}[]:,"\\ \n\t\r/0123456789-+.eEutfnal_x'),
  0x00,
  0x1f,
  0x7f,
  0x80,
  0xc3,
  0xa9,
  0xef,
  0xff,
]
const SNIPPETS = [
  'null',
  'true',
  '01',
  '1.',
  '1e5',
  '-',
  '"',
  '\\u0061',
  '\\u00e9',
  '\\ud83d\\ude00',
  '\\ud83d',
  '\\"',
  '\\/',
  'é',
  '{}',
  '[]',
  '"key":"z",',
  ',',
  '\ufeff',
  '//',
]

/** Returns a copy in which some bytes are removed, repeated, replaced or inserted. */
function bend(body: Buffer, random: Random): Buffer {
  const at = random.below(body.length + 1)
  const to = Math.min(body.length, at + 1 + random.below(8))
  const [before, cut, after] = [body.subarray(0, at), body.subarray(at, to), body.subarray(to)]
  switch (random.below(8)) {
    case 0:
      return before
    case 1:
      return Buffer.concat([before, after])
    case 2:
      return Buffer.concat([before, cut, cut, after])
    case 3:
      return Buffer.concat([before, Buffer.from(random.pick(SNIPPETS)), cut, after])
    case 4:
      return Buffer.concat([body, Buffer.from([random.pick(BYTES)])])
    case 5: {
      const from = random.below(body.length + 1)
      return Buffer.concat([before, body.subarray(from, from + 30), after])
    }
    default: {
      const bent = Buffer.from(body)
      if (at < bent.length) bent[at] = random.pick(BYTES)
      return bent
    }
  }
}

const DIFFERING_TEXTS = ['', 'a', '10.0.0.1', 'é', '計画', 'a"b', 'a/b', '\\', '"},{', 'x'.repeat(1_100)]
const DIFFERING_NUMBERS = [0, 7, -1, 1.5, 1e21, -2.5e-9, 1_763_892_000_000]

/** Attributes, such as times and addresses, of which only the values differ between checks. */
export function differingAttributes(random: Random): object {
  const text = () => (random.chance(0.2) ? random.pick(DIFFERING_TEXTS) : `at ${random.below(10_000)}`)
  return { ip: text(), of: { risk: random.pick(DIFFERING_NUMBERS), names: [text(), true] } }
}

/** Half of the bodies stay unchanged. The others are mutated one to three times. */
export function perhapsBent(body: Buffer, random: Random): Buffer {
  if (!random.chance(0.5)) return body
  let bent = body
  for (let times = 1 + random.below(3); times > 0; times--) bent = bend(bent, random)
  return bent
}

/** Returns the bytes of a JSON text. Some of the texts are converted to ASCII. */
export function written(text: string, random: Random): Buffer {
  return Buffer.from(random.chance(0.2) ? asciiOf(text, random) : text)
}

/** Converts JSON to ASCII, as many libraries write it, sometimes with unnecessary escapes. */
function asciiOf(text: string, random: Random): string {
  const digits = (unit: string) => {
    const hex = unit.charCodeAt(0).toString(16).padStart(4, '0')
    return `\\u${random.chance(0.5) ? hex : hex.toUpperCase()}`
  }
  // Does not modify existing escape sequences, because that would change their meaning.
  return text.replaceAll(/\\.|[\u0080-\uffff]|\/|[k-m](?=\w)/g, unit => {
    if (unit === '/') return '\\/'
    if (unit.length === 2) return unit
    return unit >= '\u0080' || random.chance(0.02) ? digits(unit) : unit
  })
}

/** A reader that parses queries from bytes. Returns null if the generic parser must parse the body. */
interface Reader {
  read(body: DataView): PackedQueries | null
}

/**
 * Returns true if the reader accepted the body. Throws an error with the body if the reader returned other
 * queries than the generic parser. Reads the body twice, because the second time it can match a template.
 */
export function judgeReader(reader: Reader, body: Buffer, asked: readonly (Query | null)[] | null): boolean {
  // Each result is verified before the next call to `read`, which overwrites it.
  const isRead = judgeReading(body, reader.read(viewOf(body)), asked)
  judgeReading(body, reader.read(viewOf(body)), asked)
  return isRead
}

function judgeReading(
  body: Buffer,
  packed: PackedQueries | null,
  asked: readonly (Query | null)[] | null,
): boolean {
  if (packed === null) return false
  const read = Array.from({ length: packed.count }, (_, index) => toldOf(packed.query(index)))
  const right = asked?.map(toldOf) ?? null
  if (isDeepStrictEqual(read, right)) return true
  const text = JSON.stringify(body.toString('latin1'))
  throw new Error(`${text}\nread as ${JSON.stringify(read)}\nright is ${JSON.stringify(right)}`)
}

/** Returns a query with its attributes as values; null if the engine would not be queried. */
function toldOf(query: Query | null): unknown {
  if (query === null || query.type === '') return null
  const { queryContext, ...texts } = query
  return { ...texts, readAt: queryContext?.readAt, sent: saidIn(queryContext?.sent()) }
}

/** Conditions do not distinguish missing attributes from an empty object. The tenant is not an attribute. */
function saidIn(sent: SentAttributes | undefined): unknown {
  if (sent === undefined) return null
  const { user, resource, context } = sent
  const { tenant, ...others } = resource ?? {}
  return {
    user: user ?? {},
    resource: typeof tenant === 'string' ? others : (resource ?? {}),
    context: context ?? {},
  }
}
