/** Near misses in explanations. `test/properties` compares near misses with the oracle. */
import { describe, expect, test } from 'vitest'
import { NEAR_MISS_ROLES_MAX, NEAR_MISS_STEPS_MAX, NEAR_MISSES_MAX } from '#engine/explanation.ts'
import type { Change } from '#model/change.ts'
import { EXPLAIN_STEPS_MAX } from '#model/limits.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import {
  assign,
  heldBy,
  heldUnlessDirectBy,
  instance,
  instanceKey,
  link,
  relation,
  resourceType,
  role,
  tenant,
  user,
} from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { ENGINES } from './engines.ts'

const overParent = heldBy({ role: 'viewer', on: 'folder', over: 'parent' })

/** A document in a folder, which is in another folder. Viewers of a folder are viewers of its content. */
const library = [
  tenant('default'),
  tenant('acme'),
  user('anna'),
  resourceType('folder', 'read', 'write'),
  resourceType('document', 'read', 'write'),
  relation('folder', 'parent', 'folder'),
  relation('document', 'parent', 'folder'),
  role('folder', 'viewer', { can: ['read'] }),
  role('folder', 'viewer', { can: ['read'], from: [overParent] }),
  role('folder', 'editor', { can: ['write'], extends: ['viewer'] }),
  role('folder', 'owner', { extends: ['editor'] }),
  role('folder', 'guest'),
  role('document', 'viewer', { can: ['read'], from: [overParent] }),
  role('document', 'guest'),
  instance('folder:root'),
  instance('folder:f'),
  instance('document:d'),
  link('folder:root', 'parent', 'folder:f'),
  link('folder:f', 'parent', 'document:d'),
]

const derivation = { role: 'viewer', onType: 'folder', relation: 'parent', guarded: false }
const step = (from: string, to: string) => ({
  kind: 'derivation',
  subject: instanceKey(from),
  relation: 'parent',
  object: instanceKey(to),
  role: 'viewer',
  derivation,
})

