/**
 * The level of each operation, written by hand from administration.md K3, so that a change of the level of a
 * route fails.
 */
import { ACCESS_LEVELS, type AccessLevel } from '#model/principal.ts'

const NAMES: Readonly<Record<AccessLevel, string>> = {
  no_access: 'getApiKeyScope getSession endSession listSessions deleteSession getOwnMember',
  decide: `isAllowed isAllowedBulk isAllowedUrl isAllowedNginx isAllowedNginxByPost isAllowedKong accessEvaluation
    accessEvaluations searchResources searchActions planAccess getUserPermissions getAllowedTenants getUserTenants
    getUserPermissionsPackageOpa getUserPermissionsOpa isAllowedOpa isAllowedBulkOpa getAllowedTenantsOpa
    listOrganizations getOrganization getActiveOrganization`,
  read: `explainAllowed getAuthorizedUsers searchSubjects tryConditionSet triggerDataUpdate triggerPolicyUpdate
    refreshDecisionPoints`,
  write_facts: `createUser replaceUser updateUser deleteUser createUsers replaceUsers deleteUsers createTenant
    updateTenant deleteTenant createTenants deleteTenants createTenantUser removeTenantUser
    createResourceInstance updateResourceInstance deleteResourceInstance replaceResourceInstances
    deleteResourceInstances createRoleAssignment deleteRoleAssignment assignRoles unassignRoles assignUserRole
    unassignUserRole createRelationshipTuple deleteRelationshipTuple createRelationshipTuples
    deleteRelationshipTuples createGroup deleteGroup addGroupMember removeGroupMember addGroupRole
    removeGroupRole assignGroup unassignGroup`,
  write: `createResource replaceResource updateResource deleteResource createAction updateAction deleteAction
    createActionGroup updateActionGroup deleteActionGroup createAttribute updateAttribute deleteAttribute
    createUserAttribute updateUserAttribute deleteUserAttribute createRelation deleteRelation
    createResourceRole updateResourceRole deleteResourceRole addResourceRolePermissions
    removeResourceRolePermissions addResourceRoleParent removeResourceRoleParent addImplicitGrant
    removeImplicitGrant setImplicitGrantConditions createTenantRole updateTenantRole deleteTenantRole
    addTenantRolePermissions removeTenantRolePermissions addTenantRoleParent removeTenantRoleParent
    putRolesInBulk createConditionSet updateConditionSet deleteConditionSet createSetRule deleteSetRule
    createSetRules deleteSetRules createProxyConfig updateProxyConfig deleteProxyConfig`,
  admin: `importContent createApiKey updateApiKey deleteApiKey rotateApiKey getEnvironmentApiKey createProject
    updateProject deleteProject createEnvironment updateEnvironment deleteEnvironment copyEnvironment
    copyEnvironmentAsync backUp createMember updateMember deleteMember deleteMemberPermissions createMemberGroup
    replaceMemberGroup deleteMemberGroup`,
}
export const LEVELS_OF_OPERATIONS = new Map(
  ACCESS_LEVELS.flatMap(level => NAMES[level].split(/\s+/).map(name => [name, level])),
)

/** Every GET that is not in the table needs `read`. */
export function levelOf(operationId: string, method: string): AccessLevel | undefined {
  return LEVELS_OF_OPERATIONS.get(operationId) ?? (method.toUpperCase() === 'GET' ? 'read' : undefined)
}
