/**
 * Parses a condition from JSON (conditions.md 3.1 to 3.4 and 11). Rejects conditions that could never be true
 * or could cost more than a decision may cost. Each error contains its location.
 */
import type { ErrorDetail } from '#model/errors.ts'
import { inexactIntegerIn } from '#model/text/json-numbers.ts'
import { CONDITION_BYTES_MAX } from '#model/limits.ts'
import type { Condition } from './condition.ts'
import { Findings, type ErrorLocation } from '#conditions/values/findings.ts'
import { allOf } from '#conditions/nodes/all-of.ts'
import { anyOf } from '#conditions/nodes/any-of.ts'
import { UnreadLeaf } from '#conditions/nodes/leaf.ts'
import { memberMatch, readMatchOperand } from '#conditions/nodes/member-match.ts'
import { not } from '#conditions/nodes/not.ts'
import { kindName } from '#conditions/values/operands.ts'
import { operatorOf } from './operators.ts'
import { type AttributePath, quoted, readMemberPath, readPath } from '#conditions/values/paths.ts'
import { isObject } from '#model/json-object.ts'

/** Maximum nesting depth of objects. The outermost object counts. */
export const DEPTH_MAX = 16
export const LEAVES_MAX = 1_000
export const OPERAND_ELEMENTS_MAX = 10_000

const CONNECTIVES = new Map<string, (items: readonly Condition[]) => Condition>([
  ['allOf', allOf],
  ['and', allOf],
  ['anyOf', anyOf],
  ['or', anyOf],
  ['not', items => not(allOf(items))],
])

/** Errors in a value that is not a valid condition. */
export interface InvalidCondition {
  readonly findings: readonly ErrorDetail[]
}

/**
 * Returns the condition, or the errors in it. `at` is the location of the condition in the request. O(size).
 */
export function readCondition(raw: unknown, at: ErrorLocation): Condition | InvalidCondition {
  const reader = new ConditionReader()
  // Checks the size first, so that a condition that is too large is not parsed.
  const condition = reader.isSmallEnough(raw, at) ? reader.conditions(raw, at, 1) : null
  reader.checkLeaves(at)
  const { details } = reader.findings
  return condition === null || details.length > 0 ? { findings: details } : condition
}

export function isRefused(read: Condition | InvalidCondition): read is InvalidCondition {
  return 'findings' in read
}

class ConditionReader {
  readonly findings = new Findings()
  #leaves = 0
  /**
   * Whether the parser is within a match that looks up instances. A lookup within a lookup is not permitted,
   * because the number of lookups would be unlimited.
   */
  #isInLookup = false

  /**
   * Parses an object of conditions, all of which must be true. Returns `null` after it has reported an error;
   * this also applies to the following methods.
   */
  conditions(raw: unknown, at: ErrorLocation, depth: number): Condition | null {
    if (!isObject(raw)) return this.findings.add(at, `expected an object of conditions, got ${kindName(raw)}`)
    if (!this.#isWithinDepth(at, depth)) return null
    const read = Object.entries(raw).map(([name, value]) => {
      const place = [...at, name]
      const connect = CONNECTIVES.get(name)
      if (connect) {
        return this.#connected(connect, value, place, (item, where) =>
          this.conditions(item, where, depth + 1),
        )
      }
      const path = readPath(name)
      return typeof path === 'string' ? this.findings.add(place, path) : this.#test(path, value, place, depth)
    })
    return joined(read)
  }

  isSmallEnough(raw: unknown, at: ErrorLocation): boolean {
    const bytes = Buffer.byteLength(JSON.stringify(raw))
    if (bytes <= CONDITION_BYTES_MAX) return true
    this.findings.add(at, `a condition has at most ${CONDITION_BYTES_MAX} bytes of JSON, got ${bytes}`)
    return false
  }

  checkLeaves(at: ErrorLocation): void {
    if (this.#leaves > LEAVES_MAX) {
      this.findings.add(at, `a condition has at most ${LEAVES_MAX} tests, got ${this.#leaves}`)
    }
  }

