/**
 * Attributes that a resource type declares, and those of users and tenants, which built-in types declare
 * (native.md B.4; conditions.md 1.1).
 */
import { presentIdentity, type ReadContext, type WriteContext } from '#management/drafts/context.ts'
import { pageOfArray } from '#management/paging/paging.ts'
import { isBuiltInTypeKey, USER_TYPE_KEY } from '#model/built-in-types.ts'
import type { AttributeRecord, TypeRecord } from '#entities/records.ts'
import { type Attribute, ATTRIBUTE, type AttributeCreate, type AttributeUpdate } from '#entities/attribute.ts'
import { presented, recordFrom, updated } from '#entities/entity.ts'
import type { Paging } from '#model/wire/paging.ts'
import {
  checkAttributeNames,
  checkPartIsNew,
  putType,
  requireAnyType,
  requirePart,
  withPart,
} from './types.ts'

/**
 * Parameters that select the type with the attributes. Without `resource_id`, the attributes of users are
 * meant.
 */
interface CarrierParams {
  readonly resource_id?: string
}

interface AttributeParams extends CarrierParams {
  readonly attribute_id: string
}

/** Returns the attributes as a bare array in every case. */
export function listAttributes(
  context: ReadContext,
  input: { readonly params: { readonly resource_id: string }; readonly query: Paging },
): Attribute[] {
  return pageOfAttributes(context, input.params.resource_id, input.query)
}

export function listUserAttributes(context: ReadContext, input: { readonly query: Paging }): Attribute[] {
  return pageOfAttributes(context, USER_TYPE_KEY, input.query)
}

function pageOfAttributes(context: ReadContext, carrier: string, paging: Paging): Attribute[] {
  const type = requireAnyType(context, carrier)
  return pageOfArray(type.attributes, paging).map(attribute => presentAttribute(context, type, attribute))
}

export function createAttribute(
  context: WriteContext,
  input: { readonly params: { readonly resource_id: string }; readonly body: AttributeCreate },
): Attribute {
  return addAttribute(context, input.params.resource_id, input.body)
}

export function createUserAttribute(
  context: WriteContext,
  input: { readonly body: AttributeCreate },
): Attribute {
  return addAttribute(context, USER_TYPE_KEY, input.body)
}

function addAttribute(context: WriteContext, carrier: string, body: AttributeCreate): Attribute {
  const type = requireAnyType(context, carrier)
  checkAttributeNames(type, [body.key])
  checkPartIsNew(type.attributes, body.key, { what: 'attribute', type })
  const attribute: AttributeRecord = {
    id: context.newId(),
    key: body.key,
    ...recordFrom(ATTRIBUTE, body),
    createdAt: context.now,
    updatedAt: context.now,
  }
  putType(context, { ...type, attributes: [...type.attributes, attribute], updatedAt: context.now })
  return presentAttribute(context, type, attribute)
}

export function getAttribute(context: ReadContext, input: { readonly params: AttributeParams }): Attribute {
  const { type, attribute } = locate(context, input.params)
  return presentAttribute(context, type, attribute)
}

export function updateAttribute(
  context: WriteContext,
  input: { readonly params: AttributeParams; readonly body: AttributeUpdate },
): Attribute {
  const { body } = input
  const { type, attribute } = locate(context, input.params)
  const changed = { ...attribute, ...updated(ATTRIBUTE, attribute, body), updatedAt: context.now }
  putType(context, { ...type, attributes: withPart(type.attributes, changed), updatedAt: context.now })
  return presentAttribute(context, type, changed)
}

export function deleteAttribute(context: WriteContext, input: { readonly params: AttributeParams }): void {
  const { type, attribute } = locate(context, input.params)
  const attributes = type.attributes.filter(({ id }) => id !== attribute.id)
  putType(context, { ...type, attributes, updatedAt: context.now })
}

function locate(context: ReadContext, params: AttributeParams) {
  const { resource_id: carrier = USER_TYPE_KEY, attribute_id } = params
  const type = requireAnyType(context, carrier)
  return { type, attribute: requirePart(type.attributes, attribute_id, { what: 'attribute', type }) }
}

function presentAttribute(context: ReadContext, type: TypeRecord, attribute: AttributeRecord): Attribute {
  return {
    ...presentIdentity(context.scope, attribute),
    ...presented(ATTRIBUTE, attribute),
    resource_id: type.id,
    resource_key: type.key,
    built_in: isBuiltInTypeKey(type.key),
  }
}

export const reads = { getAttribute, getUserAttribute: getAttribute, listAttributes, listUserAttributes }

export const writes = {
  createAttribute,
  createUserAttribute,
  deleteAttribute,
  deleteUserAttribute: deleteAttribute,
  updateAttribute,
  updateUserAttribute: updateAttribute,
}
