/**
 * Reads the tree of conditions in a response. The API describes it as an untyped object, because its depth is
 * not limited.
 */
import type { Schemas } from '../interface/client.ts'

export type Truth = Schemas['TruthValue']
export type Test = Schemas['ExplainedTest']

export type Tree =
  | Test
  | {
      readonly connective: 'allOf' | 'anyOf' | 'not'
      readonly value: Truth
      readonly items: readonly Tree[]
    }

/** The whole tree, or the test that decided; null if no condition did. */
export function treeOf({ tree, leaf }: Schemas['ExplainedSide']): Tree | null {
  return (tree as Tree | undefined) ?? leaf ?? null
}

export function isTest(tree: Tree): tree is Test {
  return !('connective' in tree)
}
