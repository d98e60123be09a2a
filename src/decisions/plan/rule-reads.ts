/** Reads of the rules of a plan: parts of the tenant, attributes of stored instances, request attributes. */
import type { Condition } from '#conditions/condition.ts'
import { hasLookup, pathsOf } from '#conditions/mentions.ts'
import { isComputed, readsStored, type RowSources } from '#conditions/plan/plan-values.ts'
import type { Path } from '#conditions/values/paths.ts'
import type { PlannedSet, PlannedSides } from '#engine/plan-reads.ts'

/** Reads of one condition. */
interface ConditionReads {
  readonly paths: readonly Path[]
  readonly hasLookup: boolean
}

const known = new WeakMap<Condition, ConditionReads>()

function readsOf(condition: Condition): ConditionReads {
  let reads = known.get(condition)
  if (reads === undefined) {
    known.set(condition, (reads = { paths: pathsOf(condition), hasLookup: hasLookup(condition) }))
  }
  return reads
}

export class RuleReads {
  /** Whether the result depends on the roles of the user in the tenant, or on other parts of the tenant. */
  readsRoles = false
  readsTenant = false
  /** Whether the roles or tenants of the user are read, in any way. */
  readsAnyRoles = false
  /** Whether an attribute of the resource is read that the service does not compute. */
  readsResource = false
  /** Sets that read attributes of stored instances. */
  readonly scanned = new Set<PlannedSet>()
  /** Names of these attributes. A name can contain dots. */
  readonly names = new Set<string>()
  readonly #row: Pick<RowSources, 'sent' | 'columns'>
  readonly #sets = new Set<PlannedSet>()

  constructor(row: Pick<RowSources, 'sent' | 'columns'>) {
    this.#row = row
  }

  add({ user, resource }: PlannedSides): void {
    for (const side of [user, resource]) {
      if (side.kind === 'role') this.readsRoles = this.readsAnyRoles = true
      if (side.kind === 'set') this.#addSet(side.set)
    }
  }

  #addSet(set: PlannedSet): void {
    if (this.#sets.has(set)) return
    this.#sets.add(set)
    for (const { condition } of set.conditions ?? []) {
      const reads = readsOf(condition)
      if (reads.hasLookup) this.readsTenant = true
      for (const path of reads.paths) this.#addPath(path, set)
    }
  }

  #addPath(path: Path, set: PlannedSet): void {
    const [name] = path.names
    switch (path.root) {
      case 'user':
        // A path below `roles` or `tenants` is missing, or an attribute whose name contains dots.
        if (name === 'roles') this.readsRoles = true
        if (name === 'roles' || name === 'tenants') this.readsAnyRoles = true
        return
      case 'tenant':
        this.readsTenant = true
        // Attributes of a tenant are visible to users with a role in it.
        if (name !== 'key' || path.names.length > 1) this.readsAnyRoles = true
        return
      case 'resource': {
        if (isComputed(path.names)) {
          if (name === 'tenant') this.readsTenant = true
          return
        }
        this.readsResource = true
        if (!readsStored(path, this.#row)) return
        this.scanned.add(set)
        for (let end = 1; end <= path.names.length; end++) {
          this.names.add(path.names.slice(0, end).join('.'))
        }
      }
    }
  }
}
