/**
 * Schema of the model file. A model file contains the desired state of an environment, and tests. `verdict
 * test` and `verdict apply` read it. `docs/model-file.schema.json` is generated from this schema; editors use
 * it to complete and check model files.
 *
 * In this file, entities that have a key in the service are members of a map. Their bodies are those of the
 * management API.
 */
import { type Static, Type, type TSchema } from 'typebox'
import { isObject } from '#model/json-object.ts'
import { AttributeMap, expiryMoment, Name, nullable, optional, Text } from '#model/wire/common-fields.ts'
import { LongKey, ShortKey, withDescribedPattern } from '#model/wire/references.ts'
import { ConditionSetCreate, ConditionSetKey, ConditionSetType, Conditions } from './condition-set.ts'
import { AnyText, QualifiedKey } from './key-forms.ts'
import { ActionBlock, AttributeBlock, RESOURCE } from './resource.ts'
import { DerivationCondition, DerivationCreate } from './role.ts'
import { schemasOf } from './entity.ts'
import { INSTANCE } from './resource-instance.ts'
import { TENANT } from './tenant.ts'
import { USER } from './user.ts'

/** A map whose keys the author of the file chooses. An entry without a body can be empty. */
const mapOf = <Value extends TSchema>(value: Value, key = ShortKey) =>
  Type.Record(key, value, { additionalProperties: false })
const orEmpty = <Value extends TSchema>(value: Value) => nullable(value)
const closed = { additionalProperties: false } as const

const roleFields = {
  name: Type.Optional(Name),
  description: optional(Text),
  permissions: optional(
    Type.Array(Type.String(), { description: 'Actions of the resource; `type:action` for a tenant role.' }),
  ),
  extends: optional(Type.Array(ShortKey, { description: 'Roles whose permissions this role also has.' })),
  attributes: optional(AttributeMap),
}

// In these blocks, unknown fields are errors, because in a file, an unknown field is probably mistyped.
// Requests, in contrast, can contain unknown fields.
const DerivationWhen = Type.Object(DerivationCondition.properties, closed)
const ModelAttribute = Type.Object(AttributeBlock.properties, closed)
const ModelAction = Type.Object(ActionBlock.properties, closed)

const ModelTenantRole = Type.Object(roleFields, closed)
const ModelRole = Type.Object(
  {
    ...roleFields,
    granted_to: Type.Optional(
      Type.Object(
        {
          when: optional(DerivationWhen),
          users_with_role: Type.Optional(
            Type.Array(
              Type.Object({ ...DerivationCreate.properties, when: optional(DerivationWhen) }, closed),
            ),
          ),
        },
        { ...closed, description: 'Roles on related instances from which this role is derived.' },
      ),
    ),
  },
  closed,
)
export type ModelRole = Static<typeof ModelRole>

const ModelResource = Type.Object(
  {
    ...schemasOf(RESOURCE, 'file'),
    actions: Type.Optional(
      Type.Union([Type.Array(ShortKey), mapOf(orEmpty(ModelAction))], {
        description: 'Actions: their keys, or a map from keys to names and descriptions.',
      }),
    ),
    attributes: Type.Optional(mapOf(ModelAttribute)),
    relations: Type.Optional(
      Type.Record(ShortKey, ShortKey, {
        ...closed,
        description: 'Maps the key of a relation to the resource of its subjects.',
      }),
    ),
    roles: Type.Optional(mapOf(orEmpty(ModelRole))),
    inherited_roles: Type.Optional(
      Type.Record(ShortKey, Type.Union([Type.Array(ShortKey), Type.Record(ShortKey, ShortKey, closed)]), {
        ...closed,
        description:
          'Maps the key of a relation to the roles that are derived through it: a user who holds one on the related instance holds ' +
          'the role with the same key on this instance. A map goes from the role there to the role here.',
      }),
    ),
  },
  closed,
)
export type ModelResource = Static<typeof ModelResource>

