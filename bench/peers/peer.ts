/** Interface to other products that can make the decisions of the drive. */
import type { Change } from '../../src/model/change.ts'
import type { Query } from '../../src/model/decision.ts'
import type { JsonClient } from './peer-server.ts'

export interface Peer {
  readonly name: string
  /** Features of the model that the product does not support, for the table. */
  readonly cannot: string
  /** True if the product is a server that is queried over HTTP. False if it is a library in this process. */
  readonly isOverHttp: boolean
  /**
   * Loads the dataset. If this is done in several requests, it stops with an error when the signal aborts.
   */
  load(facts: Facts, signal: AbortSignal): Promise<void>
  check(query: Query): boolean | Promise<boolean>
  /**
   * Sends up to `BATCH` checks in one request. Absent if the product has no request for checks of different
   * users.
   */
  checkBatch?(queries: readonly Query[]): Promise<boolean[]>
  close(): Promise<void>
}

/** A server that receives writes through the client of the bench. */
export interface WritablePeer extends Peer {
  /** Default limit of facts in one write request. */
  readonly mostAtOnce: number
  /** Bearer token of requests. */
  readonly key: string
  readonly client: JsonClient
  start(): Promise<void>
  writeOf(relationships: readonly Relationship[]): PeerRequest
  checkBatch(queries: readonly Query[]): Promise<boolean[]>
}

export interface PeerRequest {
  readonly path: string
  readonly body: object
}

/** Number of checks per batch, which is the default limit of OpenFGA. */
export const BATCH = 50

/** Facts of the drive. Names have the form `type:key`, except that a user is named by its key alone. */
export interface Facts {
  /** For each user and group, the groups that contain it. */
  readonly memberOf: ReadonlyMap<string, readonly string[]>
  /** For each document and folder, the folders that contain it. */
  readonly parentOf: ReadonlyMap<string, readonly string[]>
  /** Roles of users and groups on instances. */
  readonly grants: readonly Grant[]
  readonly count: number
}

export interface Grant {
  readonly who: string
  readonly role: 'viewer' | 'editor' | 'owner'
  readonly on: string
}

export const ACTIONS = {
  viewer: ['read'],
  editor: ['read', 'write'],
  owner: ['read', 'write', 'delete'],
} as const

export function factsOf(changes: Iterable<Change>): Facts {
  const [memberOf, parentOf] = [new Map<string, string[]>(), new Map<string, string[]>()]
  const grants = new Map<string, Grant>()
  let count = 0
  const grant = (one: Grant) => grants.set(`${one.who} ${one.role} ${one.on}`, one)
  const add = (map: Map<string, string[]>, from: string, to: string) => {
    const known = map.get(from)
    if (!known) map.set(from, [to])
    else if (!known.includes(to)) known.push(to)
  }
  for (const change of changes) {
    count++
    if (change.kind === 'assignment-put' && 'instance' in change.scope) {
      const { type, key } = change.scope.instance
      if (type === 'group') add(memberOf, change.user, `group:${key}`)
      else grant({ who: change.user, role: change.role as Grant['role'], on: `${type}:${key}` })
    } else if (change.kind === 'tuple-put') {
      const [subject, object] = [change.subject, change.object].map(({ type, key }) => `${type}:${key}`)
      if (change.relation === 'parent') add(parentOf, object!, subject!)
      else if (change.relation === 'group') add(memberOf, subject!, object!)
      else {
        const role = change.relation.slice('group_group_'.length) as Grant['role']
        grant({ who: subject!, role, on: object! })
      }
    }
  }
  return { memberOf, parentOf, grants: [...grants.values()], count }
}

/**
 * A fact in the form that servers based on Zanzibar use. All names have the form `type:key`, including those
 * of users.
 */
export interface Relationship {
  readonly subject: string
  /** True if the subject is the members of a group and not the group itself. */
  readonly isOfMembers: boolean
  readonly relation: string
  readonly object: string
}

/** Converts the facts to relationships. Yields lists of at most `size` relationships. */
export function* relationshipsOf(facts: Facts, size: number): Iterable<Relationship[]> {
  let batch: Relationship[] = []
  for (const relationship of eachRelationship(facts)) {
    if (batch.push(relationship) < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

function* eachRelationship({ memberOf, parentOf, grants }: Facts): Iterable<Relationship> {
  const held = (who: string, relation: string, object: string): Relationship => {
    const isOfMembers = who.startsWith('group:')
    return { subject: isOfMembers ? who : `user:${who}`, isOfMembers, relation, object }
  }
  for (const [object, parents] of parentOf) {
    for (const subject of parents) yield { subject, isOfMembers: false, relation: 'parent', object }
  }
  for (const [who, groups] of memberOf) for (const group of groups) yield held(who, 'member', group)
  for (const { who, role, on } of grants) yield held(who, role, on)
}

/** A name and all its ancestors. */
export function closureOf(of: ReadonlyMap<string, readonly string[]>, name: string): string[] {
  const found = new Set([name])
  for (const one of found) for (const above of of.get(one) ?? []) found.add(above)
  return [...found]
}
