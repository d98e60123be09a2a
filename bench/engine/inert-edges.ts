/**
 * Adds tens of thousands of inert edges, which, according to the specification, do not change any other
 * decision. They are tuples from and to instances without roles, roles of users that are never checked, and
 * roles on instances that grant nothing else.
 *
 * A node gets enough inert edges to have exactly 65,535 or 65,536 stored edges, including its real edges. The
 * two numbers alternate.
 */
import { Key } from '#engine/shared-index/memory/key.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { entryCount } from '#engine/shared-index/memory/slab.ts'
import { find } from '#engine/shared-index/memory/string-table.ts'
import { currentView } from '#engine/shared-index/schema/current-schema.ts'
import type { Change, InstanceKey } from '#model/change.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'
import type { SharedEngine } from '#testing/engines/shared-engine.ts'

const EDGES = [65_535, 65_536] as const

type ChangeOf<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>

/** A node whose edges are counted, and functions that create edges at this node. */
interface Padded {
  /** Returns the change that creates the entity for the nth edge. */
  readonly ground: (n: number) => Change
  readonly edge: (n: number) => Change
  /** Returns the number of edges that are stored at the node. */
  readonly count: (engine: SharedEngine) => number
}

export interface PaddingKind {
  readonly name: string
  /** Chooses a node. Returns null if the current facts contain no node that can be padded. */
  readonly chooseNode: (standing: readonly Change[]) => Padded | null
}

/** Pads the nodes of an engine, one at a time. */
export class Padding {
  readonly #engine: SharedEngine
  readonly #chooseNode: PaddingKind['chooseNode']
  #turn = 0
  #edges: Change[] = []

  constructor(engine: SharedEngine, { chooseNode }: PaddingKind) {
    this.#engine = engine
    this.#chooseNode = chooseNode
  }

  /** Pads a node. Returns the resulting number of edges of the node, or 0 if no node was padded. */
  pad(standing: readonly Change[]): number {
    const engine = this.#engine
    engine.apply(this.#edges.map(taken))
    this.#edges = []
    const padded = this.#chooseNode(standing)
    if (padded === null) return 0
    while (engine.writer.collect(1_000));
    const wanted = EDGES[this.#turn++ % EDGES.length]!
    const all = Array.from({ length: wanted }, (_, n) => n)
    engine.apply(all.map(padded.ground))
    this.#edges = all.map(padded.edge)
    engine.apply(this.#edges)
    const excess = padded.count(engine) - wanted
    // Removes the edges that were added last. The real edges, which were added before, stay among the
    // padding.
    engine.apply(this.#edges.splice(wanted - excess).map(taken))
    if (padded.count(engine) !== wanted) throw new Error(`padding ended at ${padded.count(engine)} edges`)
    return wanted
  }
}

export const PADDINGS: readonly PaddingKind[] = [
  {
    name: 'edges into an instance',
    chooseNode: standing => {
      const at = linked(standing)
      if (!at) return null
      const { relation, object, subject } = at
      const other = (n: number): InstanceKey => ({ type: subject.type, key: `padding-${n}` })
      return {
        ground: n => atHome(other(n)),
        edge: n => ({ kind: 'tuple-put', subject: other(n), relation, object }),
        count: engine => storedAt(engine, object, L.I_IN),
      }
    },
  },
  {
    name: 'edges out of an instance',
    chooseNode: standing => {
      const at = linked(standing)
      if (!at) return null
      const { relation, object, subject } = at
      const other = (n: number): InstanceKey => ({ type: object.type, key: `padding-${n}` })
      return {
        ground: n => atHome(other(n)),
        edge: n => ({ kind: 'tuple-put', subject, relation, object: other(n) }),
        count: engine => storedOut(engine, subject),
      }
    },
  },
  {
    name: 'users with roles on an instance',
    chooseNode: standing => {
      const at = held(standing)
      if (!at) return null
      return {
        ground: n => ({ kind: 'user-put', user: `padding-${n}`, attributes: null }),
        edge: n => ({ ...at, user: `padding-${n}` }),
        count: engine => storedAt(engine, at.scope.instance, L.I_ASSIGNEES),
      }
    },
  },
  {
    name: 'roles of a user',
    chooseNode: standing => {
      const at = held(standing)
      if (!at) return null
      const { type } = at.scope.instance
      return {
        ground: n => atHome({ type, key: `padding-${n}` }),
        edge: n => ({ ...at, scope: { instance: { type, key: `padding-${n}` } } }),
        count: engine => storedOf(engine, at.user),
      }
    },
  },
]

/** Returns a current tuple whose instances are in the default tenant. */
function linked(standing: readonly Change[]): ChangeOf<'tuple-put'> | undefined {
  const home = new Set(
    standing
      .filter(put => put.kind === 'instance-put' && put.tenant === DEFAULT_TENANT)
      .map(put => JSON.stringify((put as ChangeOf<'instance-put'>).instance)),
  )
  return standing.find(
    (put): put is ChangeOf<'tuple-put'> => put.kind === 'tuple-put' && home.has(JSON.stringify(put.object)),
  )
}

function held(
  standing: readonly Change[],
): (ChangeOf<'assignment-put'> & { scope: { instance: InstanceKey } }) | undefined {
  if (!standing.some(put => put.kind === 'tenant-put' && put.tenant === DEFAULT_TENANT)) return undefined
  for (const change of standing) {
    if (change.kind === 'assignment-put' && 'instance' in change.scope) {
      return { ...change, scope: change.scope }
    }
  }
  return undefined
}

function atHome(instance: InstanceKey): Change {
  return { kind: 'instance-put', instance, tenant: DEFAULT_TENANT, attributes: null }
}

function taken(edge: Change): Change {
  if (edge.kind === 'tuple-put') return { ...edge, kind: 'tuple-removed' }
  if (edge.kind === 'assignment-put') return { ...edge, kind: 'assignment-removed' }
  throw new Error(`${edge.kind} is no edge`)
}

/** Returns the number of edges that one slab of an instance contains. */
function storedAt(engine: SharedEngine, { type, key }: InstanceKey, slab: number): number {
  const { graph, line } = recordOf(engine, type, key)
  return entryCount(graph[(line << L.LINE_WORDS_LOG2) + slab + 1]!)
}

function storedOut(engine: SharedEngine, { type, key }: InstanceKey): number {
  const { graph, line } = recordOf(engine, type, key)
  const container = graph[(line << L.LINE_WORDS_LOG2) + L.I_CONTAINER]! << L.LINE_WORDS_LOG2
  const lists = [L.C_OUT_CONTAINERS, L.C_OUT_OTHERS].map(list => graph[container + list + 1]!)
  return lists.reduce((sum, meta) => sum + (meta === 0 ? 0 : entryCount(meta)), 0)
}

function storedOf(engine: SharedEngine, user: string): number {
  const { graph, line } = recordOf(engine, null, user)
  return entryCount(graph[(line << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS + 1]!)
}

/** A null `type` means a user. */
function recordOf(
  { writer }: SharedEngine,
  type: string | null,
  name: string,
): { graph: Int32Array; line: number } {
  const regions = Regions.attach(writer.handle)
  const number = type === null ? L.USER_TYPE : currentView(regions).types.get(type)?.id
  const key = new Key(regions.header[L.H_HASH_START]!, regions.header[L.H_HASH_MULTIPLIER]!)
  const line = number !== undefined && key.read(name, number) ? find(regions, key, number) : 0
  if (line === 0) throw new Error(`${name} is not stored`)
  return { graph: regions.graph, line }
}
