/**
 * A search index that is kept right by the stream of changes: which documents there are, in which tenant, and who has a role on them. It runs on
 * Node 22 with nothing else, as an example of how to do the same with the index of your choice.
 *
 *     VERDICT_URL=http://localhost:7766 VERDICT_KEY=… node docs/changes/search-index.mjs index.json
 *
 * What makes it right, whoever is killed when:
 * - The index and the id up to which it has been told are written together, here as one file that is renamed into its place.
 * - It is written when a commit is whole, which an `id:` says. What comes of a commit before is kept in memory alone.
 * - Each event says what is now, so hearing one again changes nothing.
 * - After `reset`, and at the first start, everything is loaded anew, and the stream goes on from the state of the first page that was loaded:
 *   what changes while the others are read is told again.
 */
import { readFile, rename, writeFile } from 'node:fs/promises'

const [, , file = 'index.json'] = process.argv
const { VERDICT_URL: url = 'http://localhost:7766', VERDICT_KEY: apiKey } = process.env
const PROJECT = process.env.VERDICT_PROJECT ?? 'default/default'
const facts = `${url}/v2/facts/${PROJECT}`
const headers = { authorization: `Bearer ${apiKey}` }

/** The documents by id, each with who has a role on it. */
let index = { lastId: null, documents: {}, assignments: {} }

async function keep() {
  await writeFile(`${file}.new`, JSON.stringify(index))
  await rename(`${file}.new`, file)
}

/** All pages of a list, and the state of the first. */
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
    // The older of the two states: what comes behind it may be told again.
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

/** What a change means to the index. A removal takes along what docs/change-stream.md says. */
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

/** The events of one connection, in order; ends with it. */
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
    // Everything up to there is in the index now.
    if (id !== undefined && id !== index.lastId) {
      index.lastId = id
      await keep()
    }
  }
}

for (;;) {
  try {
    // What was heard of a commit that did not come whole is not in the file.
    index = JSON.parse(await readFile(file, 'utf8').catch(() => 'null')) ?? { lastId: null }
    if (index.lastId === null) await loadEverything()
    await follow()
  } catch (error) {
    process.stderr.write(`${error.message}; trying again\n`)
  }
  await new Promise(resolve => setTimeout(resolve, 250))
}
