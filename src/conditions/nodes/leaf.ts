/**
 * Common parts of all tests of one attribute. The files of this folder parse tests; `evaluate.ts` evaluates
 * them.
 */
import type { Findings, ErrorLocation } from '#conditions/findings.ts'
import {
  kindName,
  type ListOperand,
  type Literal,
  type Operand,
  readOperand,
  readReference,
  type Reference,
} from '#conditions/operands.ts'
import type { AttributePath } from '#conditions/paths.ts'

export interface Leaf {
  readonly path: AttributePath
  /** Name of the operator as it was written. */
  readonly operator: string
  /** Location of the operand in the request. */
  readonly at: ErrorLocation
}

export interface LeafSource extends Leaf {
  readonly operand: unknown
  /** True if the name of the operator states that its operand is a path. */
  readonly isReference: boolean
}

/** A test whose operand has not been parsed yet. A method that returns `null` has reported the error. */
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

  /** Any value, including references. */
  any(): Operand | null {
    const read = this.#source.isReference ? readReference : readOperand
    return read(this.operand, this.at, this.findings)
  }

  /** A reference, or a value that `isFit` accepts as comparable. */
  value(expected: string, isFit: (value: unknown) => boolean): Literal | Reference | null {
    const operand = this.any()
    if (operand === null || operand.kind === 'ref') return operand
    return operand.kind === 'literal' && isFit(operand.value) ? operand : this.wrong(expected)
  }

  /** A list, or a reference, which must lead to a list. */
  list(): ListOperand | null {
    const operand = this.any()
    if (operand === null || operand.kind !== 'literal' || Array.isArray(operand.value)) return operand
    return this.wrong('a list of values, or a ref')
  }

  /** Reports that the operand is not the expected one. */
  wrong(expected: string): null {
    const { at, operand, operator } = this.#source
    return this.findings.add(at, `${operator}: expected ${expected}, got ${kindName(operand)}`)
  }
}
