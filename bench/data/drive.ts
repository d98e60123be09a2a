/**
 * Dataset W1 "drive": documents are in folders, up to ten levels deep. Users are in groups, which are nested
 * in up to three levels. Users have roles on documents and folders, and groups share documents and folders.
 * At `scale` 1, it has 1M documents, 100k folders, 100k users, 10k groups and about 2.9M facts (assignments
 * and tuples). Dataset W5 has the scale 3.4.
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

const FOLDER_DEPTH = 10
const GROUP_LEVELS = 3
const GROUPS_PER_USER = 4
const DOCUMENT_ROLES_PER_USER = 10
const FOLDER_ROLES_PER_USER = 2

export class Drive implements Dataset {
  readonly name: string
  readonly documents: number
  readonly folders: number
  readonly users: number
  readonly groups: number
  readonly #seed: number
  /** Index of the parent of each folder, -1 for a root folder. */
  readonly #parents: Int32Array
  readonly #depths: Int8Array

  constructor(name: string, scale: number, seed = 1) {
    this.name = name
    this.#seed = seed
    this.documents = Math.round(1_000_000 * scale)
    this.folders = Math.round(100_000 * scale)
    this.users = Math.round(100_000 * scale)
    this.groups = Math.round(10_000 * scale)
    const random = new Random(seed)
    this.#parents = new Int32Array(this.folders).fill(-1)
    this.#depths = new Int8Array(this.folders)
    const roots = Math.max(1, Math.round(this.folders / 500))
    for (let f = roots; f < this.folders; f++) {
      let parent = random.below(f)
      while (this.#depths[parent]! >= FOLDER_DEPTH - 1) parent = random.below(f)
      this.#parents[f] = parent
      this.#depths[f] = this.#depths[parent]! + 1
    }
  }

  *things(): Iterable<Change> {
    yield* driveSchema()
    for (let u = 0; u < this.users; u++) yield userPut(`user-${u}`)
    for (let g = 0; g < this.groups; g++) yield instancePut('group', `group-${g}`)
    for (let f = 0; f < this.folders; f++) yield instancePut('folder', `folder-${f}`)
    for (let d = 0; d < this.documents; d++) yield instancePut('document', `doc-${d}`)
  }

  *facts(): Iterable<Change> {
    const random = new Random(this.#seed + 1)
    for (let f = 0; f < this.folders; f++) {
      const parent = this.#parents[f]!
      if (parent >= 0) yield tuple(['folder', `folder-${parent}`], 'parent', ['folder', `folder-${f}`])
    }
    for (let d = 0; d < this.documents; d++) {
      yield tuple(['folder', `folder-${this.folderOf(d)}`], 'parent', ['document', `doc-${d}`])
    }
    for (let g = 0; g < this.groups; g++) {
      const outer = this.#outerOf(g)
      if (outer >= 0) yield tuple(['group', `group-${g}`], 'group', ['group', `group-${outer}`])
    }
    for (let n = 0; n < this.folders * 0.6; n++) {
      const role = random.next() < 0.75 ? 'viewer' : 'editor'
      const folder: [string, string] = ['folder', `folder-${random.below(this.folders)}`]
      yield tuple(['group', `group-${random.below(this.groups)}`], groupRelation(role), folder)
    }
    for (let n = 0; n < this.documents * 0.15; n++) {
      const role = random.next() < 0.75 ? 'viewer' : 'editor'
      const document: [string, string] = ['document', `doc-${random.below(this.documents)}`]
      yield tuple(['group', `group-${random.below(this.groups)}`], groupRelation(role), document)
    }
    for (let u = 0; u < this.users; u++) yield* this.#assignmentsOf(u)
  }

  folderOf(document: number): number {
    return new Random(document * 7 + this.#seed).below(this.folders)
  }

  candidates(count: number, kind: 'allowed' | 'denied'): Query[] {
    const random = new Random(this.#seed + (kind === 'allowed' ? 2 : 3))
    const holders = kind === 'allowed' ? this.#holders() : null
    return Array.from({ length: count }, () => {
      const action = random.next() < 0.75 ? 'read' : 'write'
      const document = random.below(this.documents)
      const user = holders ? this.#holderAbove(holders, document, random) : random.below(this.users)
      return ask(`user-${user}`, action, 'document', `doc-${document}`)
    })
  }

  *#assignmentsOf(u: number): Iterable<Change> {
    const user = `user-${u}`
    const random = new Random(u * 13 + this.#seed + 4)
    for (let n = 0; n < GROUPS_PER_USER; n++) {
      yield assignment(user, 'member', 'group', `group-${random.below(this.groups)}`)
    }
    for (let n = 0; n < FOLDER_ROLES_PER_USER; n++) {
      const role = random.next() < 0.7 ? 'viewer' : 'editor'
      yield assignment(user, role, 'folder', `folder-${random.below(this.folders)}`)
    }
    for (let n = 0; n < DOCUMENT_ROLES_PER_USER; n++) {
      const role = random.next() < 0.6 ? 'viewer' : random.next() < 0.75 ? 'editor' : 'owner'
      yield assignment(user, role, 'document', `doc-${random.below(this.documents)}`)
    }
  }

  /**
   * Group in which a group is nested. In each block of three groups, the first two are nested in the third
   * group of the corresponding block at the next level. There are three levels.
   */
  #outerOf(group: number): number {
    const level = group % (GROUP_LEVELS * 3)
    if (level < 6) return group - level + 6 + (level % 3) < this.groups ? group - level + 6 + (level % 3) : -1
    return level === 8 || group + 1 >= this.groups ? -1 : group + 1
  }

  /**
   * Users who hold a role on an instance, directly or through a group, by the number of the folder or
   * document.
   */
  #holders(): { folder: Map<number, number[]>; document: Map<number, number[]> } {
    const members = new Map<number, number[]>()
    const holders = { folder: new Map<number, number[]>(), document: new Map<number, number[]>() }
    for (const fact of this.facts()) {
      if (fact.kind !== 'assignment-put' || !('instance' in fact.scope)) continue
      const { type, key } = fact.scope.instance
      const at = Number(key.slice(key.indexOf('-') + 1))
      const user = Number(fact.user.slice(5))
      add(type === 'group' ? members : type === 'folder' ? holders.folder : holders.document, at, user)
    }
    for (const fact of this.facts()) {
      if (fact.kind !== 'tuple-put' || !fact.relation.startsWith('group_')) continue
      const group = Number(fact.subject.key.slice(6))
      const at = Number(fact.object.key.slice(fact.object.key.indexOf('-') + 1))
      const into = fact.object.type === 'folder' ? holders.folder : holders.document
      for (const user of (members.get(group) ?? []).slice(0, 5)) add(into, at, user)
    }
    return holders
  }

  /**
   * A user who holds a role on the document or on a folder above it. The number of steps up the tree is
   * random.
   */
  #holderAbove(
    holders: { folder: Map<number, number[]>; document: Map<number, number[]> },
    document: number,
    random: Random,
  ): number {
    const found = [...(holders.document.get(document) ?? [])]
    for (let folder = this.folderOf(document); folder >= 0; folder = this.#parents[folder]!) {
      found.push(...(holders.folder.get(folder) ?? []))
    }
    return found.length === 0 ? 0 : random.pick(found)
  }
}

function add(map: Map<number, number[]>, at: number, user: number): void {
  const known = map.get(at)
  if (known) known.push(user)
  else map.set(at, [user])
}
