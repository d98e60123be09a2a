/** The checks of a batch are made on one state, even if a writer changes the index during every attempt. */
import { expect, test } from 'vitest'
import * as L from '#engine/shared-index/memory/layout.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Query } from '#model/decision.ts'
import { assign, instance, removed, resourceType, role, tenant, user } from '#testing/engines/changes.ts'
import { SECRETS } from '#testing/engines/shared-engine.ts'
import { evaluateAll } from '#testing/engines/packed.ts'

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'if a role is moved %i times during a batch, the batch finds it in exactly one of its two places',
  times => {
    const writer = new SharedIndexWriter({ threadId: 1, secrets: SECRETS })
    const grants = ['document:here', 'document:there'].map(place => assign('alice', 'viewer', place))
    writer.apply([
      tenant('default'),
      resourceType('document', 'read'),
      role('document', 'viewer', { can: ['read'] }),
      instance('document:here'),
      instance('document:there'),
      user('alice'),
      grants[0]!,
    ])
    const { handle } = writer
    const header = new Int32Array(handle.header)
    let moves = 0
    const asked = (key: string): Query => ({
      user: 'alice',
      action: 'read',
      type: 'document',
      key,
      tenant: null,
    })
    const disturbing: Query = {
      ...asked('here'),
      // This getter runs while the batch is read. It acts like a writer thread whenever the lock is free.
      get user() {
        if (header[L.H_LOCK] === 0 && moves < times) {
          writer.apply([removed(grants[moves % 2]!), grants[(moves + 1) % 2]!])
          moves++
        }
        return 'alice'
      },
    }
    const reader = new SharedIndexReader(handle, { threadId: 2 })
    const [here, , there] = evaluateAll(reader, [asked('here'), disturbing, asked('there')])
    expect(moves).toBeGreaterThan(0)
    expect([here, there].toSorted()).toEqual([false, true])
  },
)
