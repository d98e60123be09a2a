/** Packed queries with equal terms share one lookup of the terms, valid for the current schema only. */
import { expect, test } from 'vitest'
import type { Query } from '#model/decision.ts'
import { assign, instance, removed, resourceType, role, tenant, user } from '#testing/engines/changes.ts'
import { packed } from '#testing/engines/packed.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const SHARED: Query = { user: 'alice', action: 'read', type: 'document', key: 'plan', tenant: null }

test('a query with the terms of the previous one is decided by the current schema', () => {
  const engine = new SharedEngine()
  // The check uses one object repeatedly, like a caller with a template.
  const question = packed([SHARED])
  const mayRead = () => engine.evaluateWithin(question, Infinity)
  const viewer = role('document', 'viewer', { can: ['read'] })
  engine.apply([tenant('default'), user('alice')])
  expect(mayRead(), 'documents are not declared').toBe(false)
  engine.apply([
    resourceType('document', 'read'),
    viewer,
    instance('document:plan'),
    assign('alice', 'viewer', 'document:plan'),
  ])
  expect(mayRead()).toBe(true)
  engine.apply([role('document', 'viewer')])
  expect(mayRead(), 'viewers have no permissions').toBe(false)
  engine.apply([viewer])
  expect(mayRead()).toBe(true)
  engine.apply([removed(resourceType('document', 'read'))])
  expect(mayRead(), 'documents are removed').toBe(false)
})

test('queries that differ only in their action or type are distinguished', () => {
  const engine = SharedEngine.with([
    tenant('default'),
    user('alice'),
    resourceType('document', 'read', 'write'),
    resourceType('folder', 'read'),
    role('document', 'viewer', { can: ['read'] }),
    instance('document:plan'),
    assign('alice', 'viewer', 'document:plan'),
  ])
  const asked = [SHARED, { ...SHARED, action: 'write' }, { ...SHARED, type: 'folder' }, SHARED]
  const answers = asked.map(query => engine.evaluateWithin(packed([query]), Infinity))
  expect(answers).toEqual([true, false, false, true])
})

test('alternating terms in a bulk check are distinguished by action and type, declared or not', () => {
  const engine = SharedEngine.with([
    tenant('default'),
    user('alice'),
    resourceType('document', 'read', 'write'),
    resourceType('folder', 'read', 'write'),
    role('document', 'viewer', { can: ['read'] }),
    role('folder', 'editor', { can: ['write'] }),
    instance('document:plan'),
    instance('folder:plan'),
    assign('alice', 'viewer', 'document:plan'),
    assign('alice', 'editor', 'folder:plan'),
  ])
  const read = { query: SHARED, isAllowed: true }
  const write = { query: { ...SHARED, action: 'write' }, isAllowed: false }
  const readFolder = { query: { ...SHARED, type: 'folder' }, isAllowed: false }
  const writeFolder = { query: { ...SHARED, type: 'folder', action: 'write' }, isAllowed: true }
  const fly = { query: { ...SHARED, action: 'fly' }, isAllowed: false }
  const ghost = { query: { ...SHARED, type: 'ghost' }, isAllowed: false }
  const kinds = [read, write, readFolder, writeFolder, fly, ghost]
  // Any two kinds alternate after any third kind.
  const asked = kinds.flatMap(one =>
    kinds.flatMap(other => kinds.flatMap(third => [third, one, other, one, other])),
  )
  const answers = engine.evaluateAll(packed(asked.map(({ query }) => query)))
  expect([...answers]).toEqual(asked.map(({ isAllowed }) => Number(isAllowed)))
})
