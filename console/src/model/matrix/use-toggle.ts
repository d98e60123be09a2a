/** Grants or revokes a permission of a role. A toast reports the change and can undo it. */
import { useCallback } from 'react'
import { useWrite } from '../../parts/writes.ts'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { setPermission } from '../model-writes.ts'
import type { PermissionCell } from './permission-cell.ts'

/** `type` is null for tenant roles. */
export function useToggle(type: string | null): (cell: PermissionCell) => Promise<void> {
  const { path } = useCurrentEnvironment()
  const texts = useTexts().model.matrix
  const write = useWrite()
  return useCallback(
    ({ role, permission, isDirect }) => {
      const to = (isGiven: boolean) => () => setPermission(path, { type, role, permission, isGiven })
      return write({
        make: to(!isDirect),
        message: isDirect ? texts.taken(role, permission) : texts.given(role, permission),
        undo: to(isDirect),
      })
    },
    [path, texts, write, type],
  )
}
