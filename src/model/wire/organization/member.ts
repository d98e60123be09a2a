/**
 * API schemas of members, their permissions and invitations, and of member groups (administration.md M2 to
 * M11).
 */
import { type Static, Type } from 'typebox'
import { EMAIL_LENGTH_MAX } from '#model/limits.ts'
import {
  AccessLevel,
  AttributeMap,
  moment,
  nullable,
  optional,
  timeFields,
  Timestamp,
  Uuid,
} from '#model/wire/common-fields.ts'
import { pagingQuery, SearchText } from '#model/wire/paging.ts'
import { Reference, ShortKey } from '#model/wire/references.ts'
import { ApiKeyObjectType } from './api-key.ts'
import { limitFields, shownLimits } from './delegation.ts'

/** Levels that a member can have. The level `decide` is for keys of services. */
export const MEMBER_LEVELS = ['no_access', 'read', 'write_facts', 'write', 'admin'] as const
const MemberLevel = Type.Enum(MEMBER_LEVELS, {
  description: 'Level of a member on an object. `no_access` gives nothing and reduces no other permission.',
})

/** A text of the issuer. */
const memberText = () => Type.String({ description: 'As the issuer stated it at the last sign-in.' })

/** A level on the organization, a project or an environment. */
export const MemberPermission = Type.Object({
  /** The caller's own organization. Other values are rejected. */
  organization_id: optional(Reference),
  /** Project and environment, each by key or id. */
  project_id: optional(Reference),
  environment_id: optional(Reference),
  object_type: ApiKeyObjectType,
  access_level: MemberLevel,
  /** Only on an environment. */
  ...limitFields,
})
export type MemberPermission = Static<typeof MemberPermission>

export const MemberPermissions = Type.Array(MemberPermission, {
  minItems: 1,
  description: 'Permissions, at most one on each object.',
})

/** A permission as reads show it. */
export const MemberGrant = Type.Object({
  organization_id: Uuid,
  organization_key: ShortKey,
  organization_name: Type.String(),
  project_id: nullable(Uuid),
  project_key: nullable(ShortKey),
  project_name: nullable(Type.String()),
  environment_id: nullable(Uuid),
  environment_key: nullable(ShortKey),
  environment_name: nullable(Type.String()),
  object_type: ApiKeyObjectType,
  access_level: AccessLevel,
  ...shownLimits,
  via: Type.Enum(['own', 'group', 'settings'], {
    description:
      'Origin: the member itself, a member group (while a session of the member is running), or `OIDC_OWNERS` and `OIDC_OWNER_GROUPS`.',
  }),
})
export type MemberGrant = Static<typeof MemberGrant>

export const grantsCut = Type.Boolean({
  description: 'Whether some permissions of groups do not count, because there are too many.',
})

const MemberIdentity = Type.Object({
  user_id: Type.String({ description: 'The same as `sub`.' }),
  provider: Type.String({ description: 'The issuer.' }),
  sub: Type.String({ description: 'The subject at the issuer.' }),
  email: nullable(memberText()),
  email_verified: Type.Boolean(),
  auth0_info: Type.Object({}, { description: 'Always empty.' }),
})

const MemberInvitation = Type.Object({
  id: Uuid,
  organization_id: Uuid,
  member_id: Uuid,
  email: Type.String(),
  invite_code: { ...Uuid, description: 'The same as `id`. It does not open the invitation.' },
  created_at: Timestamp,
  expires_at: moment('Time until which the invitation can be accepted.'),
  status: Type.Enum(['pending', 'failed'], { description: '`failed`: it has expired.' }),
  failed_reason: nullable(Type.String()),
  invite_url: Type.Optional(
    Type.String({
      description: 'Link with which the person signs in. Only in the response that creates it.',
    }),
  ),
})

