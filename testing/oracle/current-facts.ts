/**
 * The current state after a history of changes, in the simplest form: arrays of puts. A put replaces its
 * predecessor, and a removal is a `filter`.
 *
 * Invariant: no element names a missing entity. After each change, elements that name one are dropped, in
 * order from types to tuples. This has the same effect as the cascades that native.md C.7 lists for each kind
 * of removal. It shares no code with `src/engine` and is not optimized: each change takes quadratic time in
 * the number of facts.
 */
import type { AssignmentScope, Change, InstanceKey, RolePut, RuleChange } from '#model/change.ts'

type ChangeOf<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>

export class CurrentFacts {
  types: ChangeOf<'type-put'>[] = []
  relations: ChangeOf<'relation-put'>[] = []
  roles: ChangeOf<'role-put'>[] = []
  tenants: ChangeOf<'tenant-put'>[] = []
  users: ChangeOf<'user-put'>[] = []
  instances: ChangeOf<'instance-put'>[] = []
  assignments: ChangeOf<'assignment-put'>[] = []
  tuples: ChangeOf<'tuple-put'>[] = []
  conditionSets: ChangeOf<'condition-set-put'>[] = []
  rules: ChangeOf<'rule-put'>[] = []

  apply(change: Change): void {
    this.#removeNamesake(change)
    this.#dropWhatNamesSomethingAbsent()
    this.#put(change)
    this.#dropWhatNamesSomethingAbsent()
  }

  role(type: string | null, key: string): RolePut | undefined {
    return this.roles.find(r => r.type === type && r.role === key)
  }

  instance(name: InstanceKey): ChangeOf<'instance-put'> | undefined {
    return this.instances.find(i => sameInstance(i.instance, name))
  }

  conditionSet(key: string): ChangeOf<'condition-set-put'> | undefined {
    return this.conditionSets.find(s => s.set === key)
  }

  /** Returns changes that create the current state from an empty state. */
  asChanges(): Change[] {
    // First puts each role without its references to other roles, because such references can form cycles.
    const bareRoles = this.roles.map(r => ({ ...r, permissions: [], extends: [], derivations: [] }))
    const schema = [...this.types, ...this.relations, ...bareRoles, ...this.roles]
    const rules = [...this.#parentsFirst(), ...this.rules]
    return [
      ...schema,
      ...rules,
      ...this.tenants,
      ...this.users,
      ...this.instances,
      ...this.assignments,
      ...this.tuples,
    ]
  }

  #parentsFirst(): ChangeOf<'condition-set-put'>[] {
    const ordered: ChangeOf<'condition-set-put'>[] = []
    while (ordered.length < this.conditionSets.length) {
      const isPut = (key: string) => ordered.some(s => s.set === key)
      ordered.push(...this.conditionSets.filter(s => !isPut(s.set) && (s.parent === null || isPut(s.parent))))
    }
    return ordered
  }

