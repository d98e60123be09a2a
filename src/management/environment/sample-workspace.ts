/**
 * The sample data of a first start: a small company with nested teams, folders and documents. It is created
 * by regular operations. Running them again adds what is missing, so a crash before the end has no lasting
 * effect.
 */
import { AuthzError } from '#model/errors.ts'
import type { EnvironmentService } from './environment-service.ts'
import type { OperationInput, OperationName } from './operations.ts'

const tenant = 'default'

type SampleStep = {
  [Name in OperationName]: readonly [Name, OperationInput<Name>]
}[OperationName]

const STEPS: readonly SampleStep[] = [
  [
    'createResource',
    {
      body: {
        key: 'folder',
        name: 'Folder',
        actions: { read: {}, write: {} },
        roles: {
          viewer: { name: 'Viewer', permissions: ['read'] },
          editor: { name: 'Editor', permissions: ['read', 'write'] },
        },
      },
    },
  ],
  [
    'createResource',
    {
      body: {
        key: 'document',
        name: 'Document',
        actions: { read: {}, comment: {}, write: {} },
        relations: { parent: 'folder' },
        roles: {
          viewer: { name: 'Viewer', permissions: ['read'], granted_to: fromFolder('viewer') },
          editor: {
            name: 'Editor',
            permissions: ['comment', 'write'],
            extends: ['viewer'],
            granted_to: fromFolder('editor'),
          },
        },
      },
    },
  ],
  [
    'createTenantRole',
    { body: { key: 'auditor', name: 'Auditor', permissions: ['document:read', 'folder:read'] } },
  ],
  ...['alice', 'bob', 'carol', 'dave'].map(user),
  ...['company', 'engineering', 'platform'].map(group),
  // The platform team is part of engineering, engineering is part of the company.
  nest('engineering', 'platform'),
  nest('company', 'engineering'),
  join('company', 'alice'),
  join('engineering', 'bob'),
  ['createRoleAssignment', { body: { user: 'dave', role: 'auditor', tenant } }],
  place('handbook', 'welcome'),
  place('specs', 'roadmap'),
  grant('company', 'handbook', 'viewer'),
  grant('engineering', 'specs', 'editor'),
]

/** Adds the sample data to an environment. */
export async function loadSampleWorkspace(environment: EnvironmentService): Promise<void> {
  for (const [operation, input] of STEPS) {
    try {
      await environment.execute(operation, input)
    } catch (error) {
      if (!(error instanceof AuthzError) || error.code !== 'DUPLICATE_ENTITY') throw error
    }
  }
}

/** A check that is denied, for the first-start output, and below the change after which it is allowed. */
export const SAMPLE_QUESTION = {
  about: 'Check whether carol can write the roadmap:',
  path: '/allowed',
  body: { user: { key: 'carol' }, action: 'write', resource: { type: 'document', key: 'roadmap' } },
} as const

export const SAMPLE_CHANGE = {
  about:
    'Add her to the platform team, which belongs to engineering, a group that can edit the specs. Then check again:',
  method: 'PUT',
  path: '/v2/schema/default/default/groups/platform/users/carol',
  body: { tenant },
} as const

function fromFolder(role: string) {
  return { users_with_role: [{ role, on_resource: 'folder', linked_by_relation: 'parent' }] }
}

function user(key: string): SampleStep {
  return ['createUser', { body: { key, email: `${key}@example.com` } }]
}

function group(key: string): SampleStep {
  return ['createGroup', { body: { group_instance_key: key, group_tenant: tenant } }]
}

function nest(outer: string, inner: string): SampleStep {
  return ['assignGroup', { params: { group_instance_key: outer }, body: { group_instance_key: inner } }]
}

function join(groupKey: string, userKey: string): SampleStep {
  return ['addGroupMember', { params: { group_instance_key: groupKey, user_id: userKey }, body: { tenant } }]
}

function place(folder: string, document: string): SampleStep {
  return [
    'createRelationshipTuple',
    { body: { subject: `folder:${folder}`, relation: 'parent', object: `document:${document}`, tenant } },
  ]
}

function grant(groupKey: string, folder: string, role: string): SampleStep {
  return [
    'addGroupRole',
    {
      params: { group_instance_key: groupKey },
      body: { role, resource: 'folder', resource_instance: folder, tenant },
    },
  ]
}