const ModelConditionSet = Type.Object(
  {
    type: Type.Optional(ConditionSetType),
    name: Type.Optional(ConditionSetCreate.properties.name),
    description: optional(Text),
    resource: optional({
      ...ShortKey,
      description: 'Resource to which a resource set is limited.',
    }),
    parent: optional({ ...ConditionSetKey, description: 'Parent set, whose conditions must also hold.' }),
    conditions: Type.Optional(Conditions),
  },
  closed,
)
export type ModelConditionSet = Static<typeof ModelConditionSet>

const ModelRule = Type.Object(
  {
    user_set: Type.String({ minLength: 1, description: 'Key of a user set, or of a tenant role.' }),
    permission: Type.String({ pattern: '^[^:]+:.+$', description: '`type:action`.' }),
    resource_set: Type.String({ minLength: 1, description: 'Key of a resource set, or of a resource.' }),
  },
  closed,
)

const HeldRole = Type.String({ pattern: '^[^:]+:.+#[^#]+$', description: '`type:key#role`.' })

const ModelTenant = Type.Object(schemasOf(TENANT, 'file'), closed)
const ModelUser = Type.Object(schemasOf(USER, 'file'), closed)
const ModelInstance = Type.Object({ tenant: Type.Optional(ShortKey), ...schemasOf(INSTANCE, 'file') }, closed)
const untilField = {
  until: Type.Optional(
    expiryMoment('Expiration time as RFC 3339. Absent: it does not expire. Expired entries are ignored.'),
  ),
}
const ModelGroup = Type.Object(
  {
    tenant: Type.Optional(ShortKey),
    members: Type.Optional(
      Type.Array(Type.Union([LongKey, Type.Object({ user: LongKey, ...untilField }, closed)]), {
        description: 'Keys of users.',
      }),
    ),
    groups: Type.Optional(
      Type.Array(Type.Union([Type.String(), Type.Object({ group: Type.String(), ...untilField }, closed)]), {
        description: 'Child groups: their members are members of this group.',
      }),
    ),
    roles: Type.Optional(
      Type.Array(Type.Union([HeldRole, Type.Object({ role: HeldRole, ...untilField }, closed)]), {
        description: 'Roles of its members: `type:key#role`.',
      }),
    ),
  },
  closed,
)
export type ModelGroup = Static<typeof ModelGroup>

const ModelAssignment = Type.Object(
  {
    user: LongKey,
    role: ShortKey,
    tenant: Type.Optional(ShortKey),
    resource_instance: Type.Optional(QualifiedKey),
    ...untilField,
  },
  closed,
)
export type ModelAssignment = Static<typeof ModelAssignment>

const ModelTuple = Type.Object(
  {
    subject: QualifiedKey,
    relation: ShortKey,
    object: QualifiedKey,
    tenant: Type.Optional(ShortKey),
    ...untilField,
  },
  closed,
)
export type ModelTuple = Static<typeof ModelTuple>

const tenant = Type.Optional(
  Type.String({ minLength: 1, description: 'Default: the tenant of the instance, otherwise `default`.' }),
)
const user = Type.String({ minLength: 1, description: 'Key of a user.' })
const action = Type.String({ minLength: 1, description: 'Key of an action.' })
const resource = Type.String({ minLength: 1, description: '`type:key`, or a type for a check of the type.' })
const keys = (description: string) => Type.Array(Type.String(), { description })

const unknown = Type.Optional(
  Type.Boolean({
    description: 'The check names a user, resource, action or tenant that is not in the model.',
  }),
)

/** Attributes in a check. They override stored attributes with the same names. */
export const QuestionAttributes = Type.Object(
  { user: Type.Optional(AttributeMap), resource: Type.Optional(AttributeMap) },
  { ...closed, description: 'Attributes that are sent with the check.' },
)
export type QuestionAttributes = Static<typeof QuestionAttributes>

