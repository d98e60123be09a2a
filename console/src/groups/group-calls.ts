/** API calls of the group pages: groups, their members, nested groups and grants. */
import { useMemo } from 'react'
import { answerOf, onlyAs, type Schemas, service, taggedAnswerOf, userInPath } from '../interface/client.ts'
import { asSeen, dropped, type Grant, onlyWith } from '../interface/granted.ts'
import { groupReference } from '../shell/links.ts'
import { type CurrentEnvironment, useCurrentEnvironment } from '../shell/current-environment.tsx'

export type Group = Schemas['GroupRecord']
export type GroupLink = Schemas['GroupLink']
export type GroupRole = Schemas['GroupRole']
export type Member = Schemas['GroupUser']

interface PageQuery {
  readonly page: number
  readonly per_page: number
}

type Keyed = Pick<Group, 'group_instance_key' | 'group_resource_type_key'>

/** Name of a group, which is used in paths and in the user interface. */
export function referenceOf({ group_instance_key: key, group_resource_type_key: type }: Keyed): string {
  return groupReference(type, key)
}

/** Converts typed text, with or without a type, to the name of a group. */
export function referenceIn(typed: string): string {
  const colon = typed.indexOf(':')
  return colon < 0 ? typed : groupReference(typed.slice(0, colon), typed.slice(colon + 1))
}

/** Object of a grant as `type:key`. */
export function objectOf({ resource, resource_instance: instance }: GroupRole): string {
  return `${resource.key}:${instance.key}`
}

export type GroupCalls = ReturnType<typeof groupCalls>

export function useGroupCalls(): GroupCalls {
  const { path } = useCurrentEnvironment()
  return useMemo(() => groupCalls(path), [path])
}

function groupCalls(path: CurrentEnvironment['path']) {
  const at = (group: string) => ({ path: { ...path, group_instance_key: group } })
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
          params: { path, query },
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
          params: { path },
          body: { group_instance_key: key, group_tenant: tenant },
        }),
      ),
    /** Reads a group with its first members and roles. The returned `ETag` covers all of them. */
    readWhole: (group: string) =>
      taggedAnswerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}', { params: at(group) }),
      ),
    /** `tag` is the `ETag` that the group must have. If it is null, the group is deleted in any case. */
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
        path: { ...at(referenceOf(group)).path, user_id: await userInPath(path, user) },
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
    /** Rejects if the instance does not exist. Without this check, the grant would create the instance. */
    requireInstance: (type: string, instance: string) =>
      answerOf(
        service.GET('/v2/facts/{proj_id}/{env_id}/resource_instances/{instance_id}', {
          params: { path: { ...path, instance_id: `${type}:${instance}` } },
        }),
      ),
  }
}

export interface Granted {
  readonly type: string
  readonly instance: string
  readonly role: string
}

/** The nesting of one group in another. Both groups have their names in paths. */
export interface Nesting {
  readonly child: string
  readonly parent: string
}