describe.each(ENGINES)('$name', ({ newEngine }) => {
  const nearMisses = (facts: readonly Change[], on = 'document:d', model: readonly Change[] = library) => {
    const engine = newEngine()
    engine.apply([...model, ...facts])
    const query = { user: 'anna', action: 'read', ...instanceKey(on), tenant: null }
    return runAtOnce(engine.explain(query, EXPLAIN_STEPS_MAX)).nearMisses
  }

  test('a role that extends the source role of a derivation is reported with the derivation', () => {
    expect(nearMisses([assign('anna', 'owner', 'folder:f'), assign('anna', 'guest', 'folder:f')])).toEqual({
      found: [
        {
          kind: 'other-role',
          instance: instanceKey('folder:f'),
          needed: ['viewer'],
          held: [
            { role: 'owner', extendsNeeded: true },
            { role: 'guest', extendsNeeded: false },
          ],
          path: [step('folder:f', 'document:d')],
        },
      ],
      hasMore: false,
    })
  })

  test('a guard that blocks a derivation is reported with the blocking roles', () => {
    const guarded = heldUnlessDirectBy({ role: 'viewer', on: 'folder', over: 'parent' })
    const facts = [
      role('document', 'viewer', { can: ['read'], from: [guarded] }),
      assign('anna', 'viewer', 'folder:root'),
      assign('anna', 'guest', 'document:d'),
    ]
    expect(nearMisses(facts)).toEqual({
      found: [
        {
          kind: 'guard',
          instance: instanceKey('document:d'),
          blocking: ['guest'],
          path: [{ ...step('folder:f', 'document:d'), derivation: { ...derivation, guarded: true } }],
        },
      ],
      hasMore: false,
    })
    const without = facts.filter(fact => fact.kind !== 'assignment-put' || fact.role !== 'guest')
    expect(nearMisses(without).found).toEqual([])
  })

  test('a missing tuple is reported if the user holds the source role of its derivation in the same tenant', () => {
    const alone = instance('document:alone')
    const expected = {
      kind: 'no-tuple',
      instance: instanceKey('document:alone'),
      role: 'viewer',
      derivation,
      heldOn: instanceKey('folder:root'),
    }
    const viewer = assign('anna', 'viewer', 'folder:root')
    expect(nearMisses([alone, viewer], 'document:alone').found).toEqual([expected])
    expect(nearMisses([alone], 'document:alone').found).toEqual([])
    expect(nearMisses([instance('document:alone', 'acme'), viewer], 'document:alone').found).toEqual([])
    expect(
      nearMisses([alone, viewer, link('folder:f', 'parent', 'document:alone')], 'document:alone'),
    ).toEqual({
      found: [],
      hasMore: false,
    })
  })

  test('the nearest near misses are reported up to the limit, and `hasMore` is set if there are more', () => {
    const chain = Array.from({ length: NEAR_MISSES_MAX + 1 }, (_, n) => `folder:${n}`)
    const facts = [
      ...chain.map(name => instance(name)),
      link(chain[0]!, 'parent', 'folder:root'),
      ...chain.slice(1).map((name, n) => link(name, 'parent', chain[n]!)),
    ]
    const held = chain.map(name => assign('anna', 'guest', name))
    for (const [count, hasMore] of [
      [NEAR_MISSES_MAX, false],
      [NEAR_MISSES_MAX + 1, true],
    ] as const) {
      const { found, ...rest } = nearMisses([...facts, ...held.slice(0, count)])
      expect(rest).toEqual({ hasMore })
      const on = found.map(miss => [miss.instance.key, miss.kind === 'no-tuple' ? 0 : miss.path.length])
      expect(on).toEqual(chain.slice(0, NEAR_MISSES_MAX).map((_, n) => [`${n}`, n + 3]))
    }
  })

  test('a near miss reports a limited number of held roles', () => {
    const roles = Array.from({ length: NEAR_MISS_ROLES_MAX + 5 }, (_, n) => `r${String(n).padStart(2, '0')}`)
    const facts = roles.flatMap(key => [role('folder', key), assign('anna', key, 'folder:f')])
    const [miss] = nearMisses([...facts, role('folder', roles.at(-1)!, { extends: ['viewer'] })]).found
    const held = miss?.kind === 'other-role' ? miss.held.map(each => each.role) : []
    expect(held).toEqual([roles.at(-1), ...roles.slice(0, NEAR_MISS_ROLES_MAX - 1)])
  })

  test('a near miss beyond the maximum distance is not reported, but sets `hasMore`', () => {
    const chain = Array.from({ length: NEAR_MISS_STEPS_MAX + 1 }, (_, n) => `folder:${n}`)
    const facts = [
      ...chain.map(name => instance(name)),
      ...chain.slice(1).map((name, n) => link(name, 'parent', chain[n]!)),
    ]
    const at = (name: string) => nearMisses([...facts, assign('anna', 'guest', name)], 'folder:0')
    expect(at(chain.at(-1)!)).toMatchObject({ found: [{ kind: 'other-role' }], hasMore: false })
    const further = [instance('folder:far'), link('folder:far', 'parent', chain.at(-1)!)]
    expect(nearMisses([...facts, ...further, assign('anna', 'guest', 'folder:far')], 'folder:0')).toEqual({
      found: [],
      hasMore: true,
    })
  })
})

describe('the shared index', () => {
  const folders = Array.from({ length: 400 }, (_, n) => `folder:${n}`)
  const engine = SharedEngine.with([
    ...library,
    user('busy'),
    ...folders.flatMap(name => [instance(name), assign('busy', 'guest', name)]),
    assign('anna', 'editor', 'folder:f'),
    ...folders.map(name => link(name, 'parent', 'folder:root')),
  ])
  const explain = (name: string, stepsMax: number, detail: 'none' | 'leaf' = 'leaf') => {
    const query = { user: name, action: 'read', type: 'document', key: 'd', tenant: null }
    return runAtOnce(engine.explain(query, stepsMax, detail))
  }

  test('the search for near misses uses the remaining steps, and sets `hasMore` if they are not sufficient', () => {
    // The roles of anna are found in a few steps. The folder is visited next, before the folders above it.
    expect(explain('anna', 300).nearMisses).toMatchObject({
      found: [{ instance: { key: 'f' } }],
      hasMore: true,
    })
    expect(explain('anna', EXPLAIN_STEPS_MAX).nearMisses).toMatchObject({
      found: [{ instance: { key: 'f' } }],
      hasMore: false,
    })
    expect(explain('busy', 300).nearMisses).toEqual({ found: [], hasMore: true })
    expect(explain('busy', EXPLAIN_STEPS_MAX).nearMisses.found).toHaveLength(NEAR_MISSES_MAX)
  })

  test('the search for near misses is skipped if no detail is requested', () => {
    expect(explain('anna', EXPLAIN_STEPS_MAX, 'none').nearMisses).toEqual({ found: [], hasMore: false })
    const steps = (detail: 'none' | 'leaf') => explain('anna', EXPLAIN_STEPS_MAX, detail).steps
    expect(steps('leaf')).toBeGreaterThan(steps('none'))
  })
})