const ExpectedChecks = Type.Object(
  {
    user: Type.Union([user, Type.Array(user)]),
    action: Type.Union([action, Type.Array(action)]),
    resource: Type.Union([resource, Type.Array(resource)]),
    tenant,
    attributes: Type.Optional(QuestionAttributes),
    context: Type.Optional(AttributeMap),
    unknown,
  },
  closed,
)
export type ExpectedChecks = Static<typeof ExpectedChecks>

const ResourcesExpected = Type.Object(
  {
    user,
    action,
    type: ShortKey,
    tenant,
    are: keys('Keys of all instances for which access is allowed.'),
    attributes: Type.Optional(QuestionAttributes),
    context: Type.Optional(AttributeMap),
    unknown,
  },
  closed,
)
const UsersExpected = Type.Object(
  {
    action,
    resource: QualifiedKey,
    tenant,
    are: keys('Keys of all users for whom access is allowed.'),
    attributes: Type.Optional(QuestionAttributes),
    context: Type.Optional(AttributeMap),
    unknown,
  },
  closed,
)
const ActionsExpected = Type.Object(
  {
    user,
    resource: QualifiedKey,
    tenant,
    are: keys('Keys of all actions for which access is allowed.'),
    attributes: Type.Optional(QuestionAttributes),
    context: Type.Optional(AttributeMap),
    unknown,
  },
  closed,
)

const ModelTest = Type.Object(
  {
    name: Type.String({ minLength: 1, description: 'Name of the test, as a sentence.' }),
    allow: Type.Optional(Type.Array(ExpectedChecks, { description: 'Checks that must be allowed.' })),
    deny: Type.Optional(Type.Array(ExpectedChecks, { description: 'Checks that must be denied.' })),
    resources: Type.Optional(
      Type.Array(ResourcesExpected, { description: 'Complete lists of resources that users can access.' }),
    ),
    users: Type.Optional(Type.Array(UsersExpected, { description: 'Complete lists of users with access.' })),
    actions: Type.Optional(
      Type.Array(ActionsExpected, { description: 'Complete lists of actions that users can perform.' }),
    ),
  },
  closed,
)
export type ModelTest = Static<typeof ModelTest>

export const ModelFile = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: 'Location of the schema of this file, for editors.' })),
    user_attributes: Type.Optional(mapOf(ModelAttribute)),
    tenant_attributes: Type.Optional(mapOf(ModelAttribute)),
    resources: Type.Optional(mapOf(orEmpty(ModelResource))),
    roles: Type.Optional(mapOf(orEmpty(ModelTenantRole))),
    condition_sets: Type.Optional(mapOf(orEmpty(ModelConditionSet), ConditionSetKey)),
    rules: Type.Optional(
      Type.Array(ModelRule, {
        description: 'Users in the user set can perform the action on resources in the resource set.',
      }),
    ),
    tenants: Type.Optional(mapOf(orEmpty(ModelTenant))),
    users: Type.Optional(mapOf(orEmpty(ModelUser), AnyText)),
    instances: Type.Optional(mapOf(orEmpty(ModelInstance), QualifiedKey)),
    groups: Type.Optional(mapOf(orEmpty(ModelGroup), AnyText)),
    role_assignments: Type.Optional(Type.Array(ModelAssignment)),
    relationship_tuples: Type.Optional(Type.Array(ModelTuple)),
    tests: Type.Optional(Type.Array(ModelTest)),
  },
  {
    ...closed,
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Verdict model file',
    description: 'Desired state of an environment, and tests of it.',
  },
)
export type ModelFile = Static<typeof ModelFile>

/** Returns the JSON Schema of model files, for editors. */
export function modelFileSchema(): string {
  const described = (_: string, value: unknown) => (isObject(value) ? withDescribedPattern(value) : value)
  return JSON.stringify(ModelFile, described, 2)
}

/** The parts of a model file that describe the desired state. The tests are not included. */
export type Model = Omit<ModelFile, 'tests' | '$schema'>
