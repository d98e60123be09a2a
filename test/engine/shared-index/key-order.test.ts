/** Order of many keys in pages. `key-order.ts` sorts by prefixes and runs. */
import { expect, test } from 'vitest'
import {
  instance,
  resourceType,
  role,
  tenant,
  tenantRole,
  assignInTenant,
  user,
} from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { searchResources } from '#testing/engines/listed.ts'

const FAMILIES: Record<string, (n: number) => string> = {
  'that differ early': n => `${(n * 7_919) % 5_000}-document`,
  'that differ late': n => `a-very-long-common-beginning-${'x'.repeat(n % 3)}-${n}`,
  'that contain each other': n => 'k'.repeat(1 + (n % 500)) + (n < 500 ? '' : String(n)),
  'in families with common beginnings': n => `${'abc'[n % 3]}-family-of-many-${n % 17}-${n}`,
  'that end in zeros': n => `${n % 10}${'\0'.repeat(n / 10)}`,
  'of other scripts': n => `${['é', '鍵', '😀', '\ud7ff', '\uffff'][n % 5]}${n}${'ß'.repeat(n % 30)}`,
}

test.each(Object.entries(FAMILIES))(
  'five thousand keys %s are listed in order for any page size',
  (_, keyOf) => {
    const keys = [...new Set(Array.from({ length: 5_000 }, (__, n) => keyOf(n)))]
    const engine = SharedEngine.with([
      tenant('default'),
      user('alice'),
      resourceType('document', 'read'),
      role('document', 'viewer', { can: ['read'] }),
      tenantRole('reader', { can: ['document:read'] }),
      assignInTenant('alice', 'reader', 'default'),
      ...keys.map(key => ({ ...instance('document:x'), instance: { type: 'document', key } })),
    ])
    const ordered = keys.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
    const question = { user: 'alice', action: 'read', type: 'document', tenant: null }
    for (const limit of [7, 1_000, 10_000]) {
      const walked: string[] = []
      for (let after: string | null = null, hasMore = true; hasMore;) {
        const page = searchResources(engine, question, { after, limit })
        expect(page.total).toBe(keys.length)
        walked.push(...page.keys)
        after = page.keys.at(-1)!
        hasMore = page.hasMore
      }
      expect(walked).toEqual(ordered)
    }
    for (const after of ['a', 'kk', 'zzz', '\u{10ffff}']) {
      const behind = ordered.filter(key => Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0)
      expect(searchResources(engine, question, { after, limit: 5 }).keys).toEqual(behind.slice(0, 5))
    }
  },
)
