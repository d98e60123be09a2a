/** What all tests of one attribute have in common. The files of this folder read tests; `evaluate.ts` says what is true. */
import type { Findings, Place } from '#conditions/findings.ts'
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
  /** As it was written. */
  readonly operator: string
  /** Where the operand stands in what the caller sent. */
  readonly at: Place
}

export interface LeafSource extends Leaf {
  readonly operand: unknown
  /** The operator's name says that its operand is a path. */
  readonly isReference: boolean
}

/** A test of which the operand is to be read. What answers `null` has told what is wrong. */
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

  get at(): Place {
    return this.#source.at
  }

  /** Any value, and refs. */
  any(): Operand | null {
    const read = this.#source.isReference ? readReference : readOperand
    return read(this.operand, this.at, this.findings)
  }

  /** A ref, or a value that `isFit` says can be compared. */
  value(expected: string, isFit: (value: unknown) => boolean): Literal | Reference | null {
    const operand = this.any()
    if (operand === null || operand.kind === 'ref') return operand
    return operand.kind === 'literal' && isFit(operand.value) ? operand : this.wrong(expected)
  }

  /** A list, or a ref, which has to lead to one. */
  list(): ListOperand | null {
    const operand = this.any()
    if (operand === null || operand.kind !== 'literal' || Array.isArray(operand.value)) return operand
    return this.wrong('a list of values, or a ref')
  }

  /** Tells what was expected instead of this operand. */
  wrong(expected: string): null {
    const { at, operand, operator } = this.#source
    return this.findings.add(at, `${operator}: expected ${expected}, got ${kindName(operand)}`)
  }
}
