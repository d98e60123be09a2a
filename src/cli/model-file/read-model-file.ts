/** Reads a model file: YAML (JSON is YAML, too), held against its schema, every finding with its line. */
import type { TLocalizedValidationError as Finding } from 'typebox/error'
import { Compile } from 'typebox/schema'
import { LineCounter, parseDocument, type Document, isNode } from 'yaml'
import { ModelFile } from '#model/model-file.ts'

/** The file is not a model file; the message says why, line by line. */
export class ModelFileError extends Error {
  override readonly name = 'ModelFileError'
}

/** Ceiling of findings that are shown: after these the file needs another look anyway. */
const FINDINGS_MAX = 10
/** Nodes that aliases may stand for, so that a few lines cannot become gigabytes. */
const ALIASED_NODES_MAX = 1_000

/** Throws `ModelFileError`. `name` is what messages call the file. */
export function readModelFile(text: string, name: string): ModelFile {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const lineOf = (offset: number) => lines.linePos(offset).line
  const problems = [...document.errors, ...document.warnings].map(
    ({ message, pos }) => `${name}:${lineOf(pos[0])}: ${message}`,
  )
  if (problems.length > 0) throw new ModelFileError(problems.slice(0, FINDINGS_MAX).join('\n'))
  const value = valueOf(document, name)
  const validator = Compile(ModelFile)
  if (validator.Check(value)) return value
  const [, foundIn] = validator.Errors(value)
  const findings = messagesByPlace(foundIn).map(({ way, message }) => {
    return `${name}:${lineOf(offsetOf(document, way))}: ${way.join('.') || 'the file'} ${message}`
  })
  throw new ModelFileError(findings.slice(0, FINDINGS_MAX).join('\n'))
}

function valueOf(document: Document.Parsed, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: ALIASED_NODES_MAX }) ?? {}
  } catch (error) {
    throw new ModelFileError(`${name}: ${(error as Error).message}`)
  }
}

interface PlacedMessage {
  readonly way: readonly string[]
  readonly message: string
}

/** One message a place. Where several forms are possible, the library reports each that does not match, and their choice. */
function messagesByPlace(findings: readonly Finding[]): PlacedMessage[] {
  const kinds = new Map<string, Set<string>>()
  const placed = new Map<string, PlacedMessage>()
  const put = (way: readonly string[], message: string) => placed.set(JSON.stringify(way), { way, message })
  for (const finding of findings) {
    const way = wayOf(finding.instancePath)
    const name = JSON.stringify(way)
    if (finding.keyword === 'additionalProperties') {
      for (const extra of finding.params.additionalProperties)
        put([...way, extra], 'is none of what may stand here')
    } else if (finding.keyword === 'type') {
      const possible = kinds.get(name) ?? new Set()
      kinds.set(name, possible.add(finding.message.replace(/^must be (either )?/, '')))
      put(way, `must be ${[...possible].join(' or ')}`)
    } else if (!CHOICES.has(finding.keyword) && !placed.has(name)) {
      put(way, finding.message)
    }
  }
  // A message about a place adds nothing where something inside it is wrong.
  const all = [...placed.values()]
  const isOuter = ({ way }: PlacedMessage) =>
    all.some(other => other.way.length > way.length && way.every((step, index) => other.way[index] === step))
  return all.filter(message => !(message.message.startsWith('must be ') && isOuter(message)))
}

/** Keywords that say only that none of several forms, or no value at all, matches. */
const CHOICES: ReadonlySet<string> = new Set(['anyOf', 'boolean'])

/** Unescapes a JSON pointer. */
function wayOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The offset of the value at the end of the way; for a missing value, that of the value that should contain it. */
function offsetOf(document: Document.Parsed, way: readonly string[]): number {
  for (let length = way.length; length >= 0; length -= 1) {
    const node = document.getIn(way.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}
