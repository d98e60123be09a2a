/** Batches of checks on closures of different lengths. */
import { expect, test } from 'vitest'
import { assign, FOLDERS, instance, link, user } from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { evaluateAll } from '#testing/engines/packed.ts'

const LENGTHS = [1, 2, 31, 32, 33, 40, 41, 63, 64, 65, 96, 255, 256, 257]

test.each(LENGTHS)(
  'in a batch, only users with a role on one of %i folders above a document can open it',
  length => {
    const levels = Array.from({ length }, (_, level) => level)
    const engine = SharedEngine.with([
      ...FOLDERS,
      user('stranger'),
      instance('folder:aside'),
      assign('stranger', 'viewer', 'folder:aside'),
      ...levels.flatMap(level => [
        instance(`folder:${level}`),
        user(`u${level}`),
        assign(`u${level}`, 'viewer', `folder:${level}`),
      ]),
      ...levels.slice(1).map(level => link(`folder:${level - 1}`, 'parent', `folder:${level}`)),
      instance('folder:bottom'),
      link(`folder:${length - 1}`, 'parent', 'folder:bottom'),
    ])
    const queries = [...levels.map(level => `u${level}`), 'stranger'].map(key => {
      return { user: key, action: 'open', type: 'folder', key: 'bottom', tenant: null }
    })
    const wanted = [...levels.map(() => true), false]
    expect(evaluateAll(engine, queries)).toEqual(wanted)
    expect(evaluateAll(engine, queries)).toEqual(wanted)
  },
)
