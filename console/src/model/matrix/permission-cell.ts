/** One cell of the matrix: a role, a permission, and whether the role has it. */
import type { Texts } from '../../texts/en.ts'

export interface PermissionCell {
  readonly id: string
  readonly role: string
  /** As one reads it. */
  readonly permission: string
  readonly isDirect: boolean
  /** A role it extends, which gives it; null: none does. */
  readonly through: string | null
}

type Words = Texts['model']['matrix']

/** How it is. */
export function stateOf({ role, permission, isDirect, through }: PermissionCell, words: Words): string {
  if (through === null) return isDirect ? words.direct(role, permission) : words.none(role, permission)
  return isDirect ? words.both(role, permission, through) : words.inherited(role, permission, through)
}

/** What pressing does. */
export function effectOf({ role, permission, isDirect, through }: PermissionCell, words: Words): string {
  if (through === null) return isDirect ? words.takes(role, permission) : words.gives(role, permission)
  return isDirect ? words.takesNothing(role, permission, through) : words.givesToo(role, permission, through)
}
