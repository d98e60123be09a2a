/**
 * Measures changes of a schema that has the maximum size:
 *
 *     node --max-old-space-size=12000 bench/engine/schema-ceilings.ts [rules: only those]
 *
 * The first figure is how long the writer thread is occupied without pause while it compiles and publishes a
 * change. It works for a slice of 4 ms and then completes its current step, so the maximum is 4 ms plus the
 * longest step. The other figures are the duration of the whole change, and of the first decision of a reader
 * after it, for which the reader must load the new schema.
 *
 * Each change is made and reverted several times, in the same steps. The minimum of each step and of each
 * first decision is used, because other work on the machine can only add time. The decisions after the
 * changes are verified.
 */
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change, Permission } from '#model/change.ts'
import {
  ACTIONS_MAX,
  ACTIONS_PER_RESOURCE_MAX,
  PERMISSIONS_MAX,
  PERMISSIONS_PER_ROLE_MAX,
  TENANT_ROLES_MAX,
} from '#model/limits.ts'
import { LONGEST_SLICE_MS } from '#scheduling/time-budget.ts'
import { atMost, type Figure, publish, round } from '../lib/measure.ts'
import { ruleCeilings } from './rule-ceilings.ts'

const STOP_MAX_MS = 50
const ROUNDS = 5
const LOADS = 5
const ACTIONS = Array.from({ length: ACTIONS_PER_RESOURCE_MAX }, (_, n) => `action-${n}`)
const TYPES = Array.from({ length: ACTIONS_MAX / ACTIONS_PER_RESOURCE_MAX }, (_, n) => `type-${n}`)

/** Collects the minimum of several measurements of the same steps. */
class Felt {
  readonly steps: number[] = []
  firstDecision = Infinity

  takeSteps(steps: readonly number[]): void {
    for (const [index, ms] of steps.entries()) this.steps[index] = Math.min(this.steps[index] ?? Infinity, ms)
  }

  get atATime(): number {
    return Math.min(LONGEST_SLICE_MS.main, this.whole) + this.steps.reduce((max, ms) => Math.max(max, ms), 0)
  }

  get whole(): number {
    return this.steps.reduce((sum, ms) => sum + ms, 0)
  }
}

interface Scene {
  readonly name: string
  readonly there: readonly Change[]
  readonly back: readonly Change[]
  /**
   * Action that is checked for alice on the first resource. `right` contains the correct decisions after the
   * change and after it was reverted.
   */
  readonly action: string
  readonly right: readonly [boolean, boolean]
}

function on(type: string, actions: readonly string[]): Permission[] {
  return actions.map(action => ({ type, action }))
}

function role(key: string, permissions: readonly Permission[], extended: readonly string[] = []): Change {
  return { kind: 'role-put', type: null, role: key, permissions, extends: extended, derivations: [] }
}

function typePut(type: string, actions: readonly string[]): Change {
  return { kind: 'type-put', type, actions }
}

const ALICE: Change[] = [
  { kind: 'tenant-put', tenant: 'default', attributes: null },
  { kind: 'user-put', user: 'alice', attributes: { level: 4, group: 'none' } },
  { kind: 'assignment-put', user: 'alice', role: 'role-0', scope: { tenant: 'default' } },
]

/**
 * A resource with 1,000 actions, and 2,000 roles. All roles extend one role, which has all actions. The model
 * takes 111 kB as JSON.
 */
function issue(): { readonly changes: Change[]; readonly scenes: Scene[] } {
  const roles = Array.from({ length: 1_999 }, (_, n) => role(`role-${n}`, [], n === 0 ? [] : ['base']))
  return {
    changes: [typePut('type-0', ACTIONS), role('base', on('type-0', ACTIONS)), ...roles],
    scenes: [
      {
        name: 'one role',
        there: [role('role-0', on('type-0', ['action-1']))],
        back: [role('role-0', [])],
        action: 'action-1',
        right: [true, false],
      },
      {
        name: 'the role that all extend',
        there: [role('base', on('type-0', ACTIONS.slice(1)))],
        back: [role('base', on('type-0', ACTIONS))],
        action: 'action-1',
        right: [false, false],
      },
    ],
  }
}

/**
 * The maximum numbers of actions, tenant roles and permissions. Half of the roles have all actions. Each
 * action is also in other roles.
 */