  /** Parses the tests of one attribute, which connectives can combine. */
  #test(path: AttributePath, raw: unknown, at: ErrorLocation, depth: number): Condition | null {
    if (!isObject(raw)) {
      return this.findings.add(at, `expected a test such as {"equals": …}, got ${kindName(raw)}`)
    }
    const [name, ...others] = Object.keys(raw)
    if (name === undefined) return this.findings.add(at, 'expected a test, got an object without an operator')
    if (others.length > 0) {
      return this.findings.add(
        at,
        `expected one comparison, got ${others.length + 1}: combine them with allOf`,
      )
    }
    const connect = CONNECTIVES.get(name)
    if (connect) {
      return this.#connected(connect, raw[name], [...at, name], (item, where) =>
        this.#isWithinDepth(where, depth + 1) ? this.#test(path, item, where, depth + 1) : null,
      )
    }
    return this.#leaf(path, name, raw[name], [...at, name], depth)
  }

  #leaf(
    path: AttributePath,
    operator: string,
    operand: unknown,
    at: ErrorLocation,
    depth: number,
  ): Condition | null {
    const known = operatorOf(operator)
    if (known === null) return this.findings.add(at, `there is no operator ${quoted(operator)}`)
    this.#leaves++
    if (Array.isArray(operand) && operand.length > OPERAND_ELEMENTS_MAX) {
      return this.findings.add(
        at,
        `expected a list of at most ${OPERAND_ELEMENTS_MAX} elements, got ${operand.length}`,
      )
    }
    const inexact = 'read' in known ? inexactIntegerIn(operand) : null
    if (inexact !== null) {
      return this.findings.add(
        at,
        `expected numbers that an IEEE 754 double represents exactly, got ${inexact}: write integers beyond 2^53 as strings`,
      )
    }
    const { isReference } = known
    const test = new UnreadLeaf({ path, operator, operand, at, isReference }, this.findings)
    return 'read' in known ? known.read(test) : this.#match(test, known.quantity, depth)
  }

  #match(test: UnreadLeaf, quantity: 'one' | 'any' | 'all', depth: number): Condition | null {
    const operand = readMatchOperand(test)
    if (operand === null) return null
    const { match, instanceType } = operand
    if (instanceType !== null && this.#isInLookup) {
      return this.findings.add(
        [...test.at, 'fk_resource_type'],
        'a match that looks up instances cannot contain another such match',
      )
    }
    const at = [...test.at, 'match']
    if (!this.#isWithinDepth(at, depth + 1)) return null
    const wasInLookup = this.#isInLookup
    this.#isInLookup ||= instanceType !== null
    const read = Object.entries(match).map(([name, raw]) => {
      const path = readMemberPath(name)
      const place = [...at, name]
      return typeof path === 'string'
        ? this.findings.add(place, path)
        : this.#test(path, raw, place, depth + 1)
    })
    this.#isInLookup = wasInLookup
    const item = joined(read)
    return item && memberMatch(test.leaf, quantity, operand, item)
  }

  /** Parses the items of a connective. A single item may be given instead of a list with one element. */
  #connected(
    connect: (items: readonly Condition[]) => Condition,
    raw: unknown,
    at: ErrorLocation,
    readItem: (item: unknown, at: ErrorLocation) => Condition | null,
  ): Condition | null {
    const read = Array.isArray(raw)
      ? raw.map((item, index) => readItem(item, [...at, index]))
      : [readItem(raw, at)]
    return allRead(read) ? connect(read) : null
  }

  #isWithinDepth(at: ErrorLocation, depth: number): boolean {
    if (depth <= DEPTH_MAX) return true
    this.findings.add(at, `must not be nested deeper than ${DEPTH_MAX} levels`)
    return false
  }
}

function joined(read: readonly (Condition | null)[]): Condition | null {
  return allRead(read) ? allOf(read) : null
}

function allRead(read: readonly (Condition | null)[]): read is readonly Condition[] {
  return read.every(condition => condition !== null)
}
