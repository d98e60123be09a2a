/** Why a condition has its value: with what was found, the tree as a whole or the leaf that decided (conditions.md 9). */
import type { Condition, Test } from './condition.ts'
import { evaluate, type QuestionValues } from './evaluate.ts'
import type { EvaluationBudget } from './evaluation-budget.ts'
import type { Operand } from './operands.ts'
import type { Resumable } from '#model/resumable.ts'
import { FALSE, nameOfTruth, negated, TRUE, type Truth, type TruthName } from './truth.ts'

/** A test of an attribute. */
export interface ExplainedTest {
  readonly path: string
  readonly operator: string
  /** `undefined` where it is no value: an `exists`, a match. */
  readonly operand?: unknown
  /** The attribute's value, or `missing`. */
  readonly found: unknown
  /** Only where it is missing, to tell that from the text `missing`. */
  readonly isMissing?: true
  readonly value: TruthName
}

export interface ExplainedConnective {
  readonly connective: 'all-of' | 'any-of' | 'not'
  readonly items: readonly Explained[]
  readonly value: TruthName
}

export type Explained = ExplainedTest | ExplainedConnective

/** The tree with the value of each node: all of it, where `evaluate` stops as soon as it knows. */
export function explain(condition: Condition, values: QuestionValues, budget: EvaluationBudget): Explained {
  return nodeOf(condition, values, budget).explained
}

/** The first test, in the order in which they are written, that gave an explained condition its value; `null`: it has none. */
export function decisive(explained: Explained): ExplainedTest | null {
  if (!('connective' in explained)) return explained
  const { connective, items, value } = explained
  const wanted = connective === 'not' ? items[0]?.value : value
  for (const item of items) {
    if (item.value !== wanted) continue
    const test = decisive(item)
    if (test !== null) return test
  }
  return null
}

/** A side of a rule: a condition set with those above it, whose conditions all hold. */
export interface ExplainedSide {
  readonly value: TruthName
  /** The first test that gave it this value; `null`: none did. */
  readonly leaf: ExplainedTest | null
  /** Its own condition, then those of the sets above. */
  readonly trees: readonly Explained[]
  /** Of the trees. */
  readonly nodes: number
}

/** With a stop after each of the conditions, of which each may be as large as one may be. */
export function* explainSide(
  conditions: readonly Condition[],
  values: QuestionValues,
  budget: EvaluationBudget,
): Resumable<ExplainedSide> {
  const nodes: ValuedNode[] = []
  for (const condition of conditions) {
    nodes.push(nodeOf(condition, values, budget))
    yield
  }
  const { explained } = connected('all-of', leastOf(nodes), nodes)
  return {
    value: explained.value,
    leaf: decisive(explained),
    trees: nodes.map(node => node.explained),
    nodes: nodes.reduce((sum, node) => sum + node.count, 0),
  }
}

interface ValuedNode {
  readonly truth: Truth
  readonly explained: Explained
  /** Of nodes. */
  readonly count: number
}

function nodeOf(condition: Condition, values: QuestionValues, budget: EvaluationBudget): ValuedNode {
  if (condition.kind === 'not') {
    const item = nodeOf(condition.item, values, budget)
    return connected('not', negated(item.truth), [item])
  }
  if (condition.kind !== 'all-of' && condition.kind !== 'any-of') return testOf(condition, values, budget)
  const items = condition.items.map(item => nodeOf(item, values, budget))
  return connected(condition.kind, condition.kind === 'all-of' ? leastOf(items) : greatestOf(items), items)
}

function leastOf(nodes: readonly ValuedNode[]): Truth {
  return Math.min(TRUE, ...nodes.map(({ truth }) => truth)) as Truth
}

function greatestOf(nodes: readonly ValuedNode[]): Truth {
  return Math.max(FALSE, ...nodes.map(({ truth }) => truth)) as Truth
}

function connected(
  kind: ExplainedConnective['connective'],
  truth: Truth,
  items: readonly ValuedNode[],
): ValuedNode {
  const explained = {
    connective: kind,
    items: items.map(item => item.explained),
    value: nameOfTruth(truth),
  }
  return { truth, explained, count: items.reduce((sum, item) => sum + item.count, 1) }
}

function testOf(test: Test, values: QuestionValues, budget: EvaluationBudget): ValuedNode {
  // A member has no value outside of its match, which is explained as a whole.
  const found = test.path.root === 'member' ? undefined : values.valueOf(test.path)
  const truth = evaluate(test, values, budget)
  const explained = {
    path: test.path.text,
    operator: test.operator,
    ...operandOf(test),
    ...(found === undefined ? { found: 'missing', isMissing: true as const } : { found }),
    value: nameOfTruth(truth),
  }
  return { truth, explained, count: 1 }
}

function operandOf(test: Test): { readonly operand?: unknown } {
  switch (test.kind) {
    case 'existence':
      return { operand: test.isWanted }
    case 'glob-match':
      return { operand: test.glob.source }
    case 'between':
      return { operand: [shown(test.low), shown(test.high)] }
    case 'member-match':
      return {}
    default:
      return { operand: shown(test.operand) }
  }
}

/** As it was written. */
function shown(operand: Operand): unknown {
  switch (operand.kind) {
    case 'literal':
      return operand.value
    case 'ref':
      return { ref: operand.path.text }
    case 'list':
      return operand.items.map(shown)
  }
}
