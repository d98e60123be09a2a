/** Models to look at in the console: one of ten types, as a company would have it, and one of a hundred, made through the interface. */
import type { ResourceCreate } from '#model/wire/resource.ts'

type Create = (type: ResourceCreate) => Promise<unknown>

const follows = (role: string, type: string, along: string) => ({
  role,
  on_resource: type,
  linked_by_relation: along,
})

const from = (...users_with_role: ReturnType<typeof follows>[]) => ({ users_with_role })

const acts = (...keys: readonly string[]) => Object.fromEntries(keys.map(key => [key, {}]))

/** Ten types with what a model may have: roles that extend, chains, two relations between the same types, a loop, a guard, one alone. */
export const TEN_TYPES: readonly ResourceCreate[] = [
  {
    key: 'organization',
    name: 'Organization',
    actions: acts('read', 'invite', 'bill'),
    roles: {
      member: { name: 'Member', permissions: ['read'] },
      owner: { name: 'Owner', permissions: ['invite', 'bill'], extends: ['member'] },
    },
    relations: {},
  },
  {
    key: 'team',
    name: 'Team',
    actions: acts('read', 'manage'),
    roles: {
      member: { name: 'Member', permissions: ['read'] },
      lead: {
        name: 'Lead',
        permissions: ['manage'],
        extends: ['member'],
        granted_to: from(follows('owner', 'organization', 'employer')),
      },
    },
    relations: { employer: 'organization' },
  },
  {
    key: 'project',
    name: 'Project',
    description: 'What a team works on.',
    actions: acts('read', 'update', 'archive'),
    roles: {
      viewer: { name: 'Viewer', permissions: ['read'], granted_to: from(follows('member', 'team', 'team')) },
      maintainer: {
        name: 'Maintainer',
        permissions: ['update', 'archive'],
        extends: ['viewer'],
        granted_to: from(follows('lead', 'team', 'team'), follows('owner', 'organization', 'owner')),
      },
    },
    relations: { team: 'team', owner: 'organization' },
    attributes: { stage: { type: 'string' }, budget: { type: 'number' } },
  },
  {
    key: 'folder',
    name: 'Folder',
    actions: acts('read', 'update', 'share', 'delete'),
    roles: {
      viewer: {
        name: 'Viewer',
        permissions: ['read'],
        granted_to: from(follows('viewer', 'project', 'project'), follows('viewer', 'folder', 'parent')),
      },
      editor: {
        name: 'Editor',
        permissions: ['update', 'share'],
        extends: ['viewer'],
        granted_to: from(follows('editor', 'folder', 'parent')),
      },
    },
    relations: { parent: 'folder', project: 'project' },
  },
  {
    key: 'document',
    name: 'Document',
    actions: acts('read', 'comment', 'update', 'share', 'delete'),
    roles: {
      viewer: {
        name: 'Viewer',
        permissions: ['read'],
        granted_to: {
          when: { no_direct_roles_on_object: true },
          ...from(follows('viewer', 'folder', 'parent')),
        },
      },
      commenter: { name: 'Commenter', permissions: ['comment'], extends: ['viewer'] },
      editor: {
        name: 'Editor',
        permissions: ['update', 'share'],
        extends: ['commenter'],
        granted_to: from(follows('editor', 'folder', 'parent')),
      },
    },
    relations: { parent: 'folder', template: 'folder' },
  },
  {
    key: 'comment',
    name: 'Comment',
    actions: acts('read', 'update'),
    roles: {
      reader: {
        name: 'Reader',
        permissions: ['read'],
        granted_to: from(follows('viewer', 'document', 'document')),
      },
      author: { name: 'Author', permissions: ['update'], extends: ['reader'] },
    },
    relations: { document: 'document' },
  },
  {
    key: 'repository',
    name: 'Repository',
    actions: acts('pull', 'push'),
    roles: {
      reader: {
        name: 'Reader',
        permissions: ['pull'],
        granted_to: from(follows('viewer', 'project', 'project')),
      },
      writer: {
        name: 'Writer',
        permissions: ['push'],
        extends: ['reader'],
        granted_to: from(follows('maintainer', 'project', 'project')),
      },
    },
    relations: { project: 'project' },
  },
  {
    key: 'pipeline',
    name: 'Pipeline',
    actions: acts('see', 'run', 'approve'),
    roles: {
      observer: {
        name: 'Observer',
        permissions: ['see'],
        granted_to: from(follows('reader', 'repository', 'source')),
      },
      operator: {
        name: 'Operator',
        permissions: ['run'],
        extends: ['observer'],
        granted_to: from(follows('writer', 'repository', 'source')),
      },
    },
    relations: { source: 'repository', environment_of_the_release: 'project' },
  },
  {
    key: 'invoice',
    name: 'Invoice',
    actions: acts('read', 'pay'),
    roles: {
      accountant: {
        name: 'Accountant',
        permissions: ['read', 'pay'],
        granted_to: from(follows('owner', 'organization', 'customer')),
      },
    },
    relations: { customer: 'organization' },
  },
  { key: 'announcement', name: 'Announcement', actions: acts('read', 'publish'), roles: {}, relations: {} },
]

const AREAS = ['sales', 'people', 'stock', 'support', 'finance', 'build', 'legal', 'media'] as const
const KINDS = [
  'area',
  'case',
  'file',
  'note',
  'task',
  'entry',
  'item',
  'report',
  'draft',
  'label',
  'view',
] as const

/** Six times a hundred types. */
export function sixHundredTypes(): readonly ResourceCreate[] {
  return Array.from({ length: 6 }, (_, index) => hundredTypes(`${index}`)).flat()
}

/**
 * A hundred types: eight areas of eleven, each a tree below what the company shares, and twelve that nothing joins. `mark` tells them from
 * another hundred.
 */
export function hundredTypes(mark = ''): readonly ResourceCreate[] {
  const roles = (parent: string | null) => ({
    viewer: {
      name: 'Viewer',
      permissions: ['read'],
      ...(parent === null ? {} : { granted_to: from(follows('viewer', parent, 'parent')) }),
    },
    editor: {
      name: 'Editor',
      permissions: ['update'],
      extends: ['viewer'],
      ...(parent === null ? {} : { granted_to: from(follows('editor', parent, 'parent')) }),
    },
  })
  const types: ResourceCreate[] = []
  const add = (key: string, parent: string | null, others: Readonly<Record<string, string>> = {}): void => {
    types.push({
      key,
      name: key,
      actions: acts('read', 'update', 'delete'),
      roles: roles(parent),
      relations: { ...(parent === null ? {} : { parent }), ...others },
    })
  }
  for (const [index, area] of AREAS.entries()) {
    for (const [at, kind] of KINDS.entries()) {
      const parent = at === 0 ? null : `${area}${mark}_${KINDS[Math.floor((at - 1) / 2)]!}`
      // Some areas are joined to the one before them.
      const neighbour = index % 3 === 1 && at === 3 ? { origin: `${AREAS[index - 1]!}${mark}_file` } : {}
      add(`${area}${mark}_${kind}`, parent, neighbour)
    }
  }
  for (let index = types.length; index < 100; index += 1) add(`single${mark}_${index}`, null)
  return types
}

/** One after the other: a type must be there before another one is joined to it. */
export async function createTypes(types: readonly ResourceCreate[], create: Create): Promise<void> {
  for (const type of types) await create(type)
}
