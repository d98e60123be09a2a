/**
 * Warms up the code of the writer: applies every kind of change a few times to a small separate index.
 * Readers wait during the critical section of a commit, and code that runs for the first time takes three to
 * six times as long (figures in docs/engine.md, "What clever parts are worth").
 *
 * The warm-up takes 0.2 s on an idle machine, in steps of some milliseconds. Its only effect is compiled
 * code, which belongs to a thread. It must therefore run in the thread that writes.
 */
import type { Change, Derivation, MappingRule } from '#model/change.ts'
import { SharedIndexWriter } from './writer.ts'

/**
 * Number of rounds. After three rounds, all relevant code is compiled; in a test, ten rounds had no further
 * effect.
 */
const ROUNDS = 3
const FOLDERS = 200
/**
 * Number of folders directly below the root. All other folders are below these, so a change at the root
 * invalidates all closures.
 */
const TOP_FOLDERS = 10
const DOCUMENTS = 2_000
const USERS = 500
const CHANGES_A_COMMIT = 500
const PRECOMPUTED_A_STEP = 2_000
const EXPIRED_AT_ONCE = 128

/** Warms up the writer, in steps. The caller can do other work between the steps. */
export function* warmUpWriter(): Generator<void> {
  const writer = new SharedIndexWriter({ threadId: 1, secrets: { start: 1, multiplier: 0x2545f491 } })
  for (const part of baseData()) yield writer.apply(part)
  // After the handle has been read, the writer prepares commits as for an index with readers.
  void writer.handle
  yield* idleWork(writer)
  for (let round = 0; round < ROUNDS; round++) {
    for (const changes of workloads()) {
      for (const part of inCommits(changes)) yield writer.apply(part)
      yield* idleWork(writer)
    }
    for (const part of inCommits(expiringGrants())) yield writer.apply(part)
    while (writer.wakeAt <= DOCUMENTS) yield void writer.expireDue(DOCUMENTS, EXPIRED_AT_ONCE)
    yield* idleWork(writer)
  }
}

/** Does the work that the writer does in idle periods after a commit. */
function* idleWork(writer: SharedIndexWriter): Generator<void> {
  while (writer.collect(1)) yield
  while (writer.precompute(PRECOMPUTED_A_STEP)) yield
}

function* inCommits(changes: readonly Change[]): Generator<readonly Change[]> {
  for (let at = 0; at < changes.length; at += CHANGES_A_COMMIT) yield changes.slice(at, at + CHANGES_A_COMMIT)
}

/** Data that all workloads use: nested folders with documents, groups, and users with roles on folders. */
function* baseData(): Generator<readonly Change[]> {
  yield [
    { kind: 'type-put', type: 'group', actions: [] },
    { kind: 'type-put', type: 'folder', actions: ['read'] },
    { kind: 'type-put', type: 'document', actions: ['read', 'write'] },
    { kind: 'relation-put', type: 'group', relation: 'group', subjectType: 'group' },
    ...['folder', 'document'].flatMap((type): Change[] => [
      { kind: 'relation-put', type, relation: 'parent', subjectType: 'folder' },
      { kind: 'relation-put', type, relation: 'shared', subjectType: 'group' },
    ]),
    role('group', 'member', [], [from('member', 'group', 'group')]),
    ...['folder', 'folder', 'document'].map(type =>
      role(type, 'viewer', ['read'], [from('viewer', 'folder', 'parent'), from('member', 'group', 'shared')]),
    ),
    { kind: 'tenant-put', tenant: 'default', attributes: null },
    instancePut('group', 'guests'),
    instancePut('folder', 'root'),
  ]
  yield times(FOLDERS, n => instancePut('folder', `folder-${n}`))
  yield times(FOLDERS, n => tuplePut(above(n), 'parent', ['folder', `folder-${n}`]))
  yield times(DOCUMENTS, n => instancePut('document', `document-${n}`))
  yield times(DOCUMENTS, n => tuplePut(someFolder(n), 'parent', ['document', `document-${n}`]))
  yield times(USERS, n => ({ kind: 'user-put', user: `user-${n}`, attributes: null }))
  yield times(DOCUMENTS, n => assignmentPut(someUser(n), someFolder(n * 7)))
}

/** Roles and tuples whose expiration times are all before the time `DOCUMENTS`. */
function expiringGrants(): readonly Change[] {
  return [
    ...times(DOCUMENTS, n => ({
      ...assignmentPut(someUser(n), ['document', `document-${n}`]),
      expiresAt: n,
    })),
    ...times(FOLDERS, n => ({
      ...tuplePut(['group', 'guests'], 'shared', ['folder', `folder-${n}`]),
      expiresAt: n,
    })),
  ]
}

/**
 * Returns the workloads. The changes of a workload to the base data are undone by the workload itself or by
 * the next workload.
 */
