/**
 * Common parts of all tests of one attribute. The files in this folder parse tests, and `evaluate.ts`
 * evaluates them.
 */
import type { Findings, ErrorLocation } from '#conditions/values/findings.ts'
import {
  kindName,
  type ListOperand,
  type Literal,
  type Operand,
  readOperand,
  readReference,
  type Reference,
} from '#conditions/values/operands.ts'
import type { AttributePath } from '#conditions/values/paths.ts'

export interface Leaf {
  readonly path: AttributePath
  /** Name of the operator as it was written. */
  readonly operator: string
  /** Location of the operand in the request. */
  readonly at: ErrorLocation
}

export interface LeafSource extends Leaf {
  readonly operand: unknown
  /** Whether the operand must be a path, because the name of the operator ends with `-ref`. */
  readonly isReference: boolean
}

/**
 * A test whose operand has not been parsed yet. If a method of this class returns `null`, the method has
 * reported an error.
 */
export class UnreadLeaf {
  readonly findings: Findings
  readonly #source: LeafSource

  constructor(source: LeafSource, findings: Findings) {
    this.#source = source
    this.findings = findings
  }

  get leaf(): Leaf {
    const { path, operator, at } = this.#source
    return { path, operator, at }
  }

  get operand(): unknown {
    return this.#source.operand
  }

  get at(): ErrorLocation {
    return this.#source.at
  }

  /** Returns the operand, which may be any value or reference. */
  any(): Operand | null {
    const read = this.#source.isReference ? readReference : readOperand
    return read(this.operand, this.at, this.findings)
  }

  /** Returns the operand, which must be a reference or a value that `isFit` accepts. */
  value(expected: string, isFit: (value: unknown) => boolean): Literal | Reference | null {
    const operand = this.any()
    if (operand === null || operand.kind === 'ref') return operand
    return operand.kind === 'literal' && isFit(operand.value) ? operand : this.wrong(expected)
  }

  /**
   * Returns the operand, which must be a list, or a reference that leads to a list when the test is
   * evaluated.
   */
  list(): ListOperand | null {
    const operand = this.any()
    if (operand === null || operand.kind !== 'literal' || Array.isArray(operand.value)) return operand
    return this.wrong('a list of values, or a ref')
  }

  /**
   * Reports that the operand is not what the operator expects. The location of the error contains the name of
   * the operator.
   */
  wrong(expected: string, got = received(this.operand)): null {
    return this.findings.add(this.at, `expected ${expected}, got ${got}`)
  }
}

/** Returns the value of a number, and the kind of any other operand, which could be long. */
function received(operand: unknown): string {
  return typeof operand === 'number' ? String(operand) : kindName(operand)
}
