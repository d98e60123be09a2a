/** What a key is for, on the wire (contract B.2). */
import { Type } from 'typebox'
import { nullable, Uuid } from './building-blocks.ts'

export const ApiKeyScope = Type.Object({
  organization_id: Uuid,
  project_id: nullable(Uuid),
  environment_id: nullable(Uuid),
})
