/** References of a schema to missing entities, of which a consistent schema has none (native.md C.7). */
import type { ConditionSet } from '#entities/condition-set.ts'
import type { Resource } from '#entities/resource.ts'
import type { TenantRole } from '#entities/role.ts'
import type { SetRule } from '#entities/set-rule.ts'
import type { RunningEnvironment } from '../../support/running-environment.ts'

/** Returns each reference in the schema to a missing entity, as `source: name`. */
export async function strayMentions(environment: RunningEnvironment): Promise<string[]> {
  const query = { per_page: 100, include_total_count: false }
  const resources = (await environment.execute('listResources', { query })) as Resource[]
  const tenantRoles = (await environment.execute('listTenantRoles', { query })) as TenantRole[]
  const types = new Map(resources.map(resource => [resource.key, resource]))
  const mentions: [string, boolean][] = []
  for (const type of resources) {
    const names = Object.keys(type.actions)
    for (const [key, actions] of Object.entries(type.action_groups)) {
      for (const action of actions) mentions.push([`${type.key}/${key}: ${action}`, names.includes(action)])
    }
    for (const [key, { resource }] of Object.entries(type.relations)) {
      mentions.push([`${type.key}.${key}: ${resource}`, types.has(resource)])
    }
    for (const role of Object.values(type.roles)) {
      const name = `${type.key}#${role.key}`
      for (const action of role.permissions) mentions.push([`${name}: ${action}`, names.includes(action)])
      for (const key of role.extends) mentions.push([`${name} extends ${key}`, key in type.roles])
      for (const entry of role.granted_to.users_with_role) {
        const source = types.get(entry.on_resource)?.roles[entry.role]
        const relation = type.relations[entry.linked_by_relation]
        const isThere = source?.id === entry.role_id && relation?.resource === entry.on_resource
        mentions.push([`${name} from ${JSON.stringify(entry)}`, isThere])
      }
    }
  }
  for (const role of tenantRoles) {
    for (const text of role.permissions) {
      const [type, action] = text.split(':') as [string, string]
      mentions.push([`${role.key}: ${text}`, action in (types.get(type)?.actions ?? {})])
    }
    for (const key of role.extends) {
      mentions.push([`${role.key} extends ${key}`, tenantRoles.some(other => other.key === key)])
    }
  }
  mentions.push(...(await mentionsOfRules(environment, types, tenantRoles)))
  return mentions.filter(([, isThere]) => !isThere).map(([mention]) => mention)
}

async function mentionsOfRules(
  environment: RunningEnvironment,
  types: ReadonlyMap<string, Resource>,
  tenantRoles: readonly TenantRole[],
): Promise<[string, boolean][]> {
  const query = { per_page: 100, include_total_count: false }
  const listed = (await environment.execute('listConditionSets', { query })) as ConditionSet[]
  const rules = (await environment.execute('listSetRules', { query })) as SetRule[]
  const sets = new Map(listed.map(set => [set.key, set]))
  const mentions: [string, boolean][] = []
  for (const { key, type, parent_id, resource } of listed) {
    if (resource) mentions.push([`${key} of ${resource.key}`, types.get(resource.key)?.id === resource.id])
    if (parent_id === null) continue
    const parent = listed.find(({ id }) => id === parent_id)
    const fits = parent?.type === type && (!parent.resource || parent.resource.id === resource?.id)
    mentions.push([`${key} below ${parent_id}`, fits])
  }
  for (const rule of rules) {
    const [type, action] = rule.permission.split(':') as [string, string]
    const { resource } = sets.get(rule.resource_set) ?? {}
    const role = rule.user_set.replace('__autogen_', '')
    const isRoleThere = role === rule.user_set || tenantRoles.some(({ key }) => key === role)
    mentions.push(
      [`${rule.key}: ${rule.permission}`, action in (types.get(type)?.actions ?? {})],
      [`${rule.key}: ${rule.user_set}`, sets.get(rule.user_set)?.type === 'userset' && isRoleThere],
      [`${rule.key}: ${rule.resource_set}`, sets.get(rule.resource_set)?.type === 'resourceset'],
      [`${rule.key}: ${rule.resource_set} is of ${type}`, !resource || resource.key === type],
    )
  }
  return mentions
}
