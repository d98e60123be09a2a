/** Access changes of commits: users who gain or lose access, or, if these are many, a scope to list again. */
import { describe, expect, test } from 'vitest'
import type { AccessPair } from '#model/access-change.ts'
import { ACCESS_LIMITS, AccessChanges, type AccessLimits } from '#engine/access-changes.ts'
import { Reach } from '#engine/shared-index/reach.ts'
import type { Change } from '#model/change.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import {
  assign,
  assignInTenant,
  DOCUMENTS,
  FOLDERS,
  instance,
  link,
  relation,
  removed,
  resourceType,
  role,
  tenant,
  tenantRole,
  user,
} from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const READ = { type: 'document', action: 'read' }
const OPEN = { type: 'folder', action: 'open' }
const model: Change[] = [
  ...FOLDERS,
  ...DOCUMENTS,
  tenantRole('reader', { can: ['document:read'] }),
  user('ann'),
  user('bob'),
  ...['top', 'sub'].map(key => instance(`folder:${key}`)),
  ...['one', 'two'].map(key => instance(`document:${key}`)),
  link('folder:top', 'parent', 'folder:sub'),
  link('folder:sub', 'parent', 'document:one'),
]

const pairText = ({ user: who, resource }: AccessPair): string => `${who} ${resource}`

function opened(limits: Partial<AccessLimits> = {}) {
  const engine = new SharedEngine()
  const reach = new Reach(engine.writer.handle, { threadId: 3 })
  const access = new AccessChanges(
    { sink: engine, open: () => ({ engine, reach }) },
    { ...ACCESS_LIMITS, ...limits },
  )
  access.load(model)
  return { engine, access }
}

function open(limits: Partial<AccessLimits> = {}) {
  const { access } = opened(limits)
  return (...changes: Change[]) => {
    const told = runAtOnce(access.apply(changes, [READ, OPEN]))
    return Object.fromEntries(
      told.map(({ permission, gained, lost, many }) => [
        permission.action,
        {
          ...(gained.length > 0 && { gained: gained.map(pairText).toSorted() }),
          ...(lost.length > 0 && { lost: lost.map(pairText).toSorted() }),
          ...(many.length > 0 && { many }),
        },
      ]),
    )
  }
}

test('a role on a folder grants access to all instances below it, of each type', () => {
  const commit = open()
  expect(commit(assign('ann', 'viewer', 'folder:top'))).toEqual({
    read: { gained: ['ann one'] },
    open: { gained: ['ann sub', 'ann top'] },
  })
  expect(commit(assign('ann', 'viewer', 'folder:top'))).toEqual({})
  expect(commit(assign('ann', 'viewer', 'document:one'))).toEqual({})
  expect(commit(removed(assign('ann', 'viewer', 'folder:top')))).toEqual({
    open: { lost: ['ann sub', 'ann top'] },
  })
})

test('a removed user loses all access, and has none when the user is created again', () => {
  const commit = open()
  commit(assign('ann', 'viewer', 'folder:top'))
  expect(commit(removed(user('ann')))).toEqual({
    read: { lost: ['ann one'] },
    open: { lost: ['ann sub', 'ann top'] },
  })
  expect(commit(user('ann'))).toEqual({})
})

describe('the reported scope to list again', () => {
  const WHOLE = { read: { many: [{}] }, open: { many: [{}] } }
  test('is the user and the tenant of a tenant role that allows the permission', () => {
    const commit = open()
    const grant = assignInTenant('ann', 'reader', 'default')
    const many = [{ user: 'ann', tenant: 'default' }]
    expect(commit(grant)).toEqual({ read: { many } })
    expect(commit(grant)).toEqual({})
    expect(commit(removed(grant))).toEqual({ read: { many } })
  })

  test('is the user if a role covers too many instances, and the environment if a tuple covers too many', () => {
    const commit = open({ reached: 2 })
    expect(commit(assign('ann', 'viewer', 'folder:sub'))).toEqual({
      read: { gained: ['ann one'] },
      open: { gained: ['ann sub'] },
    })
    expect(commit(assign('ann', 'viewer', 'folder:top'))).toEqual({
      read: { many: [{ user: 'ann' }] },
      open: { many: [{ user: 'ann' }] },
    })
    expect(commit(removed(link('folder:top', 'parent', 'folder:sub')))).toEqual({})
    commit(link('folder:sub', 'parent', 'document:two'))
    expect(commit(link('folder:top', 'parent', 'folder:sub'))).toEqual(WHOLE)
  })

  test('is the environment if a commit has too many access changes or too many changes', () => {
    const few = open({ reported: 1 })
    expect(few(assign('ann', 'viewer', 'folder:top')).open).toEqual({ many: [{}] })
    const commit = open()
    const many = Array.from({ length: 1_001 }, (_, n) => user(`user-${n}`))
    expect(commit(...many)).toEqual(WHOLE)
    expect(commit(...many.slice(0, 1_000))).toEqual({})
  })

  test('is the environment or tenant if the schema changes or a tenant is deleted, but only if a role allows the permission', () => {
    const commit = open()
    expect(commit(role('document', 'viewer', { can: [] }))).toEqual(WHOLE)
    expect(commit(relation('document', 'owner', 'folder'))).toEqual({})
    expect(commit(resourceType('folder', 'open', 'close'))).toEqual({ open: { many: [{}] } })
    expect(commit(tenant('another'))).toEqual({})
    expect(commit(removed(tenant('default')))).toEqual({
      read: { many: [{ tenant: 'default' }] },
      open: { many: [{ tenant: 'default' }] },
    })
  })
})

test('the scopes of a backlog of commits are computed with one visit per subject and commit, and with pauses', () => {
  const engine = new SharedEngine()
  const reach = new Reach(engine.writer.handle, { threadId: 3 })
  const walks: string[] = []
  const counted = {
    usersAbove: reach.usersAbove.bind(reach),
    below: (...[start, limit]: Parameters<Reach['below']>) => {
      walks.push(start.key)
      return reach.below(start, limit)
    },
  }
  const access = new AccessChanges({ sink: engine, open: () => ({ engine, reach: counted }) })
  const folders = Array.from({ length: 100 }, (_, n) => `folder:f${n}`)
  const commit = folders.map(above => link(above, 'parent', 'folder:top'))
  access.load([...model, ...folders.map(each => instance(each)), ...commit])
  const work = access.scopesOf([...commit, link('folder:sub', 'parent', 'document:one')], [READ, OPEN])
  let stops = 0
  for (let step = work.next(); ; step = work.next(), stops++) {
    if (!step.done) continue
    expect(step.value.map(({ many }) => many)).toEqual([
      [{ resource: 'one' }],
      [{ resource: 'top' }, { resource: 'sub' }],
    ])
    break
  }
  expect([walks, stops]).toEqual([['top'], 101])
})

test('a commit with more changes than the limit is applied in several steps', () => {
  const { engine, access } = opened()
  const changes = Array.from({ length: 2_000 }, (_, n) => user(`u${n}`))
  const work = access.apply([...changes, assign('u1999', 'viewer', 'folder:top')], [READ])
  let stops = 0
  while (!work.next().done) stops += 1
  expect(stops).toBeGreaterThanOrEqual(10)
  expect(engine.evaluate({ user: 'u1999', ...READ, key: 'one', tenant: null })).toBe(true)
})
