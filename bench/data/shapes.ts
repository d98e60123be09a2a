/**
 * Datasets with difficult shapes: W2 is a deep chain, W3 has wide objects and groups, and W4 has cycles of
 * groups. They are small compared with W1, so they are measured with warm caches.
 */
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
  type Dataset,
} from '#testing/data/dataset.ts'
import { Random } from '#testing/data/random.ts'

/** W2: 100 chains of 200 nested folders each. The innermost folder contains a document. */
export class DeepChain implements Dataset {
  readonly #chains = 100
  readonly #depth = 200
  readonly name = 'W2';

  *things(): Iterable<Change> {
    yield* driveSchema()
    yield userPut('outsider')
    // This folder is outside of the chains. One user holds a role only on this folder, and all other users
    // hold a role on a chain.
    yield instancePut('folder', 'elsewhere')
    for (let c = 0; c < this.#chains; c++) {
      yield userPut(`user-${c}`)
      yield instancePut('document', `doc-${c}`)
      for (let d = 0; d < this.#depth; d++) yield instancePut('folder', `folder-${c}-${d}`)
    }
  }

  *facts(): Iterable<Change> {
    yield assignment('outsider', 'viewer', 'folder', 'elsewhere')
    for (let c = 0; c < this.#chains; c++) {
      yield assignment(`user-${c}`, 'viewer', 'folder', `folder-${c}-0`)
      for (let d = 1; d < this.#depth; d++) {
        yield tuple(['folder', `folder-${c}-${d - 1}`], 'parent', ['folder', `folder-${c}-${d}`])
      }
      yield tuple(['folder', `folder-${c}-${this.#depth - 1}`], 'parent', ['document', `doc-${c}`])
    }
  }

  candidates(count: number, kind: 'allowed' | 'denied'): Query[] {
    return Array.from({ length: count }, (_, n) => {
      const c = n % this.#chains
      return ask(kind === 'allowed' ? `user-${c}` : 'outsider', 'read', 'document', `doc-${c}`)
    })
  }
}

/**
 * W3: each document is shared with 10,000 groups, and each user is in 16 groups. One group has 100,000
 * members.
 */
export class Wide implements Dataset {
  readonly name = 'W3'
  readonly documents = 4
  readonly groups = 10_000
  readonly users = 2_000
  readonly members = 100_000;

  *things(): Iterable<Change> {
    yield* driveSchema()
    for (let d = 0; d < this.documents; d++) yield instancePut('document', `doc-${d}`)
    yield instancePut('document', 'of-all')
    yield instancePut('group', 'all')
    for (let g = 0; g < this.groups * 2; g++) yield instancePut('group', `group-${g}`)
    for (let u = 0; u < this.members; u++) yield userPut(`user-${u}`)
  }

  *facts(): Iterable<Change> {
    const random = new Random(11)
    for (let d = 0; d < this.documents; d++) {
      for (let g = 0; g < this.groups; g++) {
        yield tuple(['group', `group-${g}`], groupRelation('viewer'), ['document', `doc-${d}`])
      }
    }
    // The first half of the users is in groups with which the documents are shared. The second half is in
    // other groups.
    for (let u = 0; u < this.users; u++) {
      const first = u < this.users / 2 ? 0 : this.groups
      for (let n = 0; n < 16; n++) {
        yield assignment(`user-${u}`, 'member', 'group', `group-${first + random.below(this.groups)}`)
      }
    }
    yield tuple(['group', 'all'], groupRelation('viewer'), ['document', 'of-all'])
    for (let u = 0; u < this.members; u++) yield assignment(`user-${u}`, 'member', 'group', 'all')
  }

  candidates(count: number, kind: 'allowed' | 'denied'): Query[] {
    const random = new Random(12)
    return Array.from({ length: count }, () => {
      const user = random.below(this.users / 2) + (kind === 'allowed' ? 0 : this.users / 2)
      return ask(`user-${user}`, 'read', 'document', `doc-${random.below(this.documents)}`)
    })
  }
}

/**
 * W4: 50 cycles of 100 groups each, with additional edges across each cycle. A document is shared with one
 * group of each cycle.
 */
export class Cycles implements Dataset {
  readonly #circles = 50
  readonly #length = 100
  readonly name = 'W4';

  *things(): Iterable<Change> {
    yield* driveSchema()
    yield userPut('outsider')
    yield instancePut('group', 'elsewhere')
    for (let c = 0; c < this.#circles; c++) {
      yield userPut(`user-${c}`)
      yield instancePut('document', `doc-${c}`)
      for (let g = 0; g < this.#length; g++) yield instancePut('group', `group-${c}-${g}`)
    }
  }

  *facts(): Iterable<Change> {
    const random = new Random(21)
    yield assignment('outsider', 'member', 'group', 'elsewhere')
    for (let c = 0; c < this.#circles; c++) {
      const group = (g: number): [string, string] => ['group', `group-${c}-${g % this.#length}`]
      for (let g = 0; g < this.#length; g++) {
        yield tuple(group(g), 'group', group(g + 1))
        yield tuple(group(g), 'group', group(random.below(this.#length)))
      }
      yield assignment(`user-${c}`, 'member', 'group', `group-${c}-${random.below(this.#length)}`)
      yield tuple(group(0), groupRelation('viewer'), ['document', `doc-${c}`])
    }
  }

  candidates(count: number, kind: 'allowed' | 'denied'): Query[] {
    return Array.from({ length: count }, (_, n) => {
      const c = n % this.#circles
      return ask(kind === 'allowed' ? `user-${c}` : 'outsider', 'read', 'document', `doc-${c}`)
    })
  }
}
