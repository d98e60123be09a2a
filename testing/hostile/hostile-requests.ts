/**
 * Hostile requests to the decision endpoints: mutations of valid requests over a small model. Members can be
 * missing, of the wrong type, duplicate, deeply nested or huge. Bytes can contain invalid UTF-8, lone
 * surrogates, truncation or megabytes of brackets. Headers can have other content types or two lengths. The
 * generator is seeded, so tests and benchmarks get the same requests for the same number.
 */
import type { Change } from '#model/change.ts'
import { Random } from '#testing/data/random.ts'
import {
  assign,
  assignInTenant,
  heldBy,
  heldUnlessDirectBy,
  instance,
  link,
  relation,
  resourceType,
  role,
  tenant,
  tenantRole,
  user,
} from '#testing/engines/changes.ts'

/** In the order of `Oracle.currentFacts`. A role that an earlier role names is first put without details. */
export const WORLD: readonly Change[] = [
  resourceType('document', 'read', 'update'),
  resourceType('folder', 'read'),
  resourceType('team'),
  relation('document', 'parent', 'folder'),
  relation('document', 'shared', 'team'),
  ...['viewer', 'editor', 'guest'].map(key => role('document', key)),
  role('folder', 'viewer'),
  role('team', 'member'),
  role('folder', 'viewer', { can: ['read'] }),
  role('document', 'viewer', {
    can: ['read'],
    from: [
      heldUnlessDirectBy({ role: 'viewer', on: 'folder', over: 'parent' }),
      heldBy({ role: 'member', on: 'team', over: 'shared' }),
    ],
  }),
  role('document', 'editor', { can: ['update'], extends: ['viewer'] }),
  tenantRole('reader', { can: ['document:read'] }),
  tenant('default'),
  tenant('acme'),
  ...['alice', 'bob', 'carol', 'dave', '鍵😀', '__proto__'].map(user),
  ...['document:d1', 'document:d2', 'document:a:b', 'folder:f1', 'team:t1'].map(on => instance(on)),
  instance('document:a1', 'acme'),
  assign('alice', 'viewer', 'folder:f1'),
  assign('bob', 'viewer', 'folder:f1'),
  assign('bob', 'guest', 'document:d1'),
  assign('carol', 'member', 'team:t1'),
  assign('鍵😀', 'editor', 'document:a1'),
  assign('__proto__', 'editor', 'document:a:b'),
  assignInTenant('dave', 'reader', 'default'),
  assignInTenant('bob', 'reader', 'acme'),
  link('folder:f1', 'parent', 'document:d1'),
  link('folder:f1', 'parent', 'document:d2'),
  link('team:t1', 'shared', 'document:d2'),
]

const USERS = ['alice', 'bob', 'carol', 'dave', '鍵😀', '__proto__', 'stranger']
const RESOURCE_TYPES = ['document', 'document', 'document', 'folder', 'team', 'castle', 'constructor']
const KEYS = ['d1', 'd2', 'a:b', 'a1', 'f1', 't1', 'unheard-of', '__proto__']
const ACTION_NAMES = ['read', 'read', 'update', 'fly', 'toString']
const TENANTS = ['default', 'acme', 'nowhere']
const SUBJECT_TYPES = ['user', 'user', 'user', 'identity', 'robot']

export const DECISION_PATHS = [
  '/allowed',
  '/allowed/bulk',
  '/user-permissions',
  '/authorized_users',
  '/access/v1/evaluation',
  '/access/v1/evaluations',
  '/access/v1/search/subject',
  '/access/v1/search/resource',
  '/access/v1/search/action',
] as const
export type DecisionPath = (typeof DECISION_PATHS)[number]

export interface HostileRequest {
  readonly path: DecisionPath
  /** Value of the `Content-Type` header; null for none. */
  readonly contentType: string | null
  readonly isKeyValid: boolean
  /** Values of the `Content-Length` headers. Usually there is one correct value. */
  readonly lengths: readonly number[]
  readonly body: Buffer
  /** True if no mutation is a reason to reject the request. */
  readonly isGood: boolean
}

