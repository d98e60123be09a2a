/**
 * Adds a part to the model. The undo removes it only if its `ETag` is unchanged, because another user could
 * have changed the part in the meantime.
 */
import { useCallback } from 'react'
import { useWrite } from '../../parts/writes.ts'

interface Addition {
  /** Creates the part and returns its `ETag`. */
  readonly add: () => Promise<string | null>
  readonly message: string
  /** Removes the part if it still has the `ETag` `tag`. */
  readonly remove: (tag: string | null) => Promise<unknown>
}

export function useAdd(): (addition: Addition) => Promise<void> {
  const write = useWrite()
  return useCallback(
    ({ add, message, remove }) => {
      let made: string | null = null
      return write({
        make: async () => {
          made = await add()
        },
        message,
        undo: () => remove(made),
      })
    },
    [write],
  )
}