  /**
   * Removes the entity that the change removes. Also removes an entity with the same name if the change
   * cannot update it: a relation with another subject type, or an instance in another tenant. Other puts keep
   * the entity and its dependents.
   */
  #removeNamesake(change: Change): void {
    switch (change.kind) {
      case 'type-removed':
        this.types = this.types.filter(t => t.type !== change.type)
        break
      case 'role-removed':
        this.roles = this.roles.filter(r => r.type !== change.type || r.role !== change.role)
        break
      case 'relation-removed':
        this.relations = this.relations.filter(r => r.type !== change.type || r.relation !== change.relation)
        break
      case 'relation-put':
        if (!this.#hasType(change.subjectType)) break
        this.relations = this.relations.filter(
          r =>
            r.type !== change.type || r.relation !== change.relation || r.subjectType === change.subjectType,
        )
        break
      case 'tenant-removed':
        this.tenants = this.tenants.filter(t => t.tenant !== change.tenant)
        break
      case 'user-removed':
        this.users = this.users.filter(u => u.user !== change.user)
        break
      case 'instance-removed':
        this.instances = this.instances.filter(i => !sameInstance(i.instance, change.instance))
        break
      case 'instance-put':
        if (!this.#hasTenant(change.tenant)) break
        this.instances = this.instances.filter(
          i => !sameInstance(i.instance, change.instance) || i.tenant === change.tenant,
        )
        break
      case 'assignment-put':
      case 'assignment-removed':
        this.assignments = this.assignments.filter(
          a => a.user !== change.user || a.role !== change.role || !sameScope(a.scope, change.scope),
        )
        break
      case 'tuple-put':
      case 'tuple-removed':
        this.tuples = this.tuples.filter(
          t =>
            t.relation !== change.relation ||
            !sameInstance(t.subject, change.subject) ||
            !sameInstance(t.object, change.object),
        )
        break
      case 'condition-set-removed':
        this.conditionSets = this.conditionSets.filter(s => s.set !== change.set)
        break
      case 'rule-put':
      case 'rule-removed':
        this.rules = this.rules.filter(r => !isSameRule(r, change))
        break
      default: // Other puts keep the existing entity.
    }
  }

  /** Adds the entity or fact. Removes its earlier version, if there is one. */
  #put(change: Change): void {
    switch (change.kind) {
      case 'type-put':
        this.types = [...this.types.filter(t => t.type !== change.type), change]
        break
      case 'role-put':
        this.roles = [...this.roles.filter(r => r.type !== change.type || r.role !== change.role), change]
        break
      case 'relation-put':
        if (!this.#hasRelation(change.type, change.relation, change.subjectType)) this.relations.push(change)
        break
      case 'tenant-put':
        this.tenants = [...this.tenants.filter(t => t.tenant !== change.tenant), change]
        break
      case 'user-put':
        this.users = [...this.users.filter(u => u.user !== change.user), change]
        break
      case 'instance-put':
        if (!this.#hasTenant(change.tenant)) break
        this.instances = [...this.instances.filter(i => !sameInstance(i.instance, change.instance)), change]
        break
      case 'assignment-put':
        this.assignments.push(change)
        break
      case 'tuple-put':
        this.tuples.push(change)
        break
      case 'condition-set-put': {
        // Ignores the change if it would change the side of a set, or make a set its own ancestor.
        const old = this.conditionSet(change.set)
        if ((old && old.side !== change.side) || !this.#mayBe(change)) break
        this.conditionSets = [...this.conditionSets.filter(s => s.set !== change.set), change]
        break
      }
      case 'rule-put':
        this.rules.push(change)
        break
      default: // Removals add nothing.
    }
  }

  /** Returns whether the type of the set exists, and its parent fits: same side, same type, no cycle. */
  #mayBe(put: ChangeOf<'condition-set-put'>): boolean {
    if (put.type !== null && !this.#hasType(put.type)) return false
    if (put.parent === null) return true
    const above = this.conditionSet(put.parent)
    if (!above || above.side !== put.side) return false
    if (above.type !== null && put.type !== null && above.type !== put.type) return false
    const ancestors = [put.parent]
    for (const next of ancestors) {
      const further = this.conditionSet(next)?.parent
      if (further && !ancestors.includes(further)) ancestors.push(further)
    }
    return !ancestors.includes(put.set)
  }

  #mayRule({ userSet, type, action, resourceSet }: RuleChange): boolean {
    const isSide = (side: string, key: string) => {
      const set = this.conditionSet(key)
      return set?.side === side && (set.type === null || set.type === type)
    }
    const role = userSet.startsWith('__autogen_') ? userSet.slice('__autogen_'.length) : null
    return (
      this.#hasAction(type, action) &&
      (role === null ? isSide('user', userSet) : this.role(null, role) !== undefined) &&
      (resourceSet === `__autogen_${type}` || isSide('resource', resourceSet))
    )
  }

  #hasType(key: string | null): boolean {
    return this.types.some(t => t.type === key)
  }

  #hasAction(type: string, action: string): boolean {
    return this.types.some(t => t.type === type && t.actions.includes(action))
  }

  #hasRelation(objectType: string | null, key: string, subjectType: string): boolean {
    return this.relations.some(
      r => r.type === objectType && r.relation === key && r.subjectType === subjectType,
    )
  }

  #hasTenant(key: string): boolean {
    return this.tenants.some(t => t.tenant === key)
  }

  /** One pass is sufficient, because each line depends only on arrays that are already clean. */
  #dropWhatNamesSomethingAbsent(): void {
    this.relations = this.relations.filter(r => this.#hasType(r.type) && this.#hasType(r.subjectType))
    this.roles = this.roles.filter(r => r.type === null || this.#hasType(r.type))
    this.roles = this.roles.map(r => this.#withoutAbsentMentions(r))
    this.instances = this.instances.filter(i => this.#hasType(i.instance.type) && this.#hasTenant(i.tenant))
    this.assignments = this.assignments.filter(
      ({ user, role, scope }) =>
        this.users.some(u => u.user === user) &&
        ('tenant' in scope
          ? this.#hasTenant(scope.tenant) && this.role(null, role)
          : this.instance(scope.instance) && this.role(scope.instance.type, role)),
    )
    this.tuples = this.tuples.filter(({ subject, relation, object }) => {
      const [from, to] = [this.instance(subject), this.instance(object)]
      return from && from.tenant === to?.tenant && this.#hasRelation(object.type, relation, subject.type)
    })
    // Removing a set also removes its descendants. Each pass removes one level of them.
    for (const _ of this.conditionSets) this.conditionSets = this.conditionSets.filter(s => this.#mayBe(s))
    this.rules = this.rules.filter(r => this.#mayRule(r))
  }

  #withoutAbsentMentions(role: ChangeOf<'role-put'>): ChangeOf<'role-put'> {
    return {
      ...role,
      permissions: role.permissions.filter(
        p => this.#hasAction(p.type, p.action) && (role.type === null || role.type === p.type),
      ),
      extends: role.extends.filter(other => this.role(role.type, other)),
      derivations: role.derivations.filter(
        d => this.role(d.onType, d.role) && this.#hasRelation(role.type, d.relation, d.onType),
      ),
    }
  }
}

export function sameInstance(a: InstanceKey, b: InstanceKey): boolean {
  return a.type === b.type && a.key === b.key
}

function isSameRule(a: RuleChange, b: RuleChange): boolean {
  return (
    a.userSet === b.userSet && a.type === b.type && a.action === b.action && a.resourceSet === b.resourceSet
  )
}

function sameScope(a: AssignmentScope, b: AssignmentScope): boolean {
  if ('tenant' in a) return 'tenant' in b && a.tenant === b.tenant
  return 'instance' in b && sameInstance(a.instance, b.instance)
}