/** A JSON tree. An object can contain a name twice. Leaves are raw text, which can be invalid. */
type Node =
  | { readonly kind: 'object'; readonly members: [name: string, value: Node][] }
  | { readonly kind: 'array'; readonly items: Node[] }
  | { readonly kind: 'leaf'; readonly text: string }

export class HostileRequests {
  readonly #dice: Random

  constructor(seed: number) {
    this.#dice = new Random(seed)
  }

  next(): HostileRequest {
    const dice = this.#dice
    const path = dice.pick(DECISION_PATHS)
    const tree = treeOf(this.#goodBody(path))
    let isGood = true
    for (let bends = dice.pick([0, 0, 1, 1, 1, 2, 3, 5]); bends > 0; bends -= 1) {
      if (!this.#bend(tree)) isGood = false
    }
    let body = Buffer.from(textOf(tree))
    if (dice.chance(0.15)) {
      body = this.#damage(body)
      isGood = false
    }
    let contentType: string | null = dice.chance(0.9) ? 'application/json' : 'application/json; charset=utf-8'
    if (dice.chance(0.04)) {
      contentType = dice.pick([
        null,
        'text/plain',
        'application/jsonp',
        'application/x-www-form-urlencoded',
        'a',
        ';',
      ])
      if (path.startsWith('/access')) isGood = false
    }
    let lengths = [body.length]
    if (dice.chance(0.01)) {
      lengths = dice.pick([
        [body.length, body.length],
        [body.length, body.length + 1],
        [0, body.length],
      ])
      isGood = false
    }
    const isKeyValid = !dice.chance(0.01)
    return { path, contentType, isKeyValid, lengths, body, isGood: isGood && isKeyValid }
  }

  #goodBody(path: DecisionPath): unknown {
    switch (path) {
      case '/allowed':
        return this.#question()
      case '/allowed/bulk':
        return Array.from({ length: this.#dice.below(6) }, () => this.#question())
      case '/user-permissions':
        return {
          user: { key: this.#dice.pick(USERS) },
          ...this.#maybe({ tenants: this.#some([...TENANTS, '__tenant:acme']) }),
          ...this.#maybe({ resources: this.#some([...KEYS, 'document:d1', '__tenant:default']) }),
          ...this.#maybe({ resource_types: this.#some(['document', 'folder', '__tenant', 'castle']) }),
          ...this.#maybe({ context: this.#bag() }),
        }
      case '/authorized_users': {
        const { user: _, ...question } = this.#question()
        return question
      }
      case '/access/v1/evaluation':
        return this.#evaluation()
      case '/access/v1/evaluations': {
        const semantic = this.#dice.pick(['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'])
        return {
          ...this.#evaluation(),
          ...this.#maybe({ options: { evaluations_semantic: semantic } }),
          ...this.#maybe({ evaluations: Array.from({ length: this.#dice.below(7) }, () => this.#item()) }),
        }
      }
      default:
        return { ...this.#evaluation(true), ...this.#maybe({ page: this.#page() }) }
    }
  }

  #question() {
    const dice = this.#dice
    return {
      user: { key: dice.pick(USERS), ...this.#maybe({ attributes: this.#bag(), email: null }) },
      action: dice.pick(ACTION_NAMES),
      resource: {
        type: dice.pick(RESOURCE_TYPES),
        ...this.#maybe({ key: dice.pick(KEYS) }, 0.85),
        ...this.#maybe({ tenant: dice.pick(TENANTS) }),
        ...this.#maybe({ attributes: this.#bag() }),
      },
      ...this.#maybe({ context: this.#bag(), sdk: 'node' }),
    }
  }

  #evaluation(needsId = false) {
    const dice = this.#dice
    const properties = { ...this.#bag(), ...this.#maybe({ tenant: dice.pick<unknown>([...TENANTS, 7]) }) }
    return {
      subject: {
        type: dice.pick(SUBJECT_TYPES),
        id: dice.pick(USERS),
        ...this.#maybe({ properties: this.#bag() }),
      },
      action: { name: dice.pick(ACTION_NAMES), ...this.#maybe({ properties: this.#bag() }) },
      resource: {
        type: dice.pick(RESOURCE_TYPES),
        ...this.#maybe({ id: dice.pick(KEYS) }, needsId ? 1 : 0.9),
        ...this.#maybe({ properties }),
      },
      ...this.#maybe({ context: this.#bag() }),
    }
  }

  /** Returns an item of a batch. Its invalid members must not be a reason to reject the whole batch. */
  #item(): unknown {
    const dice = this.#dice
    if (dice.chance(0.1)) return JSON.parse(dice.pick(['null', '7', '"item"', '[]', '[{}]', 'true']))
    const members = Object.entries(this.#evaluation()).filter(() => dice.chance(0.4))
    return Object.fromEntries(
      members.map(([name, value]) => {
        if (!dice.chance(0.15)) return [name, value]
        return [
          name,
          dice.pick<unknown>([null, 7, 'text', [], {}, { type: '' }, { id: 'd1' }, { type: 1, id: 'x' }]),
        ]
      }),
    )
  }

  /** Returns valid page parameters: without a token, and with the same values under both names. */
  #page() {
    const limit = this.#dice.pick([0, 1, 2, 3, 1_000, 1e6])
    return this.#dice.pick<object>([
      { limit },
      { size: limit },
      { limit, size: limit },
      { limit, token: null },
      {},
    ])
  }

  #bag(): Record<string, unknown> {
    return this.#dice.pick<Record<string, unknown>>([
      {},
      { a: null },
      { nested: { list: [1, 'two', { three: [] }] } },
      { '': -1.5e300, constructor: 'x' },
    ])
  }

