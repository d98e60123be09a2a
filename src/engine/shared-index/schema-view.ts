/**
 * A thread's own copy of the compiled schema, laid out for the hot path: names in Maps, transitions in dense tables
 * indexed by edge class and state. Immutable; a new schema is a new view.
 */
import type { ActionImage, SchemaImage, TypeImage } from './compiled-schema.ts'
import * as L from './layout.ts'

export interface TypeView {
  readonly key: string
  readonly id: number
  readonly actions: ReadonlyMap<string, ActionView>
  /** Per bank, the places taken by roles that exist: stored masks may still carry bits of removed ones. */
  readonly liveMasks: Int32Array
  /** Role keys by place. */
  readonly roleKeys: readonly (string | undefined)[]
  /** Edge classes of tuples whose objects are of this type. */
  readonly edgeClasses: readonly number[]
}

export interface ActionView {
  readonly key: string
  /** Target where the search for a resource role starts; 0 if no role of the type allows. */
  readonly start: number
  /** [bank, mask]… of tenant roles that allow, of those held under the tenant's own line, and of those held in annexes. */
  readonly tenantMasks: Int32Array
  readonly annexMasks: Int32Array
  readonly rolePlaces: ReadonlySet<number>
  readonly tenantPlaces: ReadonlySet<number>
}

export class SchemaView {
  readonly types = new Map<string, TypeView>()
  readonly typesById: (TypeView | undefined)[] = []
  /** Tenant roles, as if tenants were a type of their own. */
  readonly tenant: TypeView
  /** Row length of the transition tables: the largest state id + 1. */
  readonly width: number
  readonly open: Int32Array
  readonly full: Int32Array
  readonly guarded: Int32Array
  readonly lists: Int32Array
  readonly stateType: Int32Array
  readonly stateOrdinal: Int32Array
  readonly stateEpoch: Int32Array
  /** By type: the state whose closure heads stand in place on its containers, by ordinal, 0 where there is none. */
  readonly statesInPlace: Int32Array
  /** 1 where some transition is guarded. */
  readonly stateHasGuard: Uint8Array
  /** The masks of state s are the pairs [bank, mask] in `masks` from `masksFrom[s]` to `masksFrom[s + 1]`. */
  readonly masksFrom: Int32Array
  readonly masks: Int32Array
  readonly stateIds: readonly number[]
  /** Derivations over class c: triples [source place, derived place, guarded] from `derivationsFrom[c]`. */
  readonly derivationsFrom: Int32Array
  readonly derivations: Int32Array
  readonly relations: SchemaImage['relations']

  constructor(image: SchemaImage) {
    this.relations = image.relations
    this.tenant = typeView({ key: '', id: L.TENANT_TYPE, banks: image.tenantBanks, actions: [] }, image)
    this.typesById[L.TENANT_TYPE] = this.tenant
    for (const typeImage of image.types) {
      const type = typeView(typeImage, image)
      this.types.set(type.key, type)
      this.typesById[type.id] = type
    }

    this.stateIds = image.states.map(state => state.id)
    this.width = Math.max(0, ...this.stateIds) + 1
    this.stateType = new Int32Array(this.width)
    this.stateOrdinal = new Int32Array(this.width)
    this.stateEpoch = new Int32Array(this.width)
    this.stateHasGuard = new Uint8Array(this.width)
    this.statesInPlace = new Int32Array(this.typesById.length * L.C_HEADS_IN_PLACE)
    this.masksFrom = new Int32Array(this.width + 1)
    const byId = new Map(image.states.map(state => [state.id, state]))
    const masks: number[] = []
    for (let id = 0; id < this.width; id++) {
      const state = byId.get(id)
      this.masksFrom[id] = masks.length
      if (!state) continue
      this.stateType[id] = state.typeId
      this.stateOrdinal[id] = state.ordinal
      this.stateEpoch[id] = state.epoch
      if (state.ordinal < L.C_HEADS_IN_PLACE) {
        this.statesInPlace[state.typeId * L.C_HEADS_IN_PLACE + state.ordinal] = id
      }
      masks.push(...state.masks)
    }
    this.masksFrom[this.width] = masks.length
    this.masks = Int32Array.from(masks)

    const classes = 1 + Math.max(0, ...image.relations.map(relation => relation.edgeClass))
    this.open = new Int32Array(classes * this.width)
    this.full = new Int32Array(classes * this.width)
    this.guarded = new Int32Array(classes * this.width)
    for (const [edgeClass, state, open, full, guarded] of image.transitions) {
      this.open[edgeClass * this.width + state] = open
      this.full[edgeClass * this.width + state] = full
      this.guarded[edgeClass * this.width + state] = guarded
      if (guarded !== 0) this.stateHasGuard[state] = 1
    }
    this.lists = Int32Array.from(image.lists)

    const derivations = image.derivations.toSorted((a, b) => a[0] - b[0])
    this.derivations = Int32Array.from(derivations.flatMap(entry => entry.slice(1)))
    this.derivationsFrom = new Int32Array(classes + 1)
    for (const [edgeClass] of derivations) this.derivationsFrom[edgeClass + 1]! += 3
    for (let c = 0; c < classes; c++) this.derivationsFrom[c + 1]! += this.derivationsFrom[c]!
  }
}

function typeView(image: TypeImage, schema: SchemaImage): TypeView {
  const liveMasks = new Int32Array(image.banks)
  const roleKeys: (string | undefined)[] = []
  for (const [typeId, place, key] of schema.roles) {
    if (typeId !== image.id) continue
    liveMasks[place >>> 5]! |= 1 << (place & 31)
    roleKeys[place] = key
  }
  return {
    key: image.key,
    id: image.id,
    actions: new Map(image.actions.map(action => [action.key, actionView(action)])),
    liveMasks,
    roleKeys,
    edgeClasses: schema.relations.filter(r => r.objectType === image.id).map(r => r.edgeClass),
  }
}

function actionView({ key, start, rolePlaces, tenantPlaces }: ActionImage): ActionView {
  const masks = new Map<number, number>()
  for (const place of tenantPlaces) {
    masks.set(place >>> 5, (masks.get(place >>> 5) ?? 0) | (1 << (place & 31)))
  }
  return {
    key,
    start,
    tenantMasks: Int32Array.from([...masks].filter(([bank]) => bank < L.BANKS_MAX).flat()),
    annexMasks: Int32Array.from([...masks].filter(([bank]) => bank >= L.BANKS_MAX).flat()),
    rolePlaces: new Set(rolePlaces),
    tenantPlaces: new Set(tenantPlaces),
  }
}
