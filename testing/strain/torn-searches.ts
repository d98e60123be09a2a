/** Searches with known results while `write-mix.ts` makes changes. Each result must match a single state. */
import { isDeepStrictEqual } from 'node:util'
import type { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { EXPLAIN_STEPS_MAX } from '#model/limits.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import { ask, groupRelation } from '#testing/data/dataset.ts'
import type { Random } from '#testing/data/random.ts'
import {
  grantsOn,
  instanceRolesOf,
  searchResources,
  searchUsers,
  tenantRolesOf,
} from '#testing/engines/listed.ts'
import { AUDITOR, CHAIN, constants, LISTER, PAIRS, PAIRS_GROUP } from './write-mix.ts'

const READERS_OF_PAIRS = ['insider', LISTER, 'member']
const ALL = 1_000
const ANY = { tenants: null, types: null, accepts: null }

/** Runs a search. Returns a description of a wrong result, or `null`. */
type Question = (reader: SharedIndexReader, random: Random) => string | null

const known = constants()

export const QUESTIONS: Record<string, Question> = {
  resources(reader, random) {
    const limit = random.below(2) === 0 ? ALL : 1 + random.below(PAIRS)
    const tenant = random.below(2) === 0 ? null : 'default'
    const question = { user: LISTER, action: 'read', type: 'document', tenant }
    const { keys, total, hasMore } = searchResources(reader, question, { after: null, limit })
    if (total !== PAIRS || keys.length !== Math.min(limit, PAIRS) || hasMore !== limit < PAIRS) {
      return `${keys.length} of ${total} documents, limit ${limit}`
    }
    if (!isDeepStrictEqual(keys, keys.toSorted(compareUtf8))) return 'documents out of order'
    return isOneOfEach(keys) ? null : 'both documents of a pair'
  },

  users(reader, random) {
    const { keys, total } = searchUsers(reader, onPair(random), { after: null, limit: ALL })
    if (total === 0 && keys.length === 0) return null
    return isDeepStrictEqual(keys, READERS_OF_PAIRS) ? null : `users ${keys.join(' ')}`
  },

  actions(reader, random) {
    const user = random.pick(['insider', 'outsider'])
    const actions = runAtOnce(
      reader.searchActions({ user, type: 'document', key: someDeep(random), tenant: null }),
    )
    return isDeepStrictEqual(actions, user === 'insider' ? ['read'] : [])
      ? null
      : `actions ${actions.join(' ')}`
  },

  'instance roles'(reader) {
    const listed = instanceRolesOf(reader, LISTER, ANY, ALL)
    const [group, ...others] = listed.filter(({ instance }) => instance.type === 'group')
    const documents = listed.filter(({ instance }) => instance.type === 'document')
    if (group?.instance.key !== PAIRS_GROUP || others.length > 0) return 'not the group'
    if (documents.length !== PAIRS || listed.length !== PAIRS + 1) return `${listed.length} roles`
    if (!isOneOfEach(documents.map(({ instance }) => instance.key))) return 'roles on both of a pair'
    const isRight = documents.every(
      ({ roles, actions, tenant }) =>
        isDeepStrictEqual(roles, ['viewer']) && isDeepStrictEqual(actions, ['read']) && tenant === 'default',
    )
    return isRight ? null : 'roles that nobody gave'
  },

  'tenant roles'(reader) {
    const [entry, ...others] = tenantRolesOf(reader, AUDITOR, null, ALL)
    const isRight = entry?.tenant === 'default' && isDeepStrictEqual(entry.roles, ['auditor'])
    return isRight && others.length === 0 ? null : JSON.stringify([entry, others])
  },

  grants(reader, random) {
    const grants = grantsOn(reader, onPair(random), ALL)
    if (grants.length === 0) return null
    const named = grants.map(({ user, role, instance }) => `${user} ${role} ${instance?.key}`)
    const right = [`insider member ${PAIRS_GROUP}`, `${LISTER} member ${PAIRS_GROUP}`, 'member member inner']
    return isDeepStrictEqual(named.toSorted(), right) ? null : named.join(', ')
  },

  tenant(reader, random) {
    const tenant = reader.tenantOf('document', someDeep(random))
    return tenant === 'default' ? null : `tenant ${tenant}`
  },

  'explanations of what is constant'(reader, random) {
    const { query, answer } = random.pick(known)
    const { allow, path } = runAtOnce(reader.explain(query, EXPLAIN_STEPS_MAX))
    return allow === answer && path.length > 0 === answer ? null : JSON.stringify({ query, allow, path })
  },

  'explanations of what changes'(reader, random) {
    const { action, type, key } = onPair(random)
    const {
      allow,
      path,
      known: names,
    } = runAtOnce(reader.explain(ask(LISTER, action, type, key), EXPLAIN_STEPS_MAX))
    if (!names.user || !names.action || !names.instance) return 'a name was not known'
    if (!allow) return path.length === 0 ? null : 'a path to a deny'
    const [first, second, ...more] = path
    const isRight =
      first?.kind === 'instance-role' &&
      first.instance.key === PAIRS_GROUP &&
      second?.kind === 'derivation' &&
      second.relation === groupRelation('viewer') &&
      second.object.key === key &&
      more.length === 0
    return isRight ? null : JSON.stringify(path)
  },
}

function onPair(random: Random) {
  const key = `${random.pick(['a', 'b'])}${random.below(PAIRS)}`
  return { action: 'read', type: 'document', key, tenant: null }
}

function someDeep(random: Random): string {
  return `deep-${random.below(CHAIN)}`
}

function isOneOfEach(keys: readonly string[]): boolean {
  return new Set(keys.map(key => key.slice(1))).size === keys.length
}
