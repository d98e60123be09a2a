/** `match`: tests whether a glob matches the whole text (conditions.md 5.6). */
import { Glob } from '#conditions/values/globs.ts'
import type { Leaf, UnreadLeaf } from './leaf.ts'

export interface GlobMatch extends Leaf {
  readonly kind: 'glob-match'
  readonly glob: Glob
}

export function readGlobMatch(test: UnreadLeaf): GlobMatch | null {
  if (typeof test.operand !== 'string') return test.wrong('a glob as a string')
  const glob = Glob.read(test.operand)
  if (typeof glob === 'string') return test.findings.add(test.at, glob)
  return Object.freeze({ kind: 'glob-match', ...test.leaf, glob })
}
