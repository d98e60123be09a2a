/**
 * How many parts a schema may have: as many as go with one removal, which is one commit. Asked when a part has been added;
 * lists are no requirement of a commit, so a few that are added at the same moment may go beyond.
 */
import { AuthzError } from '#model/errors.ts'
import { PARTS_PER_RESOURCE_MAX, TENANT_ROLES_MAX } from '#model/limits.ts'
import type { TypeRecord } from '#model/records.ts'
import { lists } from '#store/keyspace.ts'
import type { Draft } from './draft.ts'

/** Throws `LIMIT_EXCEEDED` when there are more roles of the type, or tenant roles, than there may be. O(draft). */
export function checkRoleCeiling(records: Draft, type: TypeRecord | null): void {
  const max = type ? PARTS_PER_RESOURCE_MAX : TENANT_ROLES_MAX
  if (records.count(lists.rolesOfType(type?.id ?? null)) <= max) return
  const where = type ? `resource ${JSON.stringify(type.key)} has` : 'there are'
  throw new AuthzError('LIMIT_EXCEEDED', `${where} ${max} ${type ? '' : 'tenant '}roles, which is the most`)
}

/** The same for the relations whose objects, or subjects, are of the type. */
export function checkRelationCeiling(records: Draft, type: TypeRecord): void {
  for (const list of [lists.relationsOfType(type.id), lists.relationsFromType(type.id)]) {
    if (records.count(list) <= PARTS_PER_RESOURCE_MAX) continue
    const message = `resource ${JSON.stringify(type.key)} has ${PARTS_PER_RESOURCE_MAX} relations, which is the most`
    throw new AuthzError('LIMIT_EXCEEDED', message)
  }
}
