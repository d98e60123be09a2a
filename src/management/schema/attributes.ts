/** Attributes that a resource declares, and those of users, which the built-in resource carries (contract B.4). */
import {
  presentScope,
  presentTimes,
  type ReadContext,
  type WriteContext,
} from '#management/commands/context.ts'
import { requireType } from '#management/commands/lookups.ts'
import { pageOfArray } from '#management/commands/paging.ts'
import type { RecordReader } from '#management/commands/record-reader.ts'
import { AuthzError } from '#model/errors.ts'
import { type AttributeRecord, type TypeRecord, USER_TYPE_KEY } from '#model/records.ts'
import type { Attribute, AttributeCreate, AttributeUpdate } from '#model/wire/attribute.ts'
import type { Paging } from '#model/wire/building-blocks.ts'
import { checkPartIsNew, ensureUserType, findUserType, putType, requirePart, withPart } from './types.ts'

/** Without a resource the attributes of users are meant. */
interface CarrierParams {
  readonly resource_id?: string
}

interface AttributeParams extends CarrierParams {
  readonly attribute_id: string
}

/** Always a bare array. */
export function listAttributes(
  context: ReadContext,
  input: { readonly params: { readonly resource_id: string }; readonly query: Paging },
): Attribute[] {
  return pageOfAttributes(context, requireType(context.records, input.params.resource_id), input.query)
}

export function listUserAttributes(context: ReadContext, input: { readonly query: Paging }): Attribute[] {
  const type = findUserType(context.records)
  return type ? pageOfAttributes(context, type, input.query) : []
}

function pageOfAttributes(context: ReadContext, type: TypeRecord, paging: Paging): Attribute[] {
  return pageOfArray(type.attributes, paging).map(attribute => presentAttribute(context, type, attribute))
}

export function createAttribute(
  context: WriteContext,
  input: { readonly params: { readonly resource_id: string }; readonly body: AttributeCreate },
): Attribute {
  return addAttribute(context, requireType(context.records, input.params.resource_id), input.body)
}

export function createUserAttribute(
  context: WriteContext,
  input: { readonly body: AttributeCreate },
): Attribute {
  return addAttribute(context, ensureUserType(context), input.body)
}

function addAttribute(context: WriteContext, type: TypeRecord, body: AttributeCreate): Attribute {
  checkPartIsNew(type.attributes, body.key, { what: 'attribute', type })
  const attribute: AttributeRecord = {
    id: context.newId(),
    key: body.key,
    type: body.type,
    description: body.description ?? null,
    createdAt: context.now,
    updatedAt: context.now,
  }
  putType(context, { ...type, attributes: [...type.attributes, attribute], updatedAt: context.now })
  return presentAttribute(context, type, attribute)
}

export function getAttribute(context: ReadContext, input: { readonly params: AttributeParams }): Attribute {
  const { type, attribute } = locate(context.records, input.params)
  return presentAttribute(context, type, attribute)
}

export function updateAttribute(
  context: WriteContext,
  input: { readonly params: AttributeParams; readonly body: AttributeUpdate },
): Attribute {
  const { body } = input
  const { type, attribute } = locate(context.records, input.params)
  const updated: AttributeRecord = {
    ...attribute,
    type: body.type ?? attribute.type,
    description: body.description === undefined ? attribute.description : body.description,
    updatedAt: context.now,
  }
  putType(context, { ...type, attributes: withPart(type.attributes, updated), updatedAt: context.now })
  return presentAttribute(context, type, updated)
}

export function deleteAttribute(context: WriteContext, input: { readonly params: AttributeParams }): void {
  const { type, attribute } = locate(context.records, input.params)
  const attributes = type.attributes.filter(({ id }) => id !== attribute.id)
  putType(context, { ...type, attributes, updatedAt: context.now })
}

function locate(records: RecordReader, params: AttributeParams) {
  const type = carrierOf(records, params)
  return { type, attribute: requirePart(type.attributes, params.attribute_id, { what: 'attribute', type }) }
}

function carrierOf(records: RecordReader, params: AttributeParams): TypeRecord {
  if (params.resource_id !== undefined) return requireType(records, params.resource_id)
  const type = findUserType(records)
  if (type) return type
  throw new AuthzError('NOT_FOUND', `there is no attribute ${JSON.stringify(params.attribute_id)} of users`)
}

function presentAttribute(context: ReadContext, type: TypeRecord, attribute: AttributeRecord): Attribute {
  return {
    id: attribute.id,
    key: attribute.key,
    ...presentScope(context.scope),
    ...presentTimes(attribute),
    type: attribute.type,
    description: attribute.description,
    resource_id: type.id,
    resource_key: type.key,
    built_in: type.key === USER_TYPE_KEY,
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
