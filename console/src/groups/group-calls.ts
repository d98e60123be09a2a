/** What these pages ask of the interface: groups, who is in them, what is in them, what they are granted. */
import { useMemo } from 'react'
import { answerOf, onlyAs, type Schemas, service, taggedAnswerOf, userInPath } from '../interface/client.ts'
import { asSeen, dropped, type Grant, onlyWith } from '../interface/granted.ts'
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
    /** With its first members and roles, and the tag of all that. */
    readWhole: (group: string) =>
      taggedAnswerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}', { params: at(group) }),
      ),
    /** `tag` null: however it is. */
    remove: (group: string, tag: string | null) =>
      answerOf(
        service.DELETE('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}', {
          params: { ...at(group), header: onlyAs(tag) },
        }),
      ),
    members: (group: string, query: PageQuery, signal?: AbortSignal) =>
      answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/users', {
          params: { ...at(group), query },
          ...(signal && { signal }),
        }),
      ),
    membership: (group: Keyed & Pick<Group, 'group_tenant'>, user: string): Grant => {
      const address = async () => ({
        path: { ...at(referenceOf(group)).path, user_id: await userInPath(place, user) },
      })
      return {
        put: async (end, seen) =>
          answerOf(
            service.PUT('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/users/{user_id}', {
              params: { ...(await address()), header: asSeen(seen) },
              body: { tenant: group.group_tenant, expires_at: end },
            }),
          ),
        drop: async seen =>
          dropped(
            answerOf(
              service.DELETE('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/users/{user_id}', {
                params: { ...(await address()), header: onlyWith(seen) },
              }),
            ),
          ),
      }
    },
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
    nesting: ({ child, parent }: Nesting): Grant => ({
      put: (end, seen) =>
        answerOf(
          service.PUT('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/assign_group', {
            params: { ...at(parent), header: asSeen(seen) },
            body: { group_instance_key: child, expires_at: end },
          }),
        ),
      drop: seen =>
        dropped(
          answerOf(
            service.DELETE('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/assign_group', {
              params: { ...at(parent), header: onlyWith(seen) },
              body: { group_instance_key: child },
            }),
          ),
        ),
    }),
    roles: (group: string, query: PageQuery, signal?: AbortSignal) =>
      answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/roles', {
          params: { ...at(group), query },
          ...(signal && { signal }),
        }),
      ),
    granted: (group: Group, { type, instance, role }: Granted): Grant => {
      const body = { role, resource: type, resource_instance: instance, tenant: group.group_tenant }
      return {
        put: (end, seen) =>
          answerOf(
            service.POST('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/roles', {
              params: { ...at(referenceOf(group)), header: asSeen(seen) },
              body: { ...body, expires_at: end },
            }),
          ),
        drop: seen =>
          dropped(
            answerOf(
              service.DELETE('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/roles', {
                params: { ...at(referenceOf(group)), header: onlyWith(seen) },
                body,
              }),
            ),
          ),
      }
    },
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

/** One group in another, each as paths name it. */
export interface Nesting {
  readonly child: string
  readonly parent: string
}
