/**
 * Reads the tree of conditions in a response. The OpenAPI document describes the tree as an object without a
 * type, because its depth is not limited.
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

/**
 * The whole tree. If the response does not contain it, the test that determined the result. Null if no
 * condition determined it.
 */
export function treeOf({ tree, leaf }: Schemas['ExplainedSide']): Tree | null {
  return (tree as Tree | undefined) ?? leaf ?? null
}

export function isTest(tree: Tree): tree is Test {
  return !('connective' in tree)
}
