/**
 * The groups of a person that a session keeps (administration.md S12).
 *
 * If there are too many, groups with permissions on the organization are kept first, then groups of each
 * project and environment in turn. Otherwise, the administrator of one environment could give permissions to
 * so many groups of a person that the other groups do not count.
 */
import type { MemberGroupRecord } from '#entities/organization-records.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { OwnerSettings } from '#management/scopes/member-settings.ts'
import { SESSION_GROUPS_MAX } from '#model/limits.ts'
import { memberGroupNamed } from './effective-grants.ts'
import type { Identity } from './identity.ts'

/** `record` is null for a group that only the settings name. */
interface NamedGroup {
  readonly name: string
  readonly record: MemberGroupRecord | null
}

export interface KeptGroups {
  readonly groups: readonly NamedGroup[]
  /** Whether the session lacks some groups of the person. */
  readonly areGroupsCut: boolean
}

/** Returns the groups that a member group or the settings of owners name. O(groups and their permissions). */
export function keptGroups(
  records: RecordReader,
  { identity, owners }: { readonly identity: Identity; readonly owners: OwnerSettings },
): KeptGroups {
  const { ownerGroups } = owners
  const named: NamedGroup[] = []
  for (const name of new Set(identity.groups)) {
    const record = memberGroupNamed(records, name)
    if (record !== null || ownerGroups.has(name)) named.push({ name, record })
  }
  if (named.length <= SESSION_GROUPS_MAX) return { groups: named, areGroupsCut: identity.areGroupsCut }
  return { groups: inTurn(named, ownerGroups).slice(0, SESSION_GROUPS_MAX), areGroupsCut: true }
}

/** Ranks of groups: with permissions on the organization, with other permissions, and without permissions. */
const [ORGANIZATION, OBJECTS, NOTHING] = [0, 1, 2]

function inTurn(named: readonly NamedGroup[], ownerGroups: ReadonlySet<string>): NamedGroup[] {
  const countOn = new Map<string, number>()
  const ranked = named.map(group => {
    const objects = new Set<string | null>(ownerGroups.has(group.name) ? [null] : [])
    for (const { accessLevel, projectId, environmentId } of group.record?.grants ?? [])
      if (accessLevel !== 'no_access') objects.add(environmentId ?? projectId)
    if (objects.has(null)) return { group, rank: ORGANIZATION, turn: 0 }
    let turn = Infinity
    for (const object of objects) {
      const count = countOn.get(object!) ?? 0
      countOn.set(object!, count + 1)
      turn = Math.min(turn, count)
    }
    return { group, rank: objects.size === 0 ? NOTHING : OBJECTS, turn }
  })
  const ordered = ranked.toSorted((a, b) => a.rank - b.rank || (a.turn === b.turn ? 0 : a.turn - b.turn))
  return ordered.map(({ group }) => group)
}
