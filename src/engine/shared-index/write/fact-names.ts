/**
 * Converts facts from numbers to the names that callers use. Used by the writer, for a few facts at a time.
 */
import type { FactNumbers } from '#engine/shared-index/memory/expiry-table.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { keyText, typeOf } from '#engine/shared-index/memory/records.ts'
import { bankOf, tenantAt } from '#engine/shared-index/schema/tenant-role-overflow.ts'
import type { Role, Schema } from '#engine/shared-index/schema/schema.ts'
import type { AssignmentScope, Change, InstanceKey } from '#model/change.ts'

/** Names of the schema's numbers. Valid until the schema changes. */
export class FactNames {
  readonly #typeKeys = new Map<number, string>()
  /** Keys of roles by type id and role index. */
  readonly #roleKeys = new Map<number, Map<number, string>>()
  readonly #relationKeys = new Map<number, string>()

  /** Reads all names. O(types, roles and relations). */
  constructor(schema: Schema) {
    this.#addRoles(L.TENANT_TYPE, schema.tenantRoles)
    for (const type of schema.types.values()) {
      this.#typeKeys.set(type.id, type.key)
      this.#addRoles(type.id, type.roles)
      for (const { edgeClass, key } of type.relations.values()) this.#relationKeys.set(edgeClass, key)
    }
  }

  /**
   * Returns a change that removes the fact. Returns null if the role, relation or type of the fact has been
   * removed. The records to which the fact refers must exist. O(length of the keys).
   */
  removalOf(graph: Int32Array, { isTuple, line, other, link }: FactNumbers): Change | null {
    if (isTuple) {
      const relation = this.#relationKeys.get(link)
      const object = this.#instance(graph, line)
      const subject = this.#instance(graph, graph[(other << L.LINE_WORDS_LOG2) + L.C_INSTANCE]!)
      if (relation === undefined || !object || !subject) return null
      return { kind: 'tuple-removed', subject, relation, object }
    }
    const at = other & L.LINE_MASK
    const type = typeOf(graph, at)
    const bank = type === L.TENANT_TYPE ? bankOf(graph, other) : other >>> L.BANK_SHIFT
    const role = this.#roleKeys.get(type)?.get(bank * L.BANK_ROLES + link)
    const scope = this.#scope(graph, at, type)
    return role === undefined || !scope
      ? null
      : { kind: 'assignment-removed', user: keyText(graph, line), role, scope }
  }

  #addRoles(type: number, roles: ReadonlyMap<string, Role>): void {
    const keys = Array.from(roles.values(), ({ roleIndex, key }) => [roleIndex, key] as const)
    this.#roleKeys.set(type, new Map(keys))
  }

  #scope(graph: Int32Array, line: number, type: number): AssignmentScope | null {
    if (type === L.TENANT_TYPE) return { tenant: keyText(graph, tenantAt(graph, line)) }
    const instance = this.#instance(graph, line)
    return instance && { instance }
  }

  #instance(graph: Int32Array, line: number): InstanceKey | null {
    const type = this.#typeKeys.get(typeOf(graph, line))
    return type === undefined ? null : { type, key: keyText(graph, line) }
  }
}
