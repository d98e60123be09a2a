/**
 * A small company for the HTTP bench: users in groups, documents in folders, folders shared with groups. Who may read
 * what follows from the way it is made, so the expected answers need no engine.
 */
const USERS = 200
const GROUPS = 20
const FOLDERS = 50
const DOCUMENTS = 1_000
const CHECKS = 500

interface Query {
  readonly user: { readonly key: string }
  readonly action: string
  readonly resource: { readonly type: string; readonly key: string; readonly tenant: string }
}

interface ExpectedCheck {
  readonly query: Query
  readonly allow: boolean
}

export class SmallCompany {
  readonly checks: readonly ExpectedCheck[]
  readonly factCount = USERS * 2 + GROUPS + FOLDERS * 2 + DOCUMENTS * 2

  constructor() {
    // 7919 is prime and spreads the pairs over the company; half of them are made to match.
    this.checks = Array.from({ length: CHECKS }, (_, index) => {
      const document = (index * 7_919) % DOCUMENTS
      const matchingUser = groupOfFolder(folderOf(document)) + GROUPS * (index % (USERS / GROUPS))
      const user = index % 2 === 0 ? matchingUser : (matchingUser + 1) % USERS
      return {
        query: {
          user: { key: `user-${user}` },
          action: 'read',
          resource: { type: 'document', key: `document-${document}`, tenant: 'default' },
        },
        allow: groupOf(user) === groupOfFolder(folderOf(document)),
      }
    })
  }

  /** The checks in bulks of a size, each bulk starting elsewhere. */
  bulks(size: number): ExpectedCheck[][] {
    return Array.from({ length: 20 }, (_, start) =>
      Array.from({ length: size }, (_unused, index) => this.checks[(start * 31 + index) % CHECKS]!),
    )
  }

  async create(address: string, apiKey: string): Promise<void> {
    const schema = '/v2/schema/default/default'
    const facts = '/v2/facts/default/default'
    const send = (method: string, path: string, body: unknown) =>
      call(address, apiKey, { method, path, body })
    const viewer = { name: 'Viewer', permissions: ['read'] }
    await send('POST', `${schema}/resources`, {
      key: 'folder',
      name: 'Folder',
      actions: { read: {} },
      roles: { viewer },
    })
    await send('POST', `${schema}/resources`, {
      key: 'document',
      name: 'Document',
      actions: { read: {} },
      relations: { parent: 'folder' },
      roles: {
        viewer: {
          ...viewer,
          granted_to: {
            users_with_role: [{ role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }],
          },
        },
      },
    })
    for (let group = 0; group < GROUPS; group += 1) {
      await send('POST', `${schema}/groups`, {
        group_instance_key: `group-${group}`,
        group_tenant: 'default',
      })
    }
    for (let folder = 0; folder < FOLDERS; folder += 1) {
      await send('POST', `${schema}/groups/group-${groupOfFolder(folder)}/roles`, {
        role: 'viewer',
        resource: 'folder',
        resource_instance: `folder-${folder}`,
        tenant: 'default',
      })
    }
    for (let user = 0; user < USERS; user += 1) {
      await send('POST', `${facts}/users`, { key: `user-${user}` })
      const path = `${schema}/groups/group-${groupOf(user)}/users/user-${user}`
      await send('PUT', path, { tenant: 'default' })
    }
    for (let document = 0; document < DOCUMENTS; document += 1) {
      await send('POST', `${facts}/relationship_tuples`, {
        subject: `folder:folder-${folderOf(document)}`,
        relation: 'parent',
        object: `document:document-${document}`,
        tenant: 'default',
      })
    }
  }

  /** Checks every answer, alone and in bulk. Throws at the first wrong one; returns how many were right. */
  async verify(address: string, apiKey: string): Promise<number> {
    for (const { query, allow } of this.checks) {
      const answer = (await call(address, apiKey, { method: 'POST', path: '/allowed', body: query })) as {
        allow: boolean
      }
      if (answer.allow !== allow) throw new Error(`wrong answer to ${JSON.stringify(query)}`)
    }
    const bulk = (await call(address, apiKey, {
      method: 'POST',
      path: '/allowed/bulk',
      body: this.checks.map(({ query }) => query),
    })) as { allow: { allow: boolean }[] }
    this.checks.forEach(({ query, allow }, index) => {
      if (bulk.allow[index]?.allow !== allow) throw new Error(`wrong bulk answer to ${JSON.stringify(query)}`)
    })
    return this.checks.length * 2
  }
}

function groupOf(user: number): number {
  return user % GROUPS
}

function folderOf(document: number): number {
  return document % FOLDERS
}

function groupOfFolder(folder: number): number {
  return folder % GROUPS
}

async function call(
  address: string,
  apiKey: string,
  request: { readonly method: string; readonly path: string; readonly body: unknown },
): Promise<unknown> {
  const response = await fetch(address + request.path, {
    method: request.method,
    headers: { authorization: `Bearer ${apiKey}` },
    body: JSON.stringify(request.body),
  })
  if (!response.ok)
    throw new Error(`${request.method} ${request.path}: ${response.status} ${await response.text()}`)
  return response.json()
}
