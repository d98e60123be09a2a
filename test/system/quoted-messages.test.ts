/** The documents for operators quote log and error messages as the source code contains them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Code spans with at least three words are messages, unless they begin like one of these. */
const NO_MESSAGE =
  /^(verdict|npx|npm|git|redis-cli|promtool|fuser|stat|grep|ls|truncate|journalctl|systemctl|ps|ss|curl|user|GET|POST|DELETE|HGET|HDEL) |^\w+=/
const WORDS_MIN = 3
/** Parts that the service fills in: `…`, numbers, and the name of a setting. */
const FILLED_IN = /…|\d{2,}|\bNAME\b/

const source = readdirSync(join(root, 'src'), { recursive: true })
  .map(String)
  .filter(name => /\.(ts|js|lua)$/.test(name))
  .map(name => readFileSync(join(root, 'src', name), 'utf8'))
  .join('\n')
  // A long message is a concatenation of strings.
  .replace(/['"`]\s*\+\s*['"`]/g, '')

/** Messages that a document quotes: long code spans, and those in a column with the heading `Message`. */
function quotedIn(document: string): string[] {
  const text = readFileSync(join(root, document), 'utf8').replace(/^```[\s\S]*?^```/gm, '')
  const spansOf = (part: string): string[] => [...part.matchAll(/`([^`]+)`/g)].map(([, span]) => span!)
  const long = spansOf(text).filter(
    span => span.split(/\s+/).length >= WORDS_MIN && !NO_MESSAGE.test(span) && !span.includes('{'),
  )
  const tables = text.split('\n\n').filter(block => block.startsWith('| Message '))
  const listed = tables.flatMap(table => table.split('\n').flatMap(row => spansOf(row.split('|')[1]!)))
  return [...new Set([...long, ...listed])].map(span => span.replace(/\s+/g, ' '))
}

test.each([
  ['docs/operations.md', 25],
  ['docs/monitoring.md', 45],
  ['docs/limits.md', 10],
  ['docs/backup-and-restore.md', 3],
  ['docs/redis.md', 3],
])('every message that %s quotes occurs in the source code', (document, countMin) => {
  const messages = quotedIn(document)
  expect(messages.length).toBeGreaterThanOrEqual(countMin)
  const isKnown = (message: string): boolean =>
    message.split(FILLED_IN).every(part => source.includes(part.trim().replace(/^[;:,.)]+ ?/, '')))
  expect(messages.filter(message => !isKnown(message))).toEqual([])
})