  #some(items: readonly string[]): string[] | null {
    if (this.#dice.chance(0.2)) return null
    return items.filter(() => this.#dice.chance(0.4))
  }

  #maybe<Members extends object>(members: Members, share = 0.4): Partial<Members> {
    return this.#dice.chance(share) ? members : {}
  }

  /** Mutates one position of the tree. Returns whether the request is still valid. */
  #bend(tree: Node): boolean {
    const dice = this.#dice
    const place = dice.pick(roleIndexesIn(tree))
    if (place.kind === 'object') {
      const { members } = place
      const at = dice.below(members.length)
      const member = members[at]
      switch (dice.below(member ? 6 : 1)) {
        case 0:
          // Unknown members are ignored, but some of these names are valid members of some requests.
          members.splice(dice.below(members.length + 1), 0, [this.#name(), this.#oddValue()])
          return false
        case 1:
          members.splice(at, 1)
          return false
        case 2:
          member![1] = this.#oddValue()
          return false
        case 3:
          // Adds a duplicate name. The last member with a name counts.
          members.push([member![0], dice.chance(0.5) ? member![1] : this.#oddValue()])
          return false
        case 4:
          members.unshift([`unknown-${dice.below(100)}`, this.#oddValue(true)])
          return true
        default:
          members.reverse()
          return true
      }
    }
    const { items } = place
    switch (dice.below(3)) {
      case 0:
        items.push(this.#oddValue())
        return false
      case 1:
        items.splice(dice.below(items.length + 1), 1)
        return true
      default: {
        const item = items[0]
        if (item) items.push(...Array.from({ length: dice.pick([1, 3, 70, 150]) }, () => item))
        return true
      }
    }
  }

  #name(): string {
    return this.#dice.pick([
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      '',
      'key',
      'id',
      'type',
      'name',
      'page',
      'token',

      'next_token',
      'limit',
      'size',
      'evaluations',
      'options',
      'properties',
      'attributes',
      'context',
      'tenant',
      'then',
      'x'.repeat(5_000),
    ])
  }

  /** Returns a random JSON value, mostly of an unexpected kind. With `isPlain`, only a harmless value. */
  #oddValue(isPlain = false): Node {
    const dice = this.#dice
    const huge = dice.pick([1_000, 20_000, 200_000])
    const depth = dice.pick([10, 500, 1_500, 3_000, 60_000])
    const leaf = (text: string): Node => ({ kind: 'leaf', text })
    const plain = [
      'null',
      'true',
      'false',
      '0',
      '-1',
      '1.5',
      '1e300',
      '1e999',
      '-0',
      '""',
      '"x"',
      '[]',
      '{}',
      '[[]]',
      '[null]',

      '{"a":{}}',
      '{"type":1}',
      '{"__proto__":{"type":"user"}}',
      '"\\u0000"',
      '"__proto__"',
      '9007199254740993',
    ]
    if (isPlain) return leaf(dice.pick(plain))
    if (dice.chance(0.03)) return leaf(`"${'y'.repeat(huge)}"`)
    if (dice.chance(0.03)) return leaf('['.repeat(depth) + ']'.repeat(depth))
    if (dice.chance(0.03)) return leaf('{"a":'.repeat(depth) + '1' + '}'.repeat(depth))
    if (dice.chance(0.03)) return leaf(`[${'{},'.repeat(dice.pick([10, 1_000, 10_001]))}{}]`)
    if (dice.chance(0.05))
      return leaf(dice.pick(['"\\ud800"', '"\\udc00x"', '"\\ud800\\ud800"', '"a\\udbff"']))
    if (dice.chance(0.05))
      return leaf(dice.pick(['NaN', 'undefined', '01', '+1', "'x'", '"\n"', '"\\x"', '[1,]', '{,}']))
    return leaf(
      dice.pick([...plain, '"user"', '"document"', '"d1"', '"alice"', '"default"', '2', '"execute_all"']),
    )
  }

  /** Mutates bytes of the body. */
  #damage(bytes: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
    const dice = this.#dice
    const at = dice.below(bytes.length + 1)
    const insert = (piece: Buffer) => Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)])
    const bad = [
      'ff',
      'c080',
      'c0af',
      'eda080',
      'f8888080',
      '80',
      'e282',
      'f4908080',
      '00',
      'efbbbf',
      '5c',
      '22',
    ]
    switch (dice.below(dice.chance(0.01) ? 9 : 8)) {
      case 0:
        return bytes.subarray(0, at)
      case 1:
        return insert(Buffer.from(dice.pick(bad), 'hex'))
      case 2: {
        const flipped = Buffer.from(bytes)
        if (at < flipped.length) flipped[at]! ^= 1 << dice.below(8)
        return flipped
      }
      case 3:
        return Buffer.concat([Buffer.from('\ufeff'), bytes])
      case 4:
        return Buffer.concat([
          bytes,
          Buffer.from(dice.pick(['}', ']', ',', 'null', '\u0000', ' \n\t', '{}', '//'])),
        ])
      case 5:
        return Buffer.alloc(0)
      case 6:
        return Buffer.concat([bytes, Buffer.alloc(dice.below(50_000), ' ')])
      case 7:
        return insert(Buffer.from(dice.pick(['\ud83d', '\\ud83d', '\\u', '\u2028', '\u007f', '[', '{', '"'])))
      default: {
        const size = dice.pick([1, 2, 4, 8, 17]) * 1_024 * 1_024
        return Buffer.alloc(size, dice.pick(['[', '{', '{"a":', '[[],', '"', '\\', ']', '[{"key":']))
      }
    }
  }
}

function treeOf(value: unknown): Node {
  if (Array.isArray(value)) return { kind: 'array', items: value.map(treeOf) }
  if (typeof value !== 'object' || value === null) return { kind: 'leaf', text: JSON.stringify(value) }
  return { kind: 'object', members: Object.entries(value).map(([name, member]) => [name, treeOf(member)]) }
}

function textOf(node: Node): string {
  if (node.kind === 'leaf') return node.text
  if (node.kind === 'array') return `[${node.items.map(textOf).join()}]`
  return `{${node.members.map(([name, value]) => `${JSON.stringify(name)}:${textOf(value)}`).join()}}`
}

/** Returns all objects and arrays of the tree. */
function roleIndexesIn(tree: Node): Exclude<Node, { kind: 'leaf' }>[] {
  if (tree.kind === 'leaf') return []
  const children = tree.kind === 'array' ? tree.items : tree.members.map(([, value]) => value)
  return [tree, ...children.flatMap(roleIndexesIn)]
}
