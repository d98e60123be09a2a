/**
 * Ceiling of a delegate (administration.md D5): determines which roles a change of facts gives or takes, and
 * rejects the change if one of them is not among the roles of the delegate.
 *
 * A role counts regardless of the users who hold it: the role of a changed assignment, each role that is
 * derived over a changed tuple, and each role that is derived under a guard on the instance of a changed
 * assignment. From these roles, all derivations over stored tuples are followed, guarded or not. Therefore,
 * the result includes every role on every instance that any user gains or loses. Expiration times are not
 * considered.
 *
 * It is sufficient to follow the tuples that remain after the change. If a role is gained or lost, its
 * derivation contains a last part that the change adds or removes, and everything after it is unchanged.
 */
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { CEILING_STEPS_MAX } from '#model/limits.ts'
import type { AssignmentRecord, RelationRecord, RoleRecord, TupleRecord } from '#entities/records.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'

/** A role on an instance that is still to be followed. */
interface Held {
  readonly instanceId: string
  readonly role: RoleRecord
}

/** A derivation of `role` over a relation. */
interface Derived {
  readonly relationId: string
  readonly role: RoleRecord
}

/** The derivations to roles of one type. */
interface DerivationsTo {
  /** The derived roles of each relation, by its key. */
  readonly over: ReadonlyMap<string, ReadonlySet<RoleRecord>>
  readonly guarded: readonly Derived[]
}

export class Ceiling {
  readonly #records: RecordReader
  readonly #allowedIn: ReadonlyMap<string, ReadonlySet<string>>
  readonly #stepsMax: number
  readonly #seen = new Set<string>()
  readonly #waiting: Held[] = []
  /** By the id of the type of the derived roles. */
  readonly #derivationsTo = new Map<string, DerivationsTo>()
  /** By the id of the type of the source roles, and the key of the source role. */
  readonly #derivationsFrom = new Map<string, ReadonlyMap<string, readonly Derived[]>>()
  /** Roles that are allowed in the tenant of the change that is being checked. */
  #allowed: ReadonlySet<string> = new Set()
  #steps = 0
  #rows = 0

  /**
   * `allowedIn`: roles that changes in each tenant may give and take, as `role` or `resource#role`. Other
   * tenants are not changed.
   */
  constructor(
    records: RecordReader,
    allowedIn: ReadonlyMap<string, ReadonlySet<string>>,
    stepsMax = CEILING_STEPS_MAX,
  ) {
    this.#records = records
    this.#allowedIn = allowedIn
    this.#stepsMax = stepsMax
  }

