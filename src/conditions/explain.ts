/**
 * Explains the value of a condition by the values that were read: as the whole tree, or as the test that
 * decided (conditions.md 9).
 */
import type { Condition, Test } from './condition.ts'
import { evaluate, type QuestionValues } from './evaluate.ts'
import type { EvaluationBudget } from '#conditions/values/evaluation-budget.ts'
import type { Operand } from '#conditions/values/operands.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { FALSE, nameOfTruth, negated, TRUE, type Truth, type TruthName } from '#conditions/values/truth.ts'

/** A test of an attribute. */
export interface ExplainedTest {
  readonly path: string
  readonly operator: string
  /** Operand of the test. `undefined` for `exists` and for matches, whose operand is not a value. */
  readonly operand?: unknown
  /** Value of the attribute, or `missing`. */
  readonly found: unknown
  /** Present only if the value is missing. It distinguishes a missing value from the text `missing`. */
  readonly isMissing?: true
  readonly value: TruthName
}

export interface ExplainedConnective {
  readonly connective: 'all-of' | 'any-of' | 'not'
  readonly items: readonly Explained[]
  readonly value: TruthName
}

export type Explained = ExplainedTest | ExplainedConnective

/**
 * Returns the whole tree with the value of each node. In contrast, `evaluate` stops as soon as the result is
 * known.
 */
export function explain(condition: Condition, values: QuestionValues, budget: EvaluationBudget): Explained {
  return nodeOf(condition, values, budget).explained
}

/**
 * Returns the first test, in written order, that determined the value of an explained condition. Returns
 * `null` if there is none.
 */
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

/**
 * One side of a rule: a condition set and its ancestors. The side is true if the conditions of all these sets
 * are true.
 */
export interface ExplainedSide {
  readonly value: TruthName
  /** First test that determined the value; `null` if there is none. */
  readonly leaf: ExplainedTest | null
  /** Trees of the set's own condition and of the conditions of its ancestors. */
  readonly trees: readonly Explained[]
  /** Total number of nodes of the trees. */
  readonly nodes: number
}

/** Explains the conditions of a side. Pauses after each condition, because each can have the maximum size. */
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
  /** Number of nodes in the tree. */
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
  // The value of a member is not shown: a member belongs to a match, which is explained as a whole.
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

/** Returns the operand as it was written. */
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
