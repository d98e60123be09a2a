/** Role assignments on the wire (contract B.8). */
import { Type, type Static } from 'typebox'
import {
  environmentPath,
  nullable,
  optional,
  Reference,
  scopeFields,
  Timestamp,
  Uuid,
} from './building-blocks.ts'

const assignedFields = {
  role: Reference,
  tenant: optional(Reference),
  /** `type:key` or id. */
  resource_instance: optional(Reference),
}

/** An assignment inside the body that creates its user. */
export const UserRoleAssignment = Type.Object(assignedFields)
export type UserRoleAssignment = Static<typeof UserRoleAssignment>

export const RoleAssignmentCreate = Type.Object({ user: Reference, ...assignedFields })
export type RoleAssignmentCreate = Static<typeof RoleAssignmentCreate>

export const RoleAssignment = Type.Object({
  id: Uuid,
  user: Type.String(),
  role: Type.String(),
  tenant: Type.String(),
  resource_instance: nullable(Type.String()),
  user_id: Uuid,
  role_id: Uuid,
  tenant_id: Uuid,
  resource_instance_id: nullable(Uuid),
  ...scopeFields,
  created_at: Timestamp,
})
export type RoleAssignment = Static<typeof RoleAssignment>

export const RoleAssignmentsPath = Type.Object(environmentPath)
