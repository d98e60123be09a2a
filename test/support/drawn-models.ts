/** Models for the graph of the console, with ten or a hundred resource types. */
import type { Page } from 'playwright-core'
import type { ResourceCreate } from '#entities/resource.ts'

type Create = (type: ResourceCreate) => Promise<unknown>

const follows = (role: string, type: string, along: string) => ({
  role,
  on_resource: type,
  linked_by_relation: along,
})

const acts = (...keys: readonly string[]) => Object.fromEntries(keys.map(key => [key, {}]))

const capitalized = (key: string): string => key[0]!.toUpperCase() + key.slice(1)

/** The role that a role extends, and the roles of other resources from which it is derived. */
interface RoleParts {
  readonly extending?: string
  readonly from?: readonly ReturnType<typeof follows>[]
  readonly isGuarded?: boolean
}

type Roles = Readonly<Record<string, readonly [permissions: string, parts?: RoleParts]>>

/** A resource type in which each name is the key with a capital first letter. */
function drawn(key: string, actions: string, roles: Roles, relations: Readonly<Record<string, string>> = {}) {
  const made = Object.entries(roles).map(([role, [permissions, { extending, from, isGuarded } = {}]]) => {
    const when = isGuarded && { when: { no_direct_roles_on_object: true } }
    return [
      role,
      {
        name: capitalized(role),
        permissions: permissions.split(' '),
        ...(extending !== undefined && { extends: [extending] }),
        ...(from && { granted_to: { ...when, users_with_role: [...from] } }),
      },
    ]
  })
  const name = capitalized(key)
  return { key, name, actions: acts(...actions.split(' ')), roles: Object.fromEntries(made), relations }
}

/** Ten types with extended roles, chains, parallel relations, a loop, a condition and an isolated type. */
export const TEN_TYPES: readonly ResourceCreate[] = [
  drawn('organization', 'read invite bill', {
    member: ['read'],
    owner: ['invite bill', { extending: 'member' }],
  }),
  drawn(
    'team',
    'read manage',
    {
      member: ['read'],
      lead: ['manage', { extending: 'member', from: [follows('owner', 'organization', 'employer')] }],
    },
    { employer: 'organization' },
  ),
  {
    ...drawn(
      'project',
      'read update archive',
      {
        viewer: ['read', { from: [follows('member', 'team', 'team')] }],
        maintainer: [
          'update archive',
          {
            extending: 'viewer',
            from: [follows('lead', 'team', 'team'), follows('owner', 'organization', 'owner')],
          },
        ],
      },
      { team: 'team', owner: 'organization' },
    ),
    description: 'What a team works on.',
    attributes: { stage: { type: 'string' }, budget: { type: 'number' } },
  },
  drawn(
    'folder',
    'read update share delete',
    {
      viewer: [
        'read',
        { from: [follows('viewer', 'project', 'project'), follows('viewer', 'folder', 'parent')] },
      ],
      editor: ['update share', { extending: 'viewer', from: [follows('editor', 'folder', 'parent')] }],
    },
    { parent: 'folder', project: 'project' },
  ),
  drawn(
    'document',
    'read comment update share delete',
    {
      viewer: ['read', { from: [follows('viewer', 'folder', 'parent')], isGuarded: true }],
      commenter: ['comment', { extending: 'viewer' }],
      editor: ['update share', { extending: 'commenter', from: [follows('editor', 'folder', 'parent')] }],
    },
    { parent: 'folder', template: 'folder' },
  ),
  drawn(
    'comment',
    'read update',
    {
      reader: ['read', { from: [follows('viewer', 'document', 'document')] }],
      author: ['update', { extending: 'reader' }],
    },
    { document: 'document' },
  ),
  drawn(
    'repository',
    'pull push',
    {
      reader: ['pull', { from: [follows('viewer', 'project', 'project')] }],
      writer: ['push', { extending: 'reader', from: [follows('maintainer', 'project', 'project')] }],
    },
    { project: 'project' },
  ),
  drawn(
    'pipeline',
    'see run approve',
    {
      observer: ['see', { from: [follows('reader', 'repository', 'source')] }],
      operator: ['run', { extending: 'observer', from: [follows('writer', 'repository', 'source')] }],
    },
    { source: 'repository', environment_of_the_release: 'project' },
  ),
  drawn(
    'invoice',
    'read pay',
    { accountant: ['read pay', { from: [follows('owner', 'organization', 'customer')] }] },
    { customer: 'organization' },
  ),
  drawn('announcement', 'read publish', {}),
]

const AREAS = 'sales people stock support finance build legal media'.split(' ')
const KINDS = 'area case file note task entry item report draft label view'.split(' ')

export function sixHundredTypes(): readonly ResourceCreate[] {
  return Array.from({ length: 6 }, (_, index) => hundredTypes(`${index}`)).flat()
}

/** A hundred types: eight trees of eleven types and twelve isolated types. `mark` makes their keys unique. */
export function hundredTypes(mark = ''): readonly ResourceCreate[] {
  const types: ResourceCreate[] = []
  const add = (key: string, parent: string | null, others: Readonly<Record<string, string>> = {}): void => {
    const from = (role: string) => (parent === null ? {} : { from: [follows(role, parent, 'parent')] })
    const roles: Roles = {
      viewer: ['read', from('viewer')],
      editor: ['update', { extending: 'viewer', ...from('editor') }],
    }
    const relations = { ...(parent !== null && { parent }), ...others }
    types.push({ ...drawn(key, 'read update delete', roles, relations), name: key })
  }
  for (const [index, area] of AREAS.entries()) {
    for (const [at, kind] of KINDS.entries()) {
      const parent = at === 0 ? null : `${area}${mark}_${KINDS[Math.floor((at - 1) / 2)]!}`
      // Some trees are connected to the previous one.
      const neighbour = index % 3 === 1 && at === 3 ? { origin: `${AREAS[index - 1]!}${mark}_file` } : {}
      add(`${area}${mark}_${kind}`, parent, neighbour)
    }
  }
  for (let index = types.length; index < 100; index += 1) add(`single${mark}_${index}`, null)
  return types
}

/** Creates the types in order, because a type must exist before another one refers to it. */
export async function createTypes(types: readonly ResourceCreate[], create: Create): Promise<void> {
  for (const type of types) await create(type)
}

/** Pairs of boxes and line labels that overlap on the screen. */
export function overlaps(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const things = [...document.querySelectorAll('.graph-type .frame-line, .graph-link > rect')]
      .map(element => ({ of: element.parentNode.textContent, at: element.getBoundingClientRect() }))
      .filter(({ at }) => at.width > 0)
    const found = []
    for (const [index, one] of things.entries())
      for (const other of things.slice(index + 1))
        if (one.at.left < other.at.right - 1 && other.at.left < one.at.right - 1
          && one.at.top < other.at.bottom - 1 && other.at.top < one.at.bottom - 1)
          found.push(one.of + ' / ' + other.of)
    return found
  })()`)
}
