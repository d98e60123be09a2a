/** Response to a request to update a decision point. */
import { Type } from 'typebox'

export const UpdateTriggered = Type.Object({
  status: Type.Literal('ok'),
  triggered: Type.Boolean({
    description: 'Whether an update was started: `false`, since none is ever missing.',
  }),
})
