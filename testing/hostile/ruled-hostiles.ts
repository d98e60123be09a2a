/** Attacks with rules of maximum cost. They have a separate environment, because rules need other code. */
import { SENT_ATTRIBUTES_BYTES_MAX } from '#model/limits.ts'
import type { HostileClient } from './caller.ts'
import { type Attack, asked, bodyOnce, linesOf, type Size } from './hostiles.ts'

/** Number of instances that one check looks up. */
const LOOKED_UP = 1_000
/** Length of a text with which the attributes of a request stay below their size limit. */
const TEXT_BYTES = SENT_ATTRIBUTES_BYTES_MAX - 1_000
const SETS = '/v2/schema/default/ruled/condition_sets'

/** The maximum number of rules without a match; globs near the cost limit; a lookup of 1,000 instances. */
function* contentOf(size: Size): Iterable<object> {
  yield { kind: 'environment', format: 1 }
  const actions = { many: {}, slow: {}, looked: {}, read: {} }
  yield { kind: 'resource', key: 'document', name: 'Document', actions }
  const set = (key: string, conditions: object): object => {
    return { kind: 'condition_set', key, name: key, type: 'userset', conditions }
  }
  const rule = (user_set: string, action: string): object => {
    return { kind: 'rule', user_set, permission: `document:${action}`, resource_set: '__autogen_document' }
  }
  const many = Array.from({ length: size.rules }, (_, n) => `many-${n}`)
  const slow = Array.from({ length: 4 }, (_, n) => `slow-${n}`)
  for (const [n, key] of many.entries()) yield set(key, { 'user.level': { 'greater-than': n } })
  for (const [n, key] of slow.entries()) {
    yield set(key, { 'user.text': { match: `${'*ab'.repeat(6)}*${n}` } })
  }
  yield set('looked', {
    'user.documents': {
      any_match: { fk_resource_type: 'document', match: { open: { equals: true } } },
    },
  })
  for (const key of many) yield rule(key, 'many')
  for (const key of slow) yield rule(key, 'slow')
  yield rule('looked', 'looked')
  yield { kind: 'tenant', key: 'default', name: 'Default' }
  const attributes = { long: 'x'.repeat(size.attributeBytes) }
  for (let n = 0; n < Math.min(LOOKED_UP, size.instances); n += 1) {
    yield { kind: 'instance', resource: 'document', key: `d${n}`, tenant: 'default', attributes }
  }
}

export function ruledTextOf(size: Size): string {
  return linesOf(contentOf(size))
}

const check = (action: string, attributes: object) => ({
  user: { key: 'mallory', attributes },
  action,
  resource: { type: 'document', key: 'd0', tenant: 'default' },
})

const MANY = { level: -1 }
const SLOW = { text: 'ab'.repeat(TEXT_BYTES / 2) }
const LOOKED = { documents: Array.from({ length: LOOKED_UP }, (_, n) => `d${n}`) }

const single =
  (path: string, action: string, attributes: object): Attack =>
  caller =>
    asked(
      'POST',
      path,
      bodyOnce(action, () => check(action, attributes)),
    )(caller)

/** A bulk with the maximum number of elements, or with as many as fit into the body. */
const bulk =
  (action: string, attributes: object): Attack =>
  (caller, size) => {
    const body = bodyOnce(`bulk ${action}`, () => {
      const one = check(action, attributes)
      const room = Math.floor(size.bodyBytes / JSON.stringify(one).length)
      return Array.from({ length: Math.max(1, Math.min(size.elements, room)) }, () => one)
    })
    return asked('POST', '/allowed/bulk', body)(caller)
  }

export const RULED_HOSTILES: Readonly<Record<string, Attack>> = {
  'rules at their ceiling': single('/allowed', 'many', MANY),
  'slow conditions': single('/allowed', 'slow', SLOW),
  'conditions that look instances up': single('/allowed', 'looked', LOOKED),
  'bulks by rules at their ceiling': bulk('many', MANY),
  'bulks by slow conditions': bulk('slow', SLOW),
  'batches by slow conditions': (caller, size) => {
    const body = bodyOnce('batch slow', () => {
      const evaluations = Array.from(
        { length: Math.max(1, Math.floor(size.bodyBytes / TEXT_BYTES / 2)) },
        () => ({
          subject: { type: 'user', id: 'mallory', properties: SLOW },
        }),
      )
      return { action: { name: 'slow' }, resource: { type: 'document', id: 'd0' }, evaluations }
    })
    return asked('POST', '/access/v1/evaluations', body)(caller)
  },
  'conditions tried': (caller: HostileClient) => {
    const conditions = {
      'user.documents': { any_match: { fk_resource_type: 'document', match: { open: { equals: true } } } },
    }
    const body = bodyOnce('tried', () => ({
      conditions,
      samples: Array.from({ length: 10 }, () => ({ attributes: LOOKED })),
    }))
    return asked('POST', `${SETS}/try`, body)(caller)
  },
  'searches by conditions': asked('POST', '/access/v1/search/resource', {
    subject: { type: 'user', id: 'mallory', properties: SLOW },
    action: { name: 'slow' },
    resource: { type: 'document' },
  }),
  'rules explained': single('/allowed/explain?full=true', 'many', MANY),
  'slow conditions explained': single('/allowed/explain?full=true', 'slow', SLOW),
  'sets changed': (caller: HostileClient, _, turn) =>
    asked('PATCH', `${SETS}/many-0`, { conditions: { 'user.level': { 'greater-than': turn } } })(caller),
}