/** A person who can sign in. */
export const Member = Type.Object({
  id: Uuid,
  email: nullable(memberText()),
  email_verified: Type.Boolean(),
  name: nullable(memberText()),
  given_name: nullable(memberText()),
  family_name: nullable(memberText()),
  picture: nullable(Type.String({ description: 'Always null.' })),
  is_superuser: Type.Boolean({ description: 'Always false.' }),
  is_onboarding: Type.Boolean({ description: 'Always false.' }),
  onboarding_step: Type.Literal('done'),
  created_at: Timestamp,
  last_login: nullable(Timestamp),
  last_ip: Type.Literal('0.0.0.0', { description: 'Addresses are not stored.' }),
  logins_count: Type.Integer({ minimum: 0 }),
  identities: Type.Array(MemberIdentity, { description: 'Empty until the first sign-in.' }),
  invite: nullable(MemberInvitation),
  settings: AttributeMap,
  grants: Type.Array(MemberGrant, {
    description: 'The permissions that concern what the caller reaches.',
  }),
  grants_cut: Type.Optional(grantsCut),
})
export type Member = Static<typeof Member>

/** List of members. It is always an array without an envelope. */
export const MemberList = Type.Array(Member)

/** Lists of members by one project or environment contain the members with a permission that concerns it. */
export const MembersQuery = Type.Object({
  ...pagingQuery,
  search: Type.Optional(SearchText),
  project_id: Type.Optional(Reference),
  env_id: Type.Optional(Reference),
})
export type MembersQuery = Static<typeof MembersQuery>

export const OrganizationMemberPath = Type.Object({
  member_id: {
    ...Reference,
    description: 'The id of a member, or its e-mail address if it is invited or the issuer has verified it.',
  },
})
export type OrganizationMemberPath = Static<typeof OrganizationMemberPath>

const Email = Type.String({
  maxLength: EMAIL_LENGTH_MAX,
  pattern: '^[^@\\s]+@[^@\\s]+$',
  description: 'Invites this address, unless `subject` is given. The response contains the link.',
})

/**
 * Permissions for a member: an existing one (`id`), an invited one (`email`), or one whose identity is known
 * (`subject`). Each permission replaces the one on the same object.
 */
export const MemberCreate = Type.Object({
  id: optional(Reference),
  email: optional(Email),
  subject: optional(
    Type.String({ pattern: '^[\\x00-\\x7f]{1,255}$' }),
    'Subject (`sub`) at the issuer. Binds the member to this person without an invitation.',
  ),
  permissions: MemberPermissions,
})
export type MemberCreate = Static<typeof MemberCreate>

/** Permissions to remove, by their objects. */
export const MemberPermissionsRemoval = Type.Object({ id: Reference, permissions: MemberPermissions })
export type MemberPermissionsRemoval = Static<typeof MemberPermissionsRemoval>

export const MemberUpdate = Type.Object({
  settings: optional(AttributeMap, 'Settings of a client, at most 4 KiB. Null clears them.'),
})
export type MemberUpdate = Static<typeof MemberUpdate>

export const MemberGroupName = Type.Refine(
  Type.String({ minLength: 1, maxLength: 256, description: 'Name of the group at the issuer.' }),
  name => Buffer.byteLength(name) <= 256,
  () => 'must be at most 256 bytes of UTF-8',
)

/** Permissions for all members whom the issuer puts into a group. */
export const MemberGroupContent = Type.Object({ group: MemberGroupName, permissions: MemberPermissions })
export type MemberGroupContent = Static<typeof MemberGroupContent>

export const MemberGroup = Type.Object({
  id: Uuid,
  group: MemberGroupName,
  ...timeFields,
  permissions: Type.Array(MemberGrant),
})
export type MemberGroup = Static<typeof MemberGroup>

/** List of member groups. It is always an array without an envelope. */
export const MemberGroupList = Type.Array(MemberGroup)

export const MemberGroupsQuery = Type.Object({ ...pagingQuery, search: Type.Optional(SearchText) })
export type MemberGroupsQuery = Static<typeof MemberGroupsQuery>

export const MemberGroupPath = Type.Object({ member_group_id: Reference })
export type MemberGroupPath = Static<typeof MemberGroupPath>
