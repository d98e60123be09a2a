/** What these pages ask of the interface: groups, who is in them, what is in them, what they are granted. */
import { useMemo } from 'react'
import { answerOf, type Schemas, service } from '../interface/client.ts'
import { groupReference } from '../shell/links.ts'
import { type Place, usePlace } from '../shell/place.tsx'

export type Group = Schemas['GroupRecord']
export type GroupLink = Schemas['GroupLink']
export type GroupRole = Schemas['GroupRole']
export type Member = Schemas['GroupUser']

interface PageQuery {
  readonly page: number
  readonly per_page: number
}

/** RFC 3339; null: it lasts. */
export type End = string | null

type Keyed = Pick<Group, 'group_instance_key' | 'group_resource_type_key'>

/** How a group is named in paths and to readers. */
export function referenceOf({ group_instance_key: key, group_resource_type_key: type }: Keyed): string {
  return groupReference(type, key)
}

/** The same, of what somebody typed, with its type or without. */
export function referenceIn(typed: string): string {
  const colon = typed.indexOf(':')
  return colon < 0 ? typed : groupReference(typed.slice(0, colon), typed.slice(colon + 1))
}

/** `type:key` of the group as an instance. */
function instanceOf({ group_instance_key: key, group_resource_type_key: type }: Keyed): string {
  return `${type}:${key}`
}

/** What a grant is on, as `type:key`. */
export function objectOf({ resource, resource_instance: instance }: GroupRole): string {
  return `${resource.key}:${instance.key}`
}

export type GroupCalls = ReturnType<typeof groupCalls>

export function useGroupCalls(): GroupCalls {
  const { path } = usePlace()
  return useMemo(() => groupCalls(path), [path])
}

function groupCalls(place: Place['path']) {
  const at = (group: string) => ({ path: { ...place, group_instance_key: group } })
  return {
    list: (
      query: PageQuery & {
        readonly search?: string
        readonly tenant?: string
        readonly top_level?: boolean
        readonly include_total_count?: boolean
        readonly user?: string
      },
      signal?: AbortSignal,
    ) =>
      answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/groups/direct', {
          params: { path: place, query },
          ...(signal && { signal }),
        }),
      ),
    read: (group: string, signal: AbortSignal) =>
      answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/groups/direct/{group_instance_key}', {
          params: at(group),
          signal,
        }),
      ),
    create: (key: string, tenant: string) =>
      answerOf(
        service.POST('/v2/schema/{proj_id}/{env_id}/groups', {
          params: { path: place },
          body: { group_instance_key: key, group_tenant: tenant },
        }),
      ),
    remove: (group: string) =>
      answerOf(
        service.DELETE('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}', { params: at(group) }),
      ),
    members: (group: string, query: PageQuery, signal?: AbortSignal) =>
      answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/users', {
          params: { ...at(group), query },
          ...(signal && { signal }),
        }),
      ),
    /** The end of the membership that is there; undefined: there is none. */
    membershipEnd: async (group: Group, user: string): Promise<End | undefined> => {
      const held = await answerOf(
        service.GET('/v2/facts/{proj_id}/{env_id}/role_assignments', {
          params: {
            path: place,
            query: { user: [user], role: ['member'], resource_instance: instanceOf(group), per_page: 1 },
          },
        }),
      )
      const [membership] = 'data' in held ? held.data : held
      return membership?.expires_at
    },
    putMember: (group: Group, user: string, end: End) =>
      answerOf(
        service.PUT('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/users/{user_id}', {
          params: { path: { ...at(referenceOf(group)).path, user_id: user } },
          body: { tenant: group.group_tenant, expires_at: end },
        }),
      ),
    dropMember: (group: Group, user: string) =>
      answerOf(
        service.DELETE('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/users/{user_id}', {
          params: { path: { ...at(referenceOf(group)).path, user_id: user } },
        }),
      ),
    children: (group: string, query: PageQuery, signal?: AbortSignal) =>
      answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/children', {
          params: { ...at(group), query },
          ...(signal && { signal }),
        }),
      ),
    parents: (group: string, query: PageQuery, signal?: AbortSignal) =>
      answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/parents', {
          params: { ...at(group), query },
          ...(signal && { signal }),
        }),
      ),
    /** Puts a group into another one, or changes when that ends. */
    nest: (parent: string, child: string, end: End) =>
      answerOf(
        service.PUT('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/assign_group', {
          params: at(parent),
          body: { group_instance_key: child, expires_at: end },
        }),
      ),
    unnest: (parent: string, child: string) =>
      answerOf(
        service.DELETE('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/assign_group', {
          params: at(parent),
          body: { group_instance_key: child },
        }),
      ),
    roles: (group: string, query: PageQuery, signal?: AbortSignal) =>
      answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/roles', {
          params: { ...at(group), query },
          ...(signal && { signal }),
        }),
      ),
    /** Grants a role, or changes when that ends. */
    grant: (group: Group, { type, instance, role, end }: Granted & { readonly end: End }) =>
      answerOf(
        service.POST('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/roles', {
          params: at(referenceOf(group)),
          body: {
            role,
            resource: type,
            resource_instance: instance,
            tenant: group.group_tenant,
            expires_at: end,
          },
        }),
      ),
    takeBack: (group: Group, { type, instance, role }: Granted) =>
      answerOf(
        service.DELETE('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/roles', {
          params: at(referenceOf(group)),
          body: { role, resource: type, resource_instance: instance, tenant: group.group_tenant },
        }),
      ),
    /** Rejects where there is no such instance: a grant would make one. */
    requireInstance: (type: string, instance: string) =>
      answerOf(
        service.GET('/v2/facts/{proj_id}/{env_id}/resource_instances/{instance_id}', {
          params: { path: { ...place, instance_id: `${type}:${instance}` } },
        }),
      ),
  }
}

export interface Granted {
  readonly type: string
  readonly instance: string
  readonly role: string
}

/** The lists of a group are looked through for one thing as far as this. */
const LOOK_UP = { per_page: 100, pages: 10 } as const

/** The first that fits, in a list that comes in pages; undefined: there is none among its first thousand. */
export async function findInPages<Item>(
  load: (page: PageQuery) => Promise<{ readonly data: readonly Item[] }>,
  fits: (item: Item) => boolean,
): Promise<Item | undefined> {
  for (let page = 1; page <= LOOK_UP.pages; page += 1) {
    const { data } = await load({ page, per_page: LOOK_UP.per_page })
    const found = data.find(item => fits(item))
    if (found !== undefined || data.length < LOOK_UP.per_page) return found
  }
  return undefined
}
