/**
 * Groups the operations of the API reference by the prefixes of their paths. The table lists the groups in
 * the order in which readers need them.
 */
import { assert } from '#model/assert.ts'

interface Tag {
  readonly name: string
  readonly description: string
  /**
   * Prefixes of the paths in this group. If prefixes of several groups match a path, the longest prefix
   * determines the group.
   */
  readonly paths: readonly string[]
}

const SCHEMA = '/v2/schema/{proj_id}/{env_id}'
const FACTS = '/v2/facts/{proj_id}/{env_id}'
const RESOURCE = `${SCHEMA}/resources/{resource_id}`

const TAGS: readonly Tag[] = [
  {
    name: 'Decisions',
    description: 'Checks, effective permissions of a user, and users with access to a resource.',
    paths: [
      '/allowed',
      '/allowed_url',
      '/user-permissions',
      '/authorized_users',
      '/user-tenants',
      '/nginx_allowed',
      '/kong',
      '/local/role_assignments',
    ],
  },
  {
    name: 'AuthZEN',
    description: 'The same checks and searches in the form of the OpenID AuthZEN Authorization API 1.0.',
    paths: ['/access/v1', '/.well-known/authzen-configuration'],
  },
  {
    name: 'Groups',
    description: 'Groups of users: members, granted roles and nested groups.',
    paths: [`${SCHEMA}/groups`],
  },
  {
    name: 'Resources',
    description: 'Types of protected resources, with their actions, attributes and relations.',
    paths: [`${SCHEMA}/resources`, `${SCHEMA}/users/attributes`],
  },
  {
    name: 'Roles',
    description: 'Roles in tenants and on resources: permissions and derivations.',
    paths: [`${SCHEMA}/roles`, `${SCHEMA}/bulk/roles`, `${RESOURCE}/roles`],
  },
  {
    name: 'Condition sets',
    description: 'Sets of users and resources that are selected by attributes, and rules on them.',
    paths: [`${SCHEMA}/condition_sets`, `${FACTS}/set_rules`],
  },
  {
    name: 'Tenants',
    description: 'Tenants and the users with roles in them.',
    paths: [`${FACTS}/tenants`, `${FACTS}/bulk/tenants`, '/v1/tenants'],
  },
  {
    name: 'Users',
    description: 'Users and their roles.',
    paths: [`${FACTS}/users`, `${FACTS}/bulk/users`, '/v1/users'],
  },
  {
    name: 'Role assignments',
    description: 'Roles of users in tenants and on instances.',
    paths: [`${FACTS}/role_assignments`],
  },
  {
    name: 'Resource instances',
    description: 'Protected instances of resources.',
    paths: [`${FACTS}/resource_instances`, `${FACTS}/bulk/resource_instances`],
  },
  {
    name: 'Relationship tuples',
    description: 'Relationships between instances.',
    paths: [`${FACTS}/relationship_tuples`],
  },
  {
    name: 'Proxy configs',
    description: 'Mapping of requests at a gateway to checks.',
    paths: [`${FACTS}/proxy_configs`],
  },
  {
    name: 'Completion',
    description:
      'Keys with a prefix, and entities whose names contain a text, for completion in input fields.',
    paths: [`${FACTS}/key_completions`, `${FACTS}/key_searches`],
  },
  {
    name: 'Organization',
    description: 'The only organization.',
    paths: ['/v2/orgs'],
  },
  {
    name: 'Members',
    description: 'Persons who can sign in, and their permissions on projects and environments.',
    paths: ['/v2/members', '/v2/member_groups'],
  },
  { name: 'Projects', description: 'Projects of the organization.', paths: ['/v2/projects'] },
  {
    name: 'Environments',
    description: 'Environments of a project. They share no data.',
    paths: ['/v2/projects/{proj_id}/envs', `${SCHEMA}/model`],
  },
  {
    name: 'Changes',
    description: 'Stream of the changes of an environment.',
    paths: [`${FACTS}/changes`],
  },
  {
    name: 'Audit',
    description: 'Log of changes, with API key and time.',
    paths: ['/v2/audit-log'],
  },
  { name: 'Keys', description: 'API keys and their scopes.', paths: ['/v2/api-key'] },
  {
    name: 'Sign-in',
    description: 'Sign-in of people at an OpenID Connect issuer, for the console.',
    paths: ['/v2/sign-in'],
  },
  {
    name: 'Sessions',
    description: 'Sessions of members. The paths exist only if sign-in is configured.',
    paths: ['/v2/session', '/v2/sessions'],
  },
  {
    name: 'Service',
    description:
      'Health, readiness and freshness of the service, its nodes and metrics, this description and its reference.',
    paths: [
      '/healthy',
      '/ready',
      '/fresh',
      '/metrics',
      '/v2/nodes',
      '/openapi.json',
      '/',
      '/docs',
      '/console',
      '/v2/backup',
    ],
  },
]

/**
 * Returns the group of a path template. Throws if no prefix matches. In that case, add a line to the table.
 */
export function tagOf(path: string): string {
  let best: { readonly name: string; readonly length: number } | null = null
  for (const { name, paths } of TAGS) {
    for (const start of paths.filter(candidate => isUnder(path, candidate))) {
      if (best === null || start.length > best.length) best = { name, length: start.length }
    }
  }
  assert(best !== null, `no tag for ${path}`)
  return best.name
}

/** Groups in the order of the document. Groups that no operation uses are omitted. */
export function tagsAmong(used: ReadonlySet<string>) {
  return TAGS.filter(({ name }) => used.has(name)).map(({ name, description }) => ({ name, description }))
}

function isUnder(path: string, start: string): boolean {
  return path === start || path.startsWith(`${start}/`)
}
