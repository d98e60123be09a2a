/** Condition sets and rules, and their compiled form, which is updated as in an index. */
import { RuleBook } from '#engine/shared-index/rules/rule-book.ts'
import { RuleCompiler } from '#engine/shared-index/rules/rule-compiler.ts'
import { RulesView } from '#engine/shared-index/rules/rules-view.ts'

const EVERYTHING_IS_THERE = { hasType: () => true, hasAction: () => true, hasTenantRole: () => true }

export class CompiledRules {
  readonly book = new RuleBook(EVERYTHING_IS_THERE)
  readonly compiler = new RuleCompiler()
  #stamp = 0

  /** Compiles the changes. Returns the number of steps, and the view, which is null without rules. */
  compile(): { readonly steps: number; readonly view: RulesView | null } {
    const work = this.compiler.compile(this.book.take('compiler'), {
      roleIndexOf: () => 0,
      rulesBelow: set => this.book.rulesBelow(set),
      stamp: (this.#stamp += 1),
    })
    for (let steps = 0; ; steps += 1) {
      const step = work.next()
      if (!step.done) continue
      return { steps, view: viewOf(step.value) }
    }
  }
}

function viewOf(pieces: readonly Int32Array[]): RulesView | null {
  if (pieces.length === 0) return null
  const unit = new Int32Array(pieces.reduce((words, piece) => words + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    unit.set(piece, at)
    at += piece.length
  }
  return RulesView.of((from, to) => unit.slice(from, to), unit.length)
}
