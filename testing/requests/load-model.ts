/**
 * Loads facts into a running service through its management API, as a client would: first the model, then
 * tenants, users, instances, assignments and tuples. The caller sends the requests, so benchmarks can also
 * use it.
 */
import type { Change, RolePut } from '#model/change.ts'

/** Sends one request. Throws if the request fails. */
export type SendToManagement = (method: 'POST' | 'PATCH', path: string, body: unknown) => Promise<unknown>

const SCHEMA = '/v2/schema/default/default'
const FACTS = '/v2/facts/default/default'

/** Loads the facts, which must be in the order of `Oracle.currentFacts`. The tenant `default` must exist. */
export async function loadModel(send: SendToManagement, facts: readonly Change[]): Promise<void> {
  const tenantOf = new Map<string, string>()
  const waiting = new Map<string, RolePut>()
  const known = new Set<string>()
  for (const fact of facts) {
    switch (fact.kind) {
      case 'type-put': {
        const actions = Object.fromEntries(fact.actions.map(action => [action, {}]))
        await send('POST', `${SCHEMA}/resources`, { key: fact.type, name: fact.type, actions })
        break
      }
      case 'relation-put': {
        const body = { key: fact.relation, name: fact.relation, subject_resource: fact.subjectType }
        await send('POST', `${SCHEMA}/resources/${fact.type}/relations`, body)
        break
      }
      case 'role-put':
        if (fact.type === null) waiting.set(fact.role, fact)
        else await putRole(fact.type, fact)
        break
      case 'tenant-put':
        await sendTenantRoles()
        if (fact.tenant !== 'default') {
          await send('POST', `${FACTS}/tenants`, { key: fact.tenant, name: fact.tenant })
        }
        break
      case 'user-put':
        await send('POST', `${FACTS}/users`, { key: fact.user })
        break
      case 'instance-put': {
        const { type, key } = fact.instance
        tenantOf.set(`${type}:${key}`, fact.tenant)
        await send('POST', `${FACTS}/resource_instances`, { resource: type, key, tenant: fact.tenant })
        break
      }
      case 'assignment-put': {
        const { user, role, scope } = fact
        const on = 'instance' in scope ? `${scope.instance.type}:${scope.instance.key}` : null
        const tenant = 'tenant' in scope ? scope.tenant : tenantOf.get(on!)
        const body = { user, role, tenant, ...(on !== null && { resource_instance: on }) }
        await send('POST', `${FACTS}/role_assignments`, body)
        break
      }
      case 'tuple-put': {
        const [subject, object] = [fact.subject, fact.object].map(({ type, key }) => `${type}:${key}`)
        const tenant = tenantOf.get(object!)
        await send('POST', `${FACTS}/relationship_tuples`, {
          subject,
          relation: fact.relation,
          object,
          tenant,
        })
        break
      }
      default:
        throw new Error(`a model cannot contain a change of kind ${fact.kind}`)
    }
  }
  await sendTenantRoles()

  /** Sends a role twice: first without details, so that other roles can refer to it, and then completely. */
  async function putRole(type: string, { role, permissions, extends: extended, derivations }: RolePut) {
    const path = `${SCHEMA}/resources/${type}/roles`
    if (!known.has(`${type}#${role}`)) {
      known.add(`${type}#${role}`)
      await send('POST', path, { key: role, name: role })
      return
    }
    await send('PATCH', `${path}/${role}`, {
      permissions: permissions.map(({ action }) => action),
      extends: extended,
      granted_to: {
        users_with_role: derivations.map(entry => ({
          role: entry.role,
          on_resource: entry.onType,
          linked_by_relation: entry.relation,
          when: { no_direct_roles_on_object: entry.guarded },
        })),
      },
    })
  }

  /** Sends each role after the roles that it extends. */
  async function sendTenantRoles(): Promise<void> {
    while (waiting.size > 0) {
      const next = [...waiting.values()].find(
        ({ extends: extended }) => !extended.some(key => waiting.has(key)),
      )
      if (!next) throw new Error('tenant roles extend each other in a cycle; the API rejects this')
      waiting.delete(next.role)
      await send('POST', `${SCHEMA}/roles`, {
        key: next.role,
        name: next.role,
        permissions: next.permissions.map(({ type, action }) => `${type}:${action}`),
        extends: next.extends,
      })
    }
  }
}
