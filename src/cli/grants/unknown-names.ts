/**
 * Finds the unknown names in a check and suggests similar existing names. The service denies a check with an
 * unknown name, so users could mistake a typo for a missing permission.
 */
import { type Static, type TSchema, Type } from 'typebox'
import { nearestName } from '#model/nearest-name.ts'
import { envelope } from '#model/wire/paging.ts'
import { formatInstanceReference, parseInstanceReference } from '#model/instance-reference.ts'
import { ListedGroupEnvelope } from '#entities/group.ts'
import { type Api, ask, resultOf } from '#cli/session/api.ts'
import type { Grant } from './grants.ts'
import { GROUP_TYPE } from '#cli/model-file/environment-state.ts'
import { suggestion } from '#cli/model-file/findings.ts'
import type { SingleQuestion } from '#cli/questions/question.ts'

/** Number of names per page in requests that search for similar names. */
const PAGE_SIZE = 100

const Named = Type.Object({ key: Type.String() })
const NamedList = Type.Union([Type.Array(Named), envelope(Named)])
const ResourceRoles = Type.Object({ key: Type.String(), roles: Type.Record(Type.String(), Type.Unknown()) })
const ResourceActions = Type.Object({
  key: Type.String(),
  actions: Type.Record(Type.String(), Type.Unknown()),
})

/**
 * Returns one sentence per unknown name, for example `there is no user "ana"; did you mean "anna"?`. `place`:
 * project and environment as in paths. The number of requests does not depend on the amount of data. Throws
 * `ApiError` if a request fails.
 */
export async function unknownNames(
  api: Api,
  place: string,
  { user, action, resource, tenant }: SingleQuestion,
): Promise<string[]> {
  const instance = parseInstanceReference(resource)
  const type = instance?.type ?? resource
  const types = `/v2/schema/${place}/resources`
  const facts = `/v2/facts/${place}`
  const known = await found(api, `${types}/${encodeURIComponent(type)}`, ResourceActions, type)
  const sentences: (string | null)[] = []
  if (known === null) {
    const names = await namesIn(api, types, '')
    sentences.push(`there is no resource ${JSON.stringify(type)}${suggestion(type, names)}`)
  } else if (!Object.hasOwn(known.actions, action)) {
    const near = suggestion(action, Object.keys(known.actions))
    sentences.push(`there is no action ${JSON.stringify(action)} of ${type}${near}`)
  }
  sentences.push(await unknownFact(api, `${facts}/users`, { what: 'user', key: user, name: user }))
  if (tenant !== undefined) {
    sentences.push(await unknownFact(api, `${facts}/tenants`, { what: 'tenant', key: tenant, name: tenant }))
  }
  if (known !== null && instance !== null) {
    const { key } = instance
    const list = `${facts}/resource_instances?resource=${encodeURIComponent(type)}`
    sentences.push(await unknownFact(api, list, { what: 'instance', key, name: resource }))
  }
  return sentences.filter(text => text !== null)
}

/** Like `unknownNames`, for the names in a grant. */
export async function unknownInGrant(
  api: Api,
  place: string,
  { holder, isGroup, role, instance, tenant }: Grant,
): Promise<string[]> {
  const schema = `/v2/schema/${place}`
  const facts = `/v2/facts/${place}`
  const sentences: (string | null)[] = []
  if (isGroup) sentences.push(await unknownGroup(api, `${schema}/groups/direct`, holder))
  else sentences.push(await unknownFact(api, `${facts}/users`, { what: 'user', key: holder, name: holder }))
  if (instance === null) {
    sentences.push(await unknownFact(api, `${schema}/roles`, { what: 'tenant role', key: role, name: role }))
  } else {
    const { type, key } = instance
    const types = `${schema}/resources`
    const known = await found(api, `${types}/${encodeURIComponent(type)}`, ResourceRoles, type)
    if (known === null) {
      const names = await namesIn(api, types, '')
      sentences.push(`there is no resource ${JSON.stringify(type)}${suggestion(type, names)}`)
    } else {
      if (!Object.hasOwn(known.roles, role)) {
        const near = suggestion(role, Object.keys(known.roles))
        sentences.push(`there is no role ${JSON.stringify(role)} of ${type}${near}`)
      }
      if (tenant === undefined) {
        const list = `${facts}/resource_instances?resource=${encodeURIComponent(type)}`
        const name = formatInstanceReference(instance)
        sentences.push(await unknownFact(api, list, { what: 'instance', key, name }))
      }
    }
  }
  if (tenant !== undefined)
    sentences.push(await unknownFact(api, `${facts}/tenants`, { what: 'tenant', key: tenant, name: tenant }))
  return sentences.filter(text => text !== null)
}

/** Like `unknownFact`, for a group. The name of the group can be given with or without its type. */
async function unknownGroup(api: Api, list: string, name: string): Promise<string | null> {
  const { status } = await api.send('GET', `${list}/${encodeURIComponent(name)}`)
  if (status !== 404) return null
  const page = await ask(api, ListedGroupEnvelope, 'GET', `${list}?per_page=${PAGE_SIZE}`)
  const names = page.data.map(({ group_instance_key: key, group_resource_type_key: type }) =>
    type === GROUP_TYPE && !name.includes(':') ? key : `${type}:${key}`,
  )
  return `there is no group ${JSON.stringify(name)}${suggestion(name, names)}`
}

interface NamedEntity {
  readonly what: string
  readonly key: string
  /** Name of the object in paths and messages. */
  readonly name: string
}

/**
 * Returns a sentence if the fact does not exist, and null if it exists. `list`: path of the list that
 * contains facts of this kind, optionally with a filter.
 */
async function unknownFact(api: Api, list: string, { what, key, name }: NamedEntity): Promise<string | null> {
  const [path = ''] = list.split('?', 1)
  if ((await found(api, `${path}/${encodeURIComponent(name)}`, Named, key)) !== null) return null
  const prefix = name.slice(0, name.length - key.length)
  // The key is split into three parts, and similar names are found by searching for each part. If a typo
  // affects at most two letters, at least one part is unchanged. The empty part finds the first page of all
  // names. If there are few names, this page contains all of them.
  const third = Math.ceil(key.length / 3)
  const thirds = [key.slice(0, third), key.slice(third, 2 * third), key.slice(2 * third)]
  const parts = ['', ...thirds.filter(part => part !== '')]
  const pages = await Promise.all(parts.map(part => namesIn(api, list, part)))
  const near = nearestName(key, pages.flat())
  const hint = near === null ? '' : `; did you mean ${JSON.stringify(`${prefix}${near}`)}?`
  return `there is no ${what} ${JSON.stringify(name)}${hint}`
}

/**
 * Returns the object at a path. The text in the path could also be the ID of another object. Therefore the
 * function returns null if the key of the object is not the given one.
 */
async function found<Schema extends TSchema>(
  api: Api,
  path: string,
  schema: Schema,
  key: string,
): Promise<Static<Schema> | null> {
  const answer = await api.send('GET', path)
  if (answer.status === 404) return null
  const result = resultOf(schema, answer, `GET ${path}`)
  return (result as { readonly key: string }).key === key ? result : null
}

/** Returns the first keys in a list that contain the given text. */
async function namesIn(api: Api, list: string, text: string): Promise<string[]> {
  const search = text === '' ? '' : `&search=${encodeURIComponent(text)}`
  const path = `${list}${list.includes('?') ? '&' : '?'}per_page=${PAGE_SIZE}${search}`
  const answer = await ask(api, NamedList, 'GET', path)
  return (Array.isArray(answer) ? answer : answer.data).map(({ key }) => key)
}
