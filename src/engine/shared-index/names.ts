/** What the names in a change stand for: records by their lines, roles and relations by the schema; the writer's half. */
import type { AssignmentChange, InstanceKey, TupleChange } from '#model/change.ts'
import type { Key } from './key.ts'
import * as L from './layout.ts'
import { isDead } from './records.ts'
import type { Regions } from './regions.ts'
import type { Relation, Role, Schema } from './schema.ts'
import * as table from './string-table.ts'

export class Names {
  readonly key: Key
  readonly schema: Schema
  readonly #regions: Regions

  constructor(regions: Regions, parts: { key: Key; schema: Schema }) {
    this.#regions = regions
    this.key = parts.key
    this.schema = parts.schema
  }

  /** The line of what has this key and type, 0 if there is none. Leaves the key's hash in `key`. */
  find(key: string, type: number): number {
    return this.key.read(key, type) ? table.find(this.#regions, this.key, type) : 0
  }

  /** The instance of that name; 0 if there is none, or only one whose tenant was removed. */
  instance({ type, key }: InstanceKey): number {
    const known = this.schema.types.get(type)
    const line = known ? this.find(key, known.id) : 0
    const { graph } = this.#regions
    return line !== 0 && !isDead(graph, graph[(line << L.LINE_WORDS_LOG2) + L.I_TENANT]!) ? line : 0
  }

  /** Tenants take tenant roles, instances take those of their type. */
  role({ role, scope }: AssignmentChange): Role | undefined {
    return this.schema.role('tenant' in scope ? null : scope.instance.type, role)
  }

  scoped({ scope }: AssignmentChange): number {
    return 'tenant' in scope ? this.find(scope.tenant, L.TENANT_TYPE) : this.instance(scope.instance)
  }

  relation({ object, relation, subject }: TupleChange): Relation | undefined {
    const known = this.schema.types.get(object.type)?.relations.get(relation)
    return known?.subjectType.key === subject.type ? known : undefined
  }
}
