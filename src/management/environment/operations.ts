/**
 * The table of management operations. Every operation is a pure function of the records that it reads, its
 * input and its context. It is synchronous or, if it can take long, resumable. Each file exports its
 * operations at its end: `reads` that change nothing, and `writes`. Routes refer to them by name, threads
 * send their names, `EnvironmentService` runs them.
 */
import * as audit from '#management/audit/audit.ts'
import type { ReadContext, WriteContext } from '#management/drafts/context.ts'
import type { AnswerOf } from '#scheduling/resumable.ts'
import * as roleAssignmentBulk from '#management/facts/role-assignment-bulk.ts'
import * as roleAssignmentLists from '#management/facts/role-assignment-lists.ts'
import * as roleAssignments from '#management/facts/role-assignments.ts'
import * as resourceInstanceBulk from '#management/facts/resource-instance-bulk.ts'
import * as resourceInstanceLists from '#management/facts/resource-instance-lists.ts'
import * as resourceInstances from '#management/facts/resource-instances.ts'
import * as keyCompletions from '#management/facts/key-completions.ts'
import * as keySearches from '#management/facts/key-searches.ts'
import * as tenantBulk from '#management/facts/tenant-bulk.ts'
import * as tenantUsers from '#management/facts/tenant-users.ts'
import * as tenants from '#management/facts/tenants.ts'
import * as relationshipTupleBulk from '#management/facts/relationship-tuple-bulk.ts'
import * as relationshipTupleLists from '#management/facts/relationship-tuple-lists.ts'
import * as relationshipTuples from '#management/facts/relationship-tuples.ts'
import * as userBulk from '#management/facts/user-bulk.ts'
import * as userLists from '#management/facts/user-lists.ts'
import * as userRoles from '#management/facts/user-roles.ts'
import * as users from '#management/facts/users.ts'
import * as groupMembers from '#management/groups/group-members.ts'
import * as groupNesting from '#management/groups/group-nesting.ts'
import * as groupRoles from '#management/groups/group-roles.ts'
import * as groups from '#management/groups/groups.ts'
import * as actionGroups from '#management/schema/action-groups.ts'
import * as actions from '#management/schema/actions.ts'
import * as attributes from '#management/schema/attributes.ts'
import * as bulkRoles from '#management/schema/bulk-roles.ts'
import * as conditionSetLists from '#management/schema/condition-sets/condition-set-lists.ts'
import * as conditionSets from '#management/schema/condition-sets/condition-sets.ts'
import * as triedSets from '#management/schema/condition-sets/tried-sets.ts'
import * as proxyConfigs from '#management/schema/proxy-configs/proxy-configs.ts'
import * as resourceRelations from '#management/schema/resource-relations.ts'
import * as resourceRoles from '#management/schema/resource-roles.ts'
import * as resources from '#management/schema/resources.ts'
import * as roleInheritance from '#management/schema/role-parents.ts'
import * as schemaExport from '#management/schema/transfer/schema-export.ts'
import * as schemaImport from '#management/schema/transfer/schema-import.ts'
import * as setRuleBulk from '#management/schema/condition-sets/set-rule-bulk.ts'
import * as setRuleLists from '#management/schema/condition-sets/set-rule-lists.ts'
import * as setRules from '#management/schema/condition-sets/set-rules.ts'
import * as tenantRoles from '#management/schema/tenant-roles.ts'
import * as environmentCounts from './environment-counts.ts'

export const readOperations = {
  ...actionGroups.reads,
  ...actions.reads,
  ...attributes.reads,
  ...audit.reads,
  ...conditionSetLists.reads,
  ...conditionSets.reads,
  ...environmentCounts.reads,
  ...groupMembers.reads,
  ...groupNesting.reads,
  ...groupRoles.reads,
  ...groups.reads,
  ...keyCompletions.reads,
  ...keySearches.reads,
  ...proxyConfigs.reads,
  ...relationshipTupleLists.reads,
  ...resourceInstanceLists.reads,
  ...resourceInstances.reads,
  ...resourceRelations.reads,
  ...resourceRoles.reads,
  ...resources.reads,
  ...roleAssignmentLists.reads,
  ...roleInheritance.reads,
  ...schemaExport.reads,
  ...setRuleLists.reads,
  ...tenantRoles.reads,
  ...tenants.reads,
  ...triedSets.reads,
  ...userLists.reads,
  ...users.reads,
}

export const writeOperations = {
  ...actionGroups.writes,
  ...actions.writes,
  ...attributes.writes,
  ...bulkRoles.writes,
  ...conditionSets.writes,
  ...groupMembers.writes,
  ...groupNesting.writes,
  ...groupRoles.writes,
  ...groups.writes,
  ...proxyConfigs.writes,
  ...relationshipTupleBulk.writes,
  ...relationshipTuples.writes,
  ...resourceInstanceBulk.writes,
  ...resourceInstances.writes,
  ...resourceRelations.writes,
  ...resourceRoles.writes,
  ...resources.writes,
  ...roleAssignmentBulk.writes,
  ...roleAssignments.writes,
  ...roleInheritance.writes,
  ...schemaImport.writes,
  ...setRules.writes,
  ...setRuleBulk.writes,
  ...tenantBulk.writes,
  ...tenantRoles.writes,
  ...tenantUsers.writes,
  ...tenants.writes,
  ...userBulk.writes,
  ...userRoles.writes,
  ...users.writes,
}

type Operations = typeof readOperations & typeof writeOperations

export type OperationName = keyof Operations
export type ReadOperationName = keyof typeof readOperations
export type OperationInput<Name extends OperationName> = Parameters<Operations[Name]>[1]
export type OperationAnswer<Name extends OperationName> = AnswerOf<ReturnType<Operations[Name]>>

/** An operation whose name is known only at run time; its input was validated against the route's schemas. */
export type ReadOperation = (context: ReadContext, input: unknown) => unknown
export type WriteOperation = (context: WriteContext, input: unknown) => unknown
