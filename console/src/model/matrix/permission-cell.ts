/** One cell of the matrix: a role, a permission, and whether the role has it. */
import type { Texts } from '../../texts/en.ts'

export interface PermissionCell {
  readonly id: string
  readonly role: string
  /** Description of the permission. */
  readonly permission: string
  readonly isDirect: boolean
  /** A role that this role extends and that grants the permission. Null if there is none. */
  readonly through: string | null
}

type Words = Texts['model']['matrix']

/** Describes the state of the cell. */
export function stateOf({ role, permission, isDirect, through }: PermissionCell, words: Words): string {
  if (through === null) return isDirect ? words.direct(role, permission) : words.none(role, permission)
  return isDirect ? words.both(role, permission, through) : words.inherited(role, permission, through)
}

/** Describes the effect of pressing the cell. */
export function effectOf({ role, permission, isDirect, through }: PermissionCell, words: Words): string {
  if (through === null) return isDirect ? words.takes(role, permission) : words.gives(role, permission)
  return isDirect ? words.takesNothing(role, permission, through) : words.givesToo(role, permission, through)
}
