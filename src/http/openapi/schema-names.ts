/**
 * Names of the schemas in the OpenAPI document, which are their export names in the source. A schema that is
 * used more than once must be exported from its file in `model/wire`. A new file must be added to the list
 * here. An exported enumeration must not share a value with another exported one: in Go clients of
 * openapi-generator, the constants of both would have the same name.
 */
import { assert } from '#model/assert.ts'
import * as access from '#model/wire/decisions/access.ts'
import * as actor from '#model/wire/organization/actor.ts'
import * as action from '#entities/action.ts'
import * as allowedUrl from '#model/wire/decisions/allowed-url.ts'
import * as apiKey from '#model/wire/organization/api-key.ts'
import * as attribute from '#entities/attribute.ts'
import * as audit from '#model/wire/organization/audit.ts'
import * as changeEvent from '#entities/change-event.ts'
import * as commonFields from '#model/wire/common-fields.ts'
import * as conditionSet from '#entities/condition-set.ts'
import * as decisionDebug from '#model/wire/decisions/decision-debug.ts'
import * as decision from '#model/wire/decisions/decision.ts'
import * as environmentContent from '#entities/environment-content.ts'
import * as environment from '#model/wire/organization/environment.ts'
import * as explainedRule from '#model/wire/decisions/explained-rule.ts'
import * as group from '#entities/group.ts'
import * as health from '#model/wire/health.ts'
import * as keyCompletion from '#entities/key-completion.ts'
import * as keySearch from '#entities/key-search.ts'
import * as kong from '#model/wire/decisions/kong.ts'
import * as localAssignments from '#entities/local-assignments.ts'
import * as member from '#model/wire/organization/member.ts'
import * as node from '#model/wire/node.ts'
import * as organization from '#model/wire/organization/organization.ts'
import * as paging from '#model/wire/paging.ts'
import * as plan from '#model/wire/decisions/plan.ts'
import * as permissions from '#model/wire/decisions/permissions.ts'
import * as problem from '#model/wire/problem.ts'
import * as project from '#model/wire/organization/project.ts'
import * as proxyConfig from '#entities/proxy-config.ts'
import * as references from '#model/wire/references.ts'
import * as relation from '#entities/relation.ts'
import * as relationshipTuple from '#entities/relationship-tuple.ts'
import * as resourceInstance from '#entities/resource-instance.ts'
import * as resource from '#entities/resource.ts'
import * as roleAssignment from '#entities/role-assignment.ts'
import * as role from '#entities/role.ts'
import * as session from '#model/wire/organization/session.ts'
import * as setRule from '#entities/set-rule.ts'
import * as tenantLists from '#model/wire/decisions/tenant-lists.ts'
import * as tenant from '#entities/tenant.ts'
import * as user from '#entities/user.ts'

const FILES: readonly Readonly<Record<string, unknown>>[] = [
  access,
  action,
  actor,
  allowedUrl,
  apiKey,
  attribute,
  audit,
  changeEvent,
  commonFields,
  conditionSet,
  decision,
  decisionDebug,
  environment,
  environmentContent,
  explainedRule,
  group,
  health,
  keyCompletion,
  keySearch,
  kong,
  localAssignments,
  member,
  node,
  organization,
  paging,
  permissions,
  plan,
  problem,
  project,
  proxyConfig,
  references,
  relation,
  relationshipTuple,
  resource,
  resourceInstance,
  role,
  roleAssignment,
  session,
  setRule,
  tenant,
  tenantLists,
  user,
]

/** All exported schemas with their names. Throws if two schemas have the same name. */
export function schemaNames(): ReadonlyMap<object, string> {
  const names = new Map<object, string>()
  const taken = new Set<string>()
  for (const [name, value] of FILES.flatMap(file => Object.entries(file))) {
    if (!isSchema(value)) continue
    assert(
      !taken.has(name) && !names.has(value),
      `a schema with two names, or a name of two schemas: ${name}`,
    )
    taken.add(name)
    names.set(value, name)
  }
  return names
}

/** Files also export constants, functions and sets of fields, which are not schemas. */
function isSchema(value: unknown): value is object {
  return typeof value === 'object' && value !== null && '~kind' in value
}
