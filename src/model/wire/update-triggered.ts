/** API schema of the response to a request to update a decision point. */
import { Type } from 'typebox'

export const UpdateTriggered = Type.Object({
  status: Type.Literal('ok'),
  triggered: Type.Boolean({
    description: 'Whether an update was started: always `false`, because data is always up to date.',
  }),
})
