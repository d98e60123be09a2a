/**
 * Groups the operations of the API reference by the prefix of their paths, in the order in which readers need
 * the groups.
 */
import { assert } from '#model/assert.ts'

interface Tag {
  readonly name: string
  readonly description: string
  /** Path prefixes. If several match, the longest one counts. */
  readonly paths: readonly string[]
}

const SCHEMA = '/v2/schema/{proj_id}/{env_id}'
const FACTS = '/v2/facts/{proj_id}/{env_id}'
const RESOURCE = `${SCHEMA}/resources/{resource_id}`

const TAGS: readonly Tag[] = [
  {
    name: 'Decisions',
    description: 'May this user do this on that resource? What may they do? Who may?',
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
    description: 'The same questions in the form of the OpenID AuthZEN Authorization API 1.0.',
    paths: ['/access/v1', '/.well-known/authzen-configuration'],
  },
  {
    name: 'Groups',
    description: 'Groups of users: members, granted roles, groups in groups.',
    paths: [`${SCHEMA}/groups`],
  },
  {
    name: 'Resources',
    description: 'The types of what is protected, with their actions, attributes and relations.',
    paths: [`${SCHEMA}/resources`, `${SCHEMA}/users/attributes`],
  },
  {
    name: 'Roles',
    description: 'Roles in tenants and on resources: permissions, and which role follows from which.',
    paths: [`${SCHEMA}/roles`, `${SCHEMA}/bulk/roles`, `${RESOURCE}/roles`],
  },
  {
    name: 'Condition sets',
    description: 'Which users and which resources are meant, by their attributes; and the rules on them.',
    paths: [`${SCHEMA}/condition_sets`, `${FACTS}/set_rules`],
  },
  {
    name: 'Tenants',
    description: 'Tenants, and who has a role in them.',
    paths: [`${FACTS}/tenants`, `${FACTS}/bulk/tenants`, '/v1/tenants'],
  },
  {
    name: 'Users',
    description: 'Users and the roles they hold.',
    paths: [`${FACTS}/users`, `${FACTS}/bulk/users`, '/v1/users'],
  },
  {
    name: 'Role assignments',
    description: 'Which user holds which role, in a tenant or on an instance.',
    paths: [`${FACTS}/role_assignments`],
  },
  {
    name: 'Resource instances',
    description: 'What is protected: the instances of resources.',
    paths: [`${FACTS}/resource_instances`, `${FACTS}/bulk/resource_instances`],
  },
  {
    name: 'Relationship tuples',
    description: 'Which instance is related to which.',
    paths: [`${FACTS}/relationship_tuples`],
  },
  {
    name: 'Proxy configs',
    description: 'Which requests at a gateway stand for which questions.',
    paths: [`${FACTS}/proxy_configs`],
  },
  {
    name: 'Completion',
    description:
      'Which keys begin so, and what has a text as a part of its names, for fields that complete what one types.',
    paths: [`${FACTS}/key_completions`, `${FACTS}/key_searches`],
  },
  {
    name: 'Organization',
    description: 'The organization, the only one there is.',
    paths: ['/v2/orgs', '/v2/members'],
  },
  { name: 'Projects', description: 'Projects of the organization.', paths: ['/v2/projects'] },
  {
    name: 'Environments',
    description: 'Environments of a project; no data crosses from one to another.',
    paths: ['/v2/projects/{proj_id}/envs', `${SCHEMA}/model`],
  },
  {
    name: 'Changes',
    description: 'What changes in an environment, as it changes.',
    paths: [`${FACTS}/changes`],
  },
  {
    name: 'Audit',
    description: 'What was changed, by which key, when.',
    paths: ['/v2/audit-log'],
  },
  { name: 'Keys', description: 'API keys and what they are for.', paths: ['/v2/api-key'] },
  {
    name: 'Service',
    description:
      'Whether the service lives, is ready and hears of changes, its nodes and its metrics; this description and its reference.',
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

/** The tag of a path template. Throws if none matches; in that case, add a line to the table. */
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

/** Tags in the order of the document, without those that no operation uses. */
export function tagsAmong(used: ReadonlySet<string>) {
  return TAGS.filter(({ name }) => used.has(name)).map(({ name, description }) => ({ name, description }))
}

function isUnder(path: string, start: string): boolean {
  return path === start || path.startsWith(`${start}/`)
}
