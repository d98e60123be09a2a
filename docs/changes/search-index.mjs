/**
 * Example: a search index that follows the change stream. It contains the documents, their tenants and the
 * role assignments on them. It needs only Node 22. Use it as a template for the search engine of your choice.
 *
 *     VERDICT_URL=http://localhost:7766 VERDICT_KEY=… node docs/changes/search-index.mjs index.json
 *
 * The index is correct even if this process or the service is killed at any time:
 * - The index and the id of the last applied commit are written together, as one file that is renamed.
 * - The file is written only after a complete commit, which an `id:` marks. Events of an incomplete commit
 *   exist only in memory.
 * - Each event contains the current state, so applying an event twice changes nothing.
 * - After `reset` and at the first start, the whole index is loaded. The stream then resumes at the revision
 *   of the first page, so changes that were made while later pages were read are delivered again.
 */
import { readFile, rename, writeFile } from 'node:fs/promises'

const [, , file = 'index.json'] = process.argv
const { VERDICT_URL: url = 'http://localhost:7766', VERDICT_KEY: apiKey } = process.env
const PROJECT = process.env.VERDICT_PROJECT ?? 'default/default'
const facts = `${url}/v2/facts/${PROJECT}`
const headers = { authorization: `Bearer ${apiKey}` }

/** Documents and role assignments by id, and the id of the last applied commit. */
let index = { lastId: null, documents: {}, assignments: {} }

async function keep() {
  await writeFile(`${file}.new`, JSON.stringify(index))
  await rename(`${file}.new`, file)
}

/** Items of all pages of a list, and the revision of the first page. */
async function listed(what) {
  const items = []
  let revision = null
  for (let page = 1; ; page++) {
    const answer = await fetch(`${facts}/${what}?page=${page}&per_page=100`, { headers })
    if (!answer.ok) throw new Error(`${what}: ${answer.status}`)
    revision ??= answer.headers.get('x-revision')
    const some = await answer.json()
    items.push(...some)
    if (some.length < 100) return { items, revision }
  }
}

async function loadEverything() {
  const documents = await listed('resource_instances')
  const { items: assignments } = await listed('role_assignments')
  const byId = items => Object.fromEntries(items.map(item => [item.id, item]))
  index = {
    // The older of the two revisions. Later changes can be delivered again.
    lastId: documents.revision,
    documents: byId(
      documents.items.map(({ id, key, resource, tenant, tenant_id, resource_id, attributes }) => ({
        id,
        key,
        resource,
        tenant,
        tenant_id,
        resource_id,
        attributes,
      })),
    ),
    assignments: byId(assignments.filter(item => item.resource_instance_id !== null)),
  }
  await keep()
}

function dropWhere(things, isGone) {
  for (const [id, item] of Object.entries(things)) if (isGone(item)) delete things[id]
}

/** Applies an event. A deletion also deletes dependents, as docs/change-stream.md describes. */
function apply({ kind, item }) {
  const { documents, assignments } = index
  switch (kind) {
    case 'resource_instance.created':
    case 'resource_instance.updated': {
      const { id, key, resource, tenant, tenant_id, resource_id, attributes } = item
      documents[id] = { id, key, resource, tenant, tenant_id, resource_id, attributes }
      break
    }
    case 'resource_instance.deleted':
      delete documents[item.id]
      dropWhere(assignments, other => other.resource_instance_id === item.id)
      break
    case 'role_assignment.created':
    case 'role_assignment.updated':
      if (item.resource_instance_id !== null) assignments[item.id] = item
      break
    case 'role_assignment.deleted':
      delete assignments[item.id]
      break
    case 'user.deleted':
      dropWhere(assignments, other => other.user_id === item.id)
      break
    case 'role.deleted':
      dropWhere(assignments, other => other.role_id === item.id)
      break
    case 'tenant.deleted':
      dropWhere(documents, other => other.tenant_id === item.id)
      dropWhere(assignments, other => other.tenant_id === item.id)
      break
    case 'resource.deleted':
      dropWhere(documents, other => other.resource_id === item.id)
      dropWhere(assignments, other => !(other.resource_instance_id in documents))
  }
}

/** Yields the events of one connection in order, until the connection ends. */
async function* events() {
  const kinds = 'kinds=resource_instance,role_assignment'
  const answer = await fetch(`${facts}/changes?${kinds}`, {
    headers: { ...headers, 'last-event-id': index.lastId },
  })
  if (!answer.ok) throw new Error(`changes: ${answer.status}`)
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of answer.body) {
    rest += decoder.decode(bytes, { stream: true })
    const blocks = rest.split('\n\n')
    rest = blocks.pop()
    for (const block of blocks) {
      const fields = Object.fromEntries(
        block.split('\n').map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      )
      if (fields.data !== undefined) yield fields
    }
  }
}

async function follow() {
  for await (const { event, id, data } of events()) {
    if (event === 'reset') {
      await loadEverything()
      return
    }
    if (event.includes('.')) apply(JSON.parse(data))
    // The index now contains all changes up to this commit.
    if (id !== undefined && id !== index.lastId) {
      index.lastId = id
      await keep()
    }
  }
}

for (;;) {
  try {
    // Reading the file discards events of an incomplete commit.
    index = JSON.parse(await readFile(file, 'utf8').catch(() => 'null')) ?? { lastId: null }
    if (index.lastId === null) await loadEverything()
    await follow()
  } catch (error) {
    process.stderr.write(`${error.message}; trying again\n`)
  }
  await new Promise(resolve => setTimeout(resolve, 250))
}