function ceilings(): { readonly changes: Change[]; readonly scenes: Scene[] } {
  const all = TYPES.flatMap(type => on(type, ACTIONS))
  const wholes = Array.from({ length: all.length / PERMISSIONS_PER_ROLE_MAX }, (_, n) => `whole-${n}`)
  const ofWhole = (n: number) => all.slice(n * PERMISSIONS_PER_ROLE_MAX, (n + 1) * PERMISSIONS_PER_ROLE_MAX)
  const count = TENANT_ROLES_MAX - wholes.length
  const each = Math.floor((PERMISSIONS_MAX - all.length) / count)
  const roles = Array.from({ length: count }, (_, n) => {
    const own = Array.from({ length: each }, (_each, m) => all[(n + m * count) % all.length]!)
    return role(`role-${n}`, n === 0 ? [] : own, n % 2 === 1 ? wholes : [])
  })
  return {
    changes: [
      ...TYPES.map(type => typePut(type, ACTIONS)),
      ...wholes.map((key, n) => role(key, ofWhole(n))),
      ...roles,
    ],
    scenes: [
      {
        name: 'one role',
        there: [role('role-0', on('type-0', ['action-1']))],
        back: [role('role-0', [])],
        action: 'action-1',
        right: [true, false],
      },
      {
        name: 'a role comes to have all that ten others have',
        there: [role('role-0', [], wholes)],
        back: [role('role-0', [])],
        action: 'action-1',
        right: [true, false],
      },
      {
        name: 'an action of 5,000 roles',
        there: [typePut('type-0', ACTIONS.slice(1))],
        back: [typePut('type-0', ACTIONS), role('whole-0', ofWhole(0))],
        action: 'action-1',
        right: [false, false],
      },
      {
        name: 'a resource of 1,000 actions',
        there: [{ kind: 'type-removed', type: 'type-0' }],
        back: [typePut('type-0', ACTIONS), role('whole-0', ofWhole(0))],
        action: 'action-1',
        right: [false, false],
      },
    ],
  }
}

function stepsOf(writer: SharedIndexWriter, changes: readonly Change[]): number[] {
  const durations: number[] = []
  const steps = writer.applyInSteps(changes)
  for (let isDone = false; !isDone;) {
    const from = performance.now()
    isDone = steps.next().done === true
    durations.push(performance.now() - from)
  }
  return durations
}

function loaded(changes: readonly Change[], felt: Felt): SharedIndexWriter {
  const writer = new SharedIndexWriter({ threadId: 1, secrets: { start: 3, multiplier: 0x2545f491 } })
  // Reading the handle tells the writer that readers can exist from now on.
  void writer.handle
  felt.takeSteps(stepsOf(writer, changes))
  return writer
}

const figures: Figure[] = []
const raw: Record<
  string,
  { readonly atATime: number; readonly whole: number; readonly firstDecision: number }
> = {}

function report(name: string, felt: Felt, writer: SharedIndexWriter): void {
  const { atATime, whole, firstDecision } = felt
  raw[name] = { atATime, whole, firstDecision }
  const first = Number.isFinite(firstDecision) ? `first decision ${round(firstDecision)} ms; ` : ''
  const bytes = `${round(writer.bytes().schema / 2 ** 20)} MiB`
  figures.push({
    ...atMost(name, atATime, STOP_MAX_MS, 'ms'),
    reached: `${round(atATime)} ms at a time, ${round(whole)} in all; ${first}${bytes}`,
  })
}

const only = process.argv[2]
for (const [name, { changes, scenes }] of [
  ['1,000 actions × 2,000 roles', issue()],
  ['at the ceilings', ceilings()],
  ['10,000 sets, 100,000 rules', ruleCeilings()],
] as const) {
  if (only !== undefined && !name.includes(only)) continue
  const loading = new Felt()
  let writer = loaded(changes, loading)
  for (let load = 1; load < LOADS; load++) writer = loaded(changes, loading)
  report(`${name}: all of it in one commit`, loading, writer)
  writer.apply(ALICE)
  const reader = new SharedIndexReader(writer.handle, { threadId: 2 })
  for (const scene of scenes) {
    const ways = [new Felt(), new Felt()]
    for (let pass = 0; pass < ROUNDS; pass++) {
      for (const [index, step] of [scene.there, scene.back].entries()) {
        const felt = ways[index]!
        felt.takeSteps(stepsOf(writer, step))
        const from = performance.now()
        const { action } = scene
        const answer = reader.evaluate({ user: 'alice', action, type: 'type-0', key: null, tenant: null })
        felt.firstDecision = Math.min(felt.firstDecision, performance.now() - from)
        if (answer !== scene.right[index]) throw new Error(`${scene.name}: ${answer} is wrong`)
        while (writer.collect(1));
      }
    }
    report(`${name}: ${scene.name}`, ways[0]!, writer)
    report(`${name}: ${scene.name}, taken back`, ways[1]!, writer)
  }
}
publish(only === undefined ? 'schema-ceilings' : 'rule-ceilings', figures, { felt: raw })
