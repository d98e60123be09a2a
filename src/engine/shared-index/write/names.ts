/**
 * Resolves the names in a change for the writer: finds the lines of records, and finds roles and relations in
 * the schema.
 *
 * A change links a subject to an object: an assignment links a user to an instance or tenant, and a tuple
 * links one instance to another. `Preparation` might have found both before the critical section of the
 * commit. Lines are freed only after commits, so a line that was found before remains valid for its name
 * until the record is dead. The line also becomes invalid if the commit changes the schema, because the name
 * might then belong to another type.
 */
import type { Key } from '#engine/shared-index/memory/key.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import { isDead } from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import * as table from '#engine/shared-index/memory/string-table.ts'
import type { SchemaRelation, Role, Schema } from '#engine/shared-index/schema/schema.ts'
import type { AssignmentChange, InstanceKey, TupleChange } from '#model/change.ts'

export class NameLookups {
  readonly key: Key
  readonly schema: Schema
  readonly #regions: Regions
  /**
   * Two lines per change: object and subject. A line is 0 if the record did not exist or was not looked up.
   */
  readonly #found = new NumberList()
  /** For each change, the role or relation that links its subject and object. */
  readonly #links: (Role | SchemaRelation | undefined)[] = []
  #objectLine = 0
  #subjectLine = 0
  #role: Role | undefined
  #relation: SchemaRelation | undefined

  constructor(regions: Regions, parts: { key: Key; schema: Schema }) {
    this.#regions = regions
    this.key = parts.key
    this.schema = parts.schema
  }

  /** Returns the line with this key and type, or 0 if there is none. Also sets `key` to the key. */
  find(key: string, type: number): number {
    return this.key.read(key, type) ? table.find(this.#regions, this.key, type) : 0
  }

  /**
   * Returns the line of the instance with this name. Returns 0 if it does not exist or if its tenant has been
   * removed.
   */
  instance({ type, key }: InstanceKey): number {
    const known = this.schema.types.get(type)
    const line = known ? this.find(key, known.id) : 0
    return line !== 0 && this.#isInTenant(line) ? line : 0
  }

  /**
   * Returns the role of an assignment: a tenant role if the scope is a tenant, and a role of the instance's
   * type otherwise.
   */
  role({ role, scope }: AssignmentChange): Role | undefined {
    if (this.#role) return this.#role
    return this.schema.role('tenant' in scope ? null : scope.instance.type, role)
  }

  scoped({ scope }: AssignmentChange): number {
    if ('instance' in scope)
      return this.#isAlive(this.#objectLine) ? this.#objectLine : this.instance(scope.instance)
    return this.find(scope.tenant, L.TENANT_TYPE)
  }

  holder({ user }: AssignmentChange): number {
    const isAlive = this.#subjectLine !== 0 && !isDead(this.#regions.graph, this.#subjectLine)
    return isAlive ? this.#subjectLine : this.find(user, L.USER_TYPE)
  }

  relation({ object, relation, subject }: TupleChange): SchemaRelation | undefined {
    if (this.#relation) return this.#relation
    const known = this.schema.types.get(object.type)?.relations.get(relation)
    return known?.subjectType.key === subject.type ? known : undefined
  }

  object({ object }: TupleChange): number {
    return this.#isAlive(this.#objectLine) ? this.#objectLine : this.instance(object)
  }

  subject({ subject }: TupleChange): number {
    return this.#isAlive(this.#subjectLine) ? this.#subjectLine : this.instance(subject)
  }

  /** Records the lookup results for the next change of the commit. */
  note(object: number, subject: number, link: Role | SchemaRelation | undefined): void {
    this.#found.push(object)
    this.#found.push(subject)
    this.#links.push(link)
  }

  /** Returns the line of the object that was recorded for a change of the commit, or 0 if there is none. */
  objectOf(index: number): number {
    return index * 2 < this.#found.length ? this.#found.items[index * 2]! : 0
  }

  /** Returns the line of the subject that was recorded for a change of the commit, or 0 if there is none. */
  subjectOf(index: number): number {
    return index * 2 < this.#found.length ? this.#found.items[index * 2 + 1]! : 0
  }

  /** Selects the change of the commit to which the following calls refer. */
  select(index: number): void {
    this.#objectLine = this.objectOf(index)
    this.#subjectLine = this.subjectOf(index)
    const link = this.#links[index]
    const isRelation = link !== undefined && 'edgeClass' in link
    this.#role = isRelation ? undefined : link
    this.#relation = isRelation ? link : undefined
  }

  /**
   * Discards all recorded lines. Called at the beginning and end of a commit, and when the commit changes the
   * schema.
   */
  forget(): void {
    this.#found.length = 0
    this.#links.length = 0
    this.select(0)
  }

  #isAlive(instance: number): boolean {
    return instance !== 0 && !isDead(this.#regions.graph, instance) && this.#isInTenant(instance)
  }

  #isInTenant(instance: number): boolean {
    const { graph } = this.#regions
    return !isDead(graph, graph[(instance << L.LINE_WORDS_LOG2) + L.I_TENANT]!)
  }
}
