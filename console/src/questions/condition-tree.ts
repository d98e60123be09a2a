/** The tree of conditions in an answer: the interface describes it as an object, since it goes as deep as it was written. */
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

/** The whole tree, else the test that decided; null: no condition did. */
export function treeOf({ tree, leaf }: Schemas['ExplainedSide']): Tree | null {
  return (tree as Tree | undefined) ?? leaf ?? null
}

export function isTest(tree: Tree): tree is Test {
  return !('connective' in tree)
}
