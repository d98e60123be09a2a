/**
 * API schema of the health routes. They report whether the process runs, is ready or is fresh (native.md
 * A.7).
 */
import { Type } from 'typebox'

export const Health = Type.Object({
  status: Type.String(),
  version: Type.Optional(Type.String({ description: 'Release of the service.' })),
  changes: Type.Optional(
    Type.String({
      description:
        'Reason why the last change could not be written, such as a full disk. The node continues to make decisions.',
    }),
  ),
})
