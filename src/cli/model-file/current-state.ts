/** Current state of an environment, built from the lines of an export. */
import { parseInstanceReference } from '#model/instance-reference.ts'
import type { ContentConditionSet, ContentLine, ContentResource } from '#entities/environment-content.ts'
import {
  assignmentName,
  conditionSetState,
  EnvironmentState,
  MEMBER,
  roleState,
  ruleName,
  tupleName,
} from './environment-state.ts'

/** Selects which facts of the environment are kept. */
export type FactFilter = (
  kind: 'tenants' | 'users' | 'instances' | 'assignments' | 'tuples',
  name: string,
) => boolean

/** Collects the state from the lines of an export. */
export class CurrentState {
  readonly state = new EnvironmentState()
  readonly #isOfInterest: FactFilter
  /** Purpose of each relation that the groups API created, by `type#relation`. */
  readonly #groupUses = new Map<string, { readonly use: string; readonly role?: string }>()
  /** Number of lines that were read. */
  #lines = 0
  #isWhole = false

  constructor(isOfInterest: FactFilter) {
    this.#isOfInterest = isOfInterest
  }

  /** Whether the last line has arrived and its number of lines matches. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  add(line: ContentLine): void {
    const { state } = this
    switch (line.kind) {
      case 'user_attributes':
        for (const [key, block] of Object.entries(line.attributes)) state.userAttributes.set(key, block)
        break
      case 'tenant_attributes':
        for (const [key, block] of Object.entries(line.attributes)) state.tenantAttributes.set(key, block)
        break
      case 'resource':
        this.#addResource(line)
        break
      case 'role': {
        const { kind: _kind, key, permissions, extends: extended, granted_to, ...fields } = line
        state.roles.set(key, roleState(fields, { permissions, extends: extended, granted_to }, null))
        break
      }
      case 'condition_set':
        this.#addConditionSet(line)
        break
      case 'rule': {
        const { kind: _kind, ...rule } = line
        state.rules.set(ruleName(rule), rule)
        break
      }
      case 'tenant': {
        const { kind: _kind, key, ...fields } = line
        if (this.#isOfInterest('tenants', key)) state.tenants.set(key, fields)
        break
      }
      case 'user': {
        const { kind: _kind, key, ...fields } = line
        if (this.#isOfInterest('users', key)) state.users.set(key, fields)
        break
      }
      case 'instance': {
        const { kind: _kind, resource, key, tenant, is_group, ...fields } = line
        const name = `${resource}:${key}`
        if (is_group) {
          state.groups.set(name, {
            tenant,
            members: new Map(),
            groups: new Map(),
            roles: new Map(),
          })
        } else if (this.#isOfInterest('instances', name)) {
          state.instances.set(name, { tenant, fields })
        }
        break
      }
      case 'assignment':
        this.#addAssignment(line)
        break
      case 'tuple':
        this.#addTuple(line)
        break
      case 'end':
        this.#isWhole = line.lines === this.#lines
    }
    this.#lines += 1
  }

  #addResource(line: ContentResource): void {
    const {
      kind: _kind,
      key,
      actions,
      attributes,
      relations,
      roles,
      relation_details,
      action_groups: _groups,
      ...fields
    } = line
    for (const [relation, { group_use }] of Object.entries(relation_details ?? {})) {
      if (group_use) this.#groupUses.set(`${key}#${relation}`, group_use)
    }
    const isMade = (relation: string) => this.#groupUses.has(`${key}#${relation}`)
    this.state.resources.set(key, {
      fields,
      actions: new Map(Object.entries(actions)),
      attributes: new Map(Object.entries(attributes ?? {})),
      relations: new Map(
        Object.entries(relations ?? {}).flatMap(([relation, subject]) =>
          isMade(relation) || !subject ? [] : [[relation, subject]],
        ),
      ),
      roles: new Map(
        Object.entries(roles ?? {}).map(([role, { permissions, extends: extended, granted_to, ...rest }]) => {
          const entries = (granted_to?.users_with_role ?? []).filter(
            entry => !isMade(entry.linked_by_relation),
          )
          const block = { ...granted_to, users_with_role: entries }
          return [role, roleState(rest, { permissions, extends: extended, granted_to: block }, key)]
        }),
      ),
    })
  }

  #addConditionSet({ kind: _kind, key, ...set }: ContentConditionSet): void {
    this.state.conditionSets.set(key, conditionSetState(set))
  }

  #addAssignment(line: ContentLine & { kind: 'assignment' }): void {
    const { user, role, tenant, resource_instance, expires_at: expiresAt = null } = line
    const group = resource_instance === undefined ? undefined : this.state.groups.get(resource_instance)
    if (group && role === MEMBER) {
      group.members.set(user, expiresAt)
      return
    }
    const assignment = { user, role, tenant, resource_instance, expiresAt }
    const name = assignmentName(assignment)
    if (this.#isOfInterest('assignments', name)) this.state.assignments.set(name, assignment)
  }

  #addTuple({
    subject,
    relation,
    object,
    expires_at: expiresAt = null,
  }: ContentLine & { kind: 'tuple' }): void {
    const type = parseInstanceReference(object)?.type
    const use = this.#groupUses.get(`${type}#${relation}`)
    const group = use && this.state.groups.get(use.use === 'nesting' ? object : subject)
    if (group && use.use === 'nesting') group.groups.set(subject, expiresAt)
    else if (group) group.roles.set(`${object}#${use.role}`, expiresAt)
    else {
      const tuple = { subject, relation, object, expiresAt }
      const name = tupleName(tuple)
      if (this.#isOfInterest('tuples', name)) this.state.tuples.set(name, tuple)
    }
  }
}
