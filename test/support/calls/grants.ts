/** The six kinds of grants that can expire, with the calls that create, revoke and list them. */
import { expect } from 'vitest'
import {
  type Answer,
  type Client,
  FACTS,
  fresh,
  grantBody,
  groupPath,
  memberPath,
} from '#testing/processes/running-service.ts'

interface Calls {
  readonly made: string
  readonly removed: string
  readonly method: 'POST' | 'PUT'
  readonly path: string
  readonly body: object
  readonly removal?: object
  readonly lists: readonly string[]
  /** Whether the call returns 200 if the grant already exists. */
  readonly isRepeatable?: true
}

interface Ended {
  readonly expires_at?: string
}

/** Expiration times in a list, with null for a grant that does not expire. */
export async function endsIn(verdict: Client, path: string): Promise<(string | null)[]> {
  const granted = await verdict.itemsIn<Ended>(path)
  return granted.map(each => ('expires_at' in each ? each.expires_at! : null))
}

/** A grant of one kind between entities that only this grant uses. At first, the grant does not exist. */
export class Grant {
  readonly made: string
  readonly removed: string
  readonly isRepeatable: boolean
  readonly #verdict: Client
  readonly #calls: Calls

  constructor(verdict: Client, calls: Calls) {
    this.made = calls.made
    this.removed = calls.removed
    this.isRepeatable = calls.isRepeatable ?? false
    this.#verdict = verdict
    this.#calls = calls
  }

  put<Body = unknown>(end?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer<Body>> {
    const { method, path, body } = this.#calls
    return this.#verdict.send(method, path, { body: { ...body, expires_at: end }, headers })
  }

  drop(headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const { path, body, removal = body } = this.#calls
    return this.#verdict.send('DELETE', path, { body: removal, headers })
  }

  /** Expiration time in each list that shows the grant, or an empty array if it does not exist. */
  async ends(): Promise<(string | null)[]> {
    const [ends, ...others] = await Promise.all(this.#calls.lists.map(path => endsIn(this.#verdict, path)))
    for (const other of others) expect(other).toEqual(ends)
    return ends!
  }
}

/** The model of the grants: documents in folders, and the tenant role `auditor`. */
export async function createGrantModel(verdict: Client): Promise<void> {
  await verdict.createDocumentModel()
  await verdict.resource({ key: 'folder', actions: { read: {} } })
  await verdict.relation('document', 'parent', 'folder')
  await verdict.tenantRole('auditor', ['document:read'])
}

export const GRANTS: Readonly<Record<string, (verdict: Client) => Promise<Grant>>> = {
  'a role assignment': async verdict => {
    const { key: user } = await verdict.user(...fresh('ann'))
    return new Grant(verdict, {
      made: 'createRoleAssignment',
      removed: 'deleteRoleAssignment',
      method: 'POST',
      path: `${FACTS}/role_assignments`,
      body: { user, role: 'auditor', tenant: 'default' },
      lists: [`${FACTS}/role_assignments?user=${user}`],
    })
  },
  'a role of a user on an instance': async verdict => {
    const [name, d1] = fresh('ann', 'd')
    const { key: user } = await verdict.user(name)
    return new Grant(verdict, {
      made: 'assignUserRole',
      removed: 'unassignUserRole',
      method: 'POST',
      path: `${FACTS}/users/${user}/roles`,
      body: { role: 'editor', tenant: 'default', resource_instance: `document:${d1}` },
      lists: [`${FACTS}/role_assignments/detailed?user=${user}`],
    })
  },
  'a relationship tuple': async verdict => {
    const [subject, object] = fresh('folder:f', 'document:d')
    const removal = { subject, relation: 'parent', object }
    return new Grant(verdict, {
      made: 'createRelationshipTuple',
      removed: 'deleteRelationshipTuple',
      method: 'POST',
      path: `${FACTS}/relationship_tuples`,
      body: { ...removal, tenant: 'default' },
      removal,
      lists: [`${FACTS}/relationship_tuples/detailed?object=${object}`],
    })
  },
  'a member of a group': async verdict => {
    const [group, user] = fresh('staff', 'ann')
    await verdict.group(group)
    await verdict.user(user)
    return new Grant(verdict, {
      made: 'addGroupMember',
      removed: 'removeGroupMember',
      method: 'PUT',
      path: memberPath(group, user),
      body: { tenant: 'default' },
      lists: [`${groupPath(group)}/users`],
      isRepeatable: true,
    })
  },
  'a role of a group': async verdict => {
    const [group, d1] = fresh('staff', 'document:d')
    await verdict.group(group)
    await verdict.instance(d1)
    return new Grant(verdict, {
      made: 'addGroupRole',
      removed: 'removeGroupRole',
      method: 'POST',
      path: `${groupPath(group)}/roles`,
      body: grantBody('editor', d1),
      lists: [`${groupPath(group)}/roles`],
    })
  },
  'a group in a group': async verdict => {
    const [outer, inner] = fresh('outer', 'inner')
    await verdict.groups(outer, inner)
    return new Grant(verdict, {
      made: 'assignGroup',
      removed: 'unassignGroup',
      method: 'PUT',
      path: `${groupPath(outer)}/assign_group`,
      body: { group_instance_key: inner },
      lists: [`${groupPath(outer)}/children`, `${groupPath(inner)}/parents`],
    })
  },
}