function* workloads(): Generator<readonly Change[]> {
  const heavy: UndoablePut = { kind: 'user-put', user: 'heavy', attributes: null }
  const rolesOfOne = times(DOCUMENTS, n => assignmentPut('heavy', ['document', `document-${n}`]))
  const everywhere = instancePut('group', 'everywhere')
  const sharedWithOne = times(DOCUMENTS, n =>
    tuplePut(['group', 'everywhere'], 'shared', ['document', `document-${n}`]),
  )
  const putThenRemove: UndoablePut[][] = [
    times(DOCUMENTS, n => instancePut('document', `new-${n}`)),
    times(DOCUMENTS, n => ({ kind: 'user-put', user: `new-${n}`, attributes: null })),
    times(DOCUMENTS, n => assignmentPut(someUser(n), ['document', `document-${n}`])),
    times(DOCUMENTS, n => tuplePut(['group', 'guests'], 'shared', someFolder(n))),
    [tuplePut(['group', 'guests'], 'shared', ['folder', 'root'])],
    [heavy, ...rolesOfOne],
    [everywhere, ...sharedWithOne],
  ]
  for (const puts of putThenRemove) {
    yield puts
    yield puts.map(taken).toReversed()
  }
  // Removing these entities also removes all their facts.
  for (const puts of [
    [heavy, ...rolesOfOne],
    [everywhere, ...sharedWithOne],
  ]) {
    yield puts
    yield [taken(puts[0]!)]
  }
  yield [
    { kind: 'type-put', type: 'note', actions: ['read'] },
    { kind: 'relation-put', type: 'note', relation: 'parent', subjectType: 'folder' },
    { kind: 'tenant-put', tenant: 'other', attributes: { seats: 5 } },
    role(null, 'auditor', ['read']),
    role('document', 'signer', ['write']),
    { kind: 'condition-set-put', set: 'staff', side: 'user', type: null, parent: null, conditions: {} },
    { kind: 'rule-put', ...RULE },
    { kind: 'mapping-put', config: 'gateway', createdAt: 0, rules: [MAPPING_RULE] },
    { kind: 'assignment-put', user: 'user-1', role: 'auditor', scope: { tenant: 'default' } },
  ]
  yield [role('document', 'signer', ['write'], [from('viewer', 'folder', 'parent')])]
  yield [
    { kind: 'mapping-removed', config: 'gateway' },
    { kind: 'rule-removed', ...RULE },
    { kind: 'condition-set-removed', set: 'staff' },
    { kind: 'role-removed', type: 'document', role: 'signer' },
    { kind: 'role-removed', type: null, role: 'auditor' },
    { kind: 'tenant-removed', tenant: 'other' },
    { kind: 'relation-removed', type: 'note', relation: 'parent' },
    { kind: 'type-removed', type: 'note' },
  ]
}

const RULE = { userSet: 'staff', type: 'document', action: 'read', resourceSet: '__autogen_document' }

const MAPPING_RULE: MappingRule = {
  url: 'https://api.example.org/documents/{id}?view={view}',
  method: 'get',
  type: 'document',
  action: 'read',
  priority: 0,
}

type Ref = readonly [type: string, key: string]

/** Changes that a workload can undo with a removal. */
type UndoablePut = Extract<Change, { kind: 'user-put' | 'instance-put' | 'assignment-put' | 'tuple-put' }>

function taken(put: UndoablePut): Change {
  switch (put.kind) {
    case 'user-put':
      return { kind: 'user-removed', user: put.user }
    case 'instance-put':
      return { kind: 'instance-removed', instance: put.instance }
    case 'assignment-put':
      return { ...put, kind: 'assignment-removed' }
    case 'tuple-put':
      return { ...put, kind: 'tuple-removed' }
  }
}

function times<Made>(count: number, make: (n: number) => Made): Made[] {
  return Array.from({ length: count }, (_, n) => make(n))
}

function above(folder: number): Ref {
  return ['folder', folder < TOP_FOLDERS ? 'root' : `folder-${folder % TOP_FOLDERS}`]
}

function someFolder(n: number): Ref {
  return ['folder', `folder-${n % FOLDERS}`]
}

function someUser(n: number): string {
  return `user-${n % USERS}`
}

function role(
  type: string | null,
  name: string,
  actions: readonly string[],
  derivations: readonly Derivation[] = [],
): Change {
  const permissions = actions.map(action => ({ type: type ?? 'document', action }))
  return { kind: 'role-put', type, role: name, permissions, extends: [], derivations }
}

function from(name: string, onType: string, relation: string): Derivation {
  return { role: name, onType, relation, guarded: false }
}

function instancePut(type: string, key: string): UndoablePut {
  return { kind: 'instance-put', instance: { type, key }, tenant: 'default', attributes: null }
}

function assignmentPut(user: string, [type, key]: Ref): UndoablePut {
  return { kind: 'assignment-put', user, role: 'viewer', scope: { instance: { type, key } } }
}

function tuplePut([subjectType, subjectKey]: Ref, relation: string, [type, key]: Ref): UndoablePut {
  const subject = { type: subjectType, key: subjectKey }
  return { kind: 'tuple-put', subject, relation, object: { type, key } }
}
