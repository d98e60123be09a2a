/** Whether the process lives or is ready, on the wire (contract A.7). */
import { Type } from 'typebox'

export const Health = Type.Object({ status: Type.String() })
