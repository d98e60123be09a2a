/** The changes for `torn-reads.ts`, and checks whose decisions these changes never affect. */
import type { Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import {
  ask,
  assignment,
  driveSchema,
  groupRelation,
  instancePut,
  tuple,
  userPut,
} from '#testing/data/dataset.ts'
import { Random } from '#testing/data/random.ts'
import { conditionSet } from '#testing/engines/changes.ts'

export const PAIRS = 64
export const CHAIN = 12
const PASSERS_BY = 20_000

/** A user whose only role is the membership of `PAIRS_GROUP`. It allows one document of each pair. */
export const LISTER = 'lister'
export const PAIRS_GROUP = 'p'
export const AUDITOR = 'auditor'
/** A rule always allows `RULED`, in each of its versions. `UNRULED` is always denied. */
const RULED = 'ruled'
const UNRULED = 'unruled'

const auditorRole: Change = {
  kind: 'role-put',
  type: null,
  role: 'auditor',
  permissions: [{ type: 'folder', action: 'delete' }],
  extends: [],
  derivations: [],
}

/** Returns all facts that never change. */
export function foundation(): Change[] {
  const changes: Change[] = [...driveSchema()]
  for (const user of ['insider', 'outsider', 'member', 'busy', LISTER, AUDITOR]) changes.push(userPut(user))
  for (const group of ['g', 'h', PAIRS_GROUP, 'inner', 'elsewhere']) changes.push(instancePut('group', group))
  changes.push(
    assignment('insider', 'member', 'group', PAIRS_GROUP),
    assignment(LISTER, 'member', 'group', PAIRS_GROUP),
    tuple(['group', 'inner'], 'group', ['group', PAIRS_GROUP]),
    auditorRole,
    { kind: 'assignment-put', user: AUDITOR, role: 'auditor', scope: { tenant: 'default' } },
    assignment('insider', 'member', 'group', 'g'),
    assignment('insider', 'member', 'group', 'h'),
    assignment('member', 'member', 'group', 'inner'),
    tuple(['group', 'inner'], 'group', ['group', 'g']),
    tuple(['group', 'inner'], 'group', ['group', 'h']),
    assignment('outsider', 'member', 'group', 'elsewhere'),
  )
  for (let p = 0; p < PAIRS; p++) {
    for (const side of ['a', 'b']) changes.push(instancePut('document', `${side}${p}`))
    changes.push(pairGrant('put', p, 'a'))
  }
  // Two roots that grant roles to both insider and member. The chain below is attached to one of these roots.
  for (const root of ['root-x', 'root-y']) changes.push(instancePut('folder', root))
  changes.push(
    tuple(['group', 'g'], groupRelation('viewer'), ['folder', 'root-x']),
    tuple(['group', 'h'], groupRelation('viewer'), ['folder', 'root-y']),
  )
  for (let level = 0; level < CHAIN; level++) {
    changes.push(instancePut('folder', `level-${level}`), instancePut('document', `deep-${level}`))
    changes.push(tuple(['folder', `level-${level}`], 'parent', ['document', `deep-${level}`]))
    if (level > 0)
      changes.push(tuple(['folder', `level-${level - 1}`], 'parent', ['folder', `level-${level}`]))
  }
  changes.push(tuple(['folder', 'root-x'], 'parent', ['folder', 'level-0']), ...ruledAt(0))
  return changes
}

/** The rule, its sets and their attributes. If a decision mixed two versions, it would be wrong. */
function ruledAt(level: number): Change[] {
  const set = (key: string, parent: string | null): Change =>
    conditionSet(key, { [`user.${key}`]: { equals: level } }, { parent })
  return [
    set('twin', null),
    set('level', 'twin'),
    {
      kind: 'rule-put',
      userSet: 'level',
      type: 'document',
      action: 'delete',
      resourceSet: '__autogen_document',
    },
    { kind: 'user-put', user: RULED, attributes: { level, twin: level } },
    { kind: 'user-put', user: UNRULED, attributes: { level: level - 1, twin: level } },
  ]
}

/** Returns checks with their decisions, which never change. */
export function constants(): { query: Query; answer: boolean }[] {
  const known: { query: Query; answer: boolean }[] = []
  for (let level = 0; level < CHAIN; level++) {
    for (const user of ['insider', 'member', 'outsider']) {
      const query = ask(user, 'read', 'document', `deep-${level}`)
      known.push({ query, answer: user !== 'outsider' })
      known.push({ query: ask(user, 'write', 'document', `deep-${level}`), answer: false })
    }
  }
  for (let p = 0; p < PAIRS; p++) {
    known.push({ query: ask('outsider', 'read', 'document', `a${p}`), answer: false })
    known.push({ query: ask('insider', 'delete', 'document', `b${p}`), answer: false })
  }
  return known
}

/** Returns checks that a rule decides, with their decisions, which never change. */
export function ruledConstants(): { query: Query; answer: boolean }[] {
  return Array.from({ length: PAIRS }, (_, p) => [
    { query: ask(RULED, 'delete', 'document', `a${p}`), answer: true },
    { query: ask(UNRULED, 'delete', 'document', `b${p}`), answer: false },
  ]).flat()
}

/** Returns checks on the documents of all pairs. In a batch, exactly one check of a pair is allowed. */
export function pairs(user: string): Query[] {
  const queries: Query[] = []
  for (let p = 0; p < PAIRS; p++) {
    queries.push(ask(user, 'read', 'document', `a${p}`), ask(user, 'read', 'document', `b${p}`))
  }
  return queries
}

export class WriteMix {
  commits = 0
  readonly #random: Random
  readonly #sides: ('a' | 'b')[] = Array.from({ length: PAIRS }, () => 'a')
  #root = 'root-x'
  #passers = 0
  #level = 0

  constructor(seed: number) {
    this.#random = new Random(seed)
  }

  next(): Change[] {
    this.commits += 1
    const kind = this.#random.below(100)
    if (kind < 40) return this.#movePair()
    if (kind < 60) return this.#moveChain()
    if (kind < 96) return this.#passBy()
    if (kind < 98) return this.#changeRule()
    return this.#changeSchema()
  }

  #movePair(): Change[] {
    const p = this.#random.below(PAIRS)
    const to = this.#sides[p] === 'a' ? 'b' : 'a'
    this.#sides[p] = to
    return [pairGrant('removed', p, to === 'a' ? 'b' : 'a'), pairGrant('put', p, to)]
  }

  #moveChain(): Change[] {
    const to = this.#root === 'root-x' ? 'root-y' : 'root-x'
    const from = this.#root
    this.#root = to
    return [
      asRemoved(tuple(['folder', from], 'parent', ['folder', 'level-0'])),
      tuple(['folder', to], 'parent', ['folder', 'level-0']),
    ]
  }

  /** Puts new entities and removes them again later, so that records, slabs and tables are reused. */
  #passBy(): Change[] {
    const n = this.#passers++
    const [user, document, folder] = [`passer-${n}`, `page-${n}`, `box-${n}`]
    const leaving = [n - PASSERS_BY]
    if (this.#random.below(2) === 0) leaving.push(n - (PASSERS_BY >> 1))
    return [
      userPut(user),
      instancePut('document', document),
      instancePut('folder', folder),
      tuple(['folder', folder], 'parent', ['document', document]),
      tuple(['folder', `level-${n % CHAIN}`], 'parent', ['folder', folder]),
      assignment(user, 'viewer', 'folder', folder),
      assignment(user, 'member', 'group', 'g'),
      assignment('busy', 'viewer', 'document', document),
      ...leaving.flatMap((old): Change[] => [
        { kind: 'user-removed', user: `passer-${old}` },
        { kind: 'instance-removed', instance: { type: 'document', key: `page-${old}` } },
        { kind: 'instance-removed', instance: { type: 'folder', key: `box-${old}` } },
      ]),
    ]
  }

  /** Like `next`, but changes only rules. */
  nextOfRules(): Change[] {
    this.commits += 1
    return this.#changeRule()
  }

  /** In half of the changes, the set is removed and created again. */
  #changeRule(): Change[] {
    const changes = ruledAt(++this.#level)
    const isNew = this.#random.below(2) === 0
    return isNew ? [{ kind: 'condition-set-removed', set: 'level' }, ...changes] : changes
  }

  #changeSchema(): Change[] {
    const role = `passing-${this.#random.below(3)}`
    if (this.#random.below(2) === 0) return [{ kind: 'role-removed', type: 'document', role }]
    const permissions = [{ type: 'document', action: 'delete' }]
    return [{ kind: 'role-put', type: 'document', role, permissions, extends: [], derivations: [] }]
  }
}

function pairGrant(kind: 'put' | 'removed', pair: number, side: 'a' | 'b'): Change {
  const put = tuple(['group', PAIRS_GROUP], groupRelation('viewer'), ['document', `${side}${pair}`])
  return kind === 'put' ? put : asRemoved(put)
}

function asRemoved(put: Change): Change {
  if (put.kind !== 'tuple-put') throw new Error('only tuples can be removed here')
  return { ...put, kind: 'tuple-removed' }
}
