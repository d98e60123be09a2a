/** API schema of the health routes: whether the process runs, is ready or is fresh (native.md A.7). */
import { Type } from 'typebox'

export const Health = Type.Object({
  status: Type.String(),
  version: Type.Optional(Type.String({ description: 'The release that runs here.' })),
  changes: Type.Optional(
    Type.String({
      description: 'Why the last change could not be written, as on a full disk; decisions go on.',
    }),
  ),
})
