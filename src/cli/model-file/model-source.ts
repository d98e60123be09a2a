/**
 * Parses the text of a model file, and finds the line and column of values in it. The format is YAML, of
 * which JSON is a subset.
 *
 * A key is used exactly as it is written, even if YAML gives it another type. For example, an unquoted `007`
 * or `1e3` is a name.
 */
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  Scalar,
  visit,
} from 'yaml'
import { ModelFileError } from '#cli/session/exit-codes.ts'
import { jsonNumber } from '#model/text/json-numbers.ts'
import { type Finding, FINDINGS_MAX } from './findings.ts'
import { LocatedValue, type ValuePath } from './located-value.ts'

/**
 * Maximum number of nodes to which aliases can expand. Without a limit, a few lines could expand to
 * gigabytes.
 */
const ALIASED_NODES_MAX = 1_000

export class ModelSource {
  /** Name of the file in messages. */
  readonly name: string
  readonly root: LocatedValue
  readonly #document: Document.Parsed
  readonly #lines: LineCounter
  readonly #problems: readonly Problem[]

  /** Parses a model file. Throws `ModelFileError` if the YAML is not valid. */
  static read(text: string, name: string): ModelSource {
    const lines = new LineCounter()
    const document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      // Duplicate keys are detected below, because the check of the YAML library takes quadratic time.
      uniqueKeys: false,
    })
    const problems = [...document.errors, ...document.warnings].map(({ message, pos }) => ({
      offset: pos[0],
      message,
    }))
    if (problems.length > 0) throw new ModelFileError(problemText(name, lines, problems))
    return new ModelSource(name, document, lines)
  }

  private constructor(name: string, document: Document.Parsed, lines: LineCounter) {
    this.name = name
    this.#document = document
    this.#lines = lines
    // The call must precede the conversion of the document to a value, because it replaces keys by their
    // texts.
    this.#problems = problemsOfScalars(document)
    try {
      this.root = new LocatedValue(document.toJS({ maxAliasCount: ALIASED_NODES_MAX }) ?? {})
    } catch (error) {
      throw new ModelFileError(`${name}:1:1: ${(error as Error).message}`)
    }
  }

  /**
   * Whether the file contains keys or numbers that are valid in YAML but not in a model file. `errorOf`
   * includes them in its error.
   */
  get hasProblems(): boolean {
    return this.#problems.length > 0
  }

  /** Creates an error with all findings, in the order of the file and without duplicates. */
  errorOf(findings: readonly Finding[]): ModelFileError {
    const placed = findings.map(({ location, message, isAboutKey = false }) => ({
      offset: this.#offsetOf(location, isAboutKey),
      message: location.length === 0 ? `the file: ${message}` : `${location.join('.')}: ${message}`,
    }))
    const places = new Set(placed.map(({ offset }) => offset))
    // If a finding and a problem have the same location, only the finding is reported, because it is more
    // specific.
    const others = this.#problems.filter(({ offset }) => !places.has(offset))
    return new ModelFileError(problemText(this.name, this.#lines, [...others, ...placed]))
  }

  /**
   * Returns the text of an unquoted value to which YAML gives another type, such as `007`. Returns null for
   * all other values.
   */
  unquotedText(location: ValuePath): string | null {
    const node = this.#nodeAt(location)
    return isScalar(node) && node.type === Scalar.PLAIN && typeof node.value !== 'string' && node.source
      ? node.source
      : null
  }

  /**
   * Returns the offset of the value at the end of the path. If the value is missing, returns the offset of
   * the map or list that should contain it.
   */
  #offsetOf(location: ValuePath, isAboutKey: boolean): number {
    for (let length = location.length; length > 0; length -= 1) {
      const step = location[length - 1]!
      const outer = this.#nodeAt(location.slice(0, length - 1))
      const pair = isMap(outer) ? outer.items.find(item => keyText(item.key, this.#document) === step) : null
      const node =
        isAboutKey && pair && length === location.length ? pair.key : this.#nodeAt(location.slice(0, length))
      // If a key has no value, the offset of the key is used.
      for (const each of [node, pair?.key]) {
        const start = isNode(each) ? each.range : null
        if (start && (each === pair?.key || start[1] > start[0])) return start[0]
      }
    }
    return this.#document.contents?.range[0] ?? 0
  }

  #nodeAt(location: ValuePath): unknown {
    let node: unknown = this.#document.contents
    for (const step of location) {
      if (isAlias(node)) node = node.resolve(this.#document)
      if (isMap(node)) node = node.items.find(item => keyText(item.key, this.#document) === step)?.value
      else if (isSeq(node)) node = node.items[Number(step)]
      else return undefined
    }
    return isAlias(node) ? node.resolve(this.#document) : node
  }
}

interface Problem {
  readonly offset: number
  readonly message: string
}

function problemText(name: string, lines: LineCounter, problems: readonly Problem[]): string {
  const texts = problems
    .toSorted((one, other) => one.offset - other.offset)
    .map(({ offset, message }) => {
      const { line, col } = lines.linePos(offset)
      return `${name}:${line}:${col}: ${message}`
    })
  const distinct = [...new Set(texts)]
  const more = distinct.length - FINDINGS_MAX
  return [...distinct.slice(0, FINDINGS_MAX), ...(more > 0 ? [`${name}: and ${more} more`] : [])].join('\n')
}

/** Returns the text of a key as it is written in the file. Returns null if the key is not a scalar. */
function keyText(key: unknown, document: Document.Parsed): string | null {
  const node = isAlias(key) ? key.resolve(document) : key
  if (!isScalar(node)) return null
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value))
}

/**
 * Replaces each key by its text, and each number by a number with all its digits. Returns the keys and
 * numbers that JSON does not support.
 */
function problemsOfScalars(document: Document.Parsed): Problem[] {
  const problems: Problem[] = []
  const find = (node: unknown, message: string) =>
    problems.push({ offset: isNode(node) && node.range ? node.range[0] : 0, message })
  visit(document, {
    Map: (_, map) => {
      const seen = new Set<string>()
      for (const { key } of map.items) {
        const text = keyText(key, document)
        if (text === null) continue
        if (seen.has(text)) find(key, `the key ${JSON.stringify(text)} occurs twice`)
        seen.add(text)
      }
    },
    Pair: (_, pair: Pair) => {
      const text = keyText(pair.key, document)
      if (text === null) {
        find(pair.key, 'a key must be text, not a list or a map')
        pair.key = new Scalar('')
      } else if (text === '<<' && isScalar(pair.key) && pair.key.type === Scalar.PLAIN) {
        find(pair.key, 'merge keys (<<) are not supported: write out the content, or put the key in quotes')
      } else if (!isScalar(pair.key) || typeof pair.key.value !== 'string') {
        const key = new Scalar(text)
        if (isNode(pair.key) && pair.key.range) key.range = pair.key.range
        pair.key = key
      }
    },
    Scalar: (_, node, path) => {
      const outer = path.at(-1)
      if (isPair(outer) && outer.key === node) return
      const { value, source = String(value) } = node
      if (typeof value !== 'number') return
      if (Number.isFinite(value)) node.value = numberOf(source, value)
      else find(node, `the number ${source} cannot be stored exactly: write it as text in quotes`)
    },
  })
  return problems
}

/**
 * Returns a number with all digits that the file contains. YAML also allows hexadecimal and octal integers.
 */
function numberOf(source: string, value: number): number | bigint {
  if (/^0[xo]/u.test(source)) return Number.isSafeInteger(value) ? value : BigInt(source)
  return jsonNumber(source.replace('+', ''))
}