  /**
   * Checks an assignment that is created, changed or removed, with everything that follows from it. Throws
   * `FORBIDDEN` with the first role that is not allowed, and `LIMIT_EXCEEDED`.
   */
  *checkAssignment({ roleId, instanceId, tenantId }: AssignmentRecord): Resumable<void> {
    if (this.#isPause()) yield
    this.#beginIn(tenantId)
    const role = this.#records.byId('role', roleId)
    assert(role, 'the role of an assignment exists')
    if (instanceId === null) return this.#requireAllowed(role)
    assert(role.typeId !== null, 'a role on an instance is a role of its type')
    this.#meet({ instanceId, role })
    // A direct role on an instance blocks the guarded derivations there, and its removal unblocks them.
    const { guarded } = yield* this.#allTo(role.typeId)
    for (const { relationId, role: derived } of guarded) {
      if (yield* this.#hasTuple(instanceId, relationId)) this.#meet({ instanceId, role: derived })
    }
    yield* this.#follow()
  }

  /** Checks a tuple that is created, changed or removed, in the same way. */
  *checkTuple({ relationId, objectId, tenantId }: TupleRecord): Resumable<void> {
    if (this.#isPause()) yield
    this.#beginIn(tenantId)
    const relation = this.#records.byId('relation', relationId)
    assert(relation, 'the relation of a tuple exists')
    const { over } = yield* this.#allTo(relation.typeId)
    for (const role of over.get(relation.key) ?? []) this.#meet({ instanceId: objectId, role })
    yield* this.#follow()
  }

  /** Begins the check of a change in this tenant. Everything that follows from it is in the same tenant. */
  #beginIn(tenantId: string): void {
    const allowed = this.#allowedIn.get(tenantId)
    assert(allowed, 'a delegate changes facts of its tenants')
    this.#allowed = allowed
  }

  /** Whether a tuple over the relation leads to the instance. */
  *#hasTuple(instanceId: string, relationId: string): Resumable<boolean> {
    if (this.#step()) yield
    for (const { isDead } of this.#records.foundIn('tuple', [lists.tuplesToOver(instanceId, relationId)])) {
      if (!isDead) return true
      if (this.#step()) yield
    }
    return false
  }

  *#follow(): Resumable<void> {
    for (let held = this.#waiting.pop(); held !== undefined; held = this.#waiting.pop()) {
      const { instanceId, role } = held
      assert(role.typeId !== null, 'a role on an instance is a role of its type')
      const derivations = yield* this.#allFrom(role.typeId)
      for (const { relationId, role: derived } of derivations.get(role.key) ?? []) {
        const list = lists.tuplesFromOver(instanceId, relationId)
        for (const { record, isDead } of this.#records.foundIn('tuple', [list])) {
          if (!isDead) this.#meet({ instanceId: record.objectId, role: derived })
          if (this.#step()) yield
        }
      }
      if (this.#step()) yield
    }
  }

  /** Adds a role on an instance to those that the change gives or takes. */
  #meet(held: Held): void {
    const name = `${held.instanceId} ${held.role.id}`
    if (this.#seen.has(name)) return
    this.#requireAllowed(held.role)
    this.#seen.add(name)
    this.#waiting.push(held)
  }

  #requireAllowed({ typeId, key }: RoleRecord): void {
    const name = typeId === null ? key : `${this.#records.byId('type', typeId)?.key ?? ''}#${key}`
    if (this.#allowed.has(name)) return
    const message = `this change gives or takes the role ${JSON.stringify(name)}, which is not among the roles of the grant`
    throw new AuthzError('FORBIDDEN', message)
  }

  /** Counts a step. Returns whether other work should run. */
  #step(): boolean {
    this.#steps += 1
    if (this.#steps > this.#stepsMax) {
      const message = `too many roles follow from this change: at most ${this.#stepsMax} steps are followed for a grant that is limited to tenants; make fewer changes in one request, or use a grant without limits`
      throw new AuthzError('LIMIT_EXCEEDED', message, { limit: 'list' })
    }
    return this.#isPause()
  }

  #isPause(): boolean {
    this.#rows += 1
    return this.#rows % YIELD_ROWS === 0
  }

  /** Derivations to roles of a type. O(roles of the type and their derivations) once. */
  *#allTo(typeId: string): Resumable<DerivationsTo> {
    const known = this.#derivationsTo.get(typeId)
    if (known !== undefined) return known
    const over = new Map<string, Set<RoleRecord>>()
    const guarded: Derived[] = []
    for (const { record: role, isDead } of this.#records.foundIn('role', [lists.rolesOfType(typeId)])) {
      if (this.#isPause()) yield
      if (isDead || role.grantedTo.entries.length === 0) continue
      for (const entry of role.grantedTo.entries) {
        over.set(entry.relation, (over.get(entry.relation) ?? new Set()).add(role))
        if (!entry.guarded && !role.grantedTo.guarded) continue
        const relation = this.#records.get('relation', rowKeys.relation(typeId, entry.relation))
        if (relation !== null) guarded.push({ relationId: relation.id, role })
      }
    }
    const found = { over, guarded }
    this.#derivationsTo.set(typeId, found)
    return found
  }

  /** Derivations from roles of a type. O(relations from the type + derivations over them) once. */
  *#allFrom(typeId: string): Resumable<ReadonlyMap<string, readonly Derived[]>> {
    const known = this.#derivationsFrom.get(typeId)
    if (known !== undefined) return known
    const relations: RelationRecord[] = []
    for (const { record, isDead } of this.#records.foundIn('relation', [lists.relationsFromType(typeId)])) {
      if (!isDead) relations.push(record)
      if (this.#isPause()) yield
    }
    const bySource = new Map<string, Derived[]>()
    for (const relation of relations) {
      const { over } = yield* this.#allTo(relation.typeId)
      for (const role of over.get(relation.key) ?? []) {
        for (const entry of role.grantedTo.entries) {
          if (entry.relation !== relation.key) continue
          const derived = bySource.get(entry.role) ?? []
          bySource.set(entry.role, derived)
          derived.push({ relationId: relation.id, role })
        }
      }
      if (this.#isPause()) yield
    }
    this.#derivationsFrom.set(typeId, bySource)
    return bySource
  }
}
