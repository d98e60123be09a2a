/**
 * The terms of packed questions are looked up once for many that share them, and mean what the schema says now.
 */
import { expect, test } from 'vitest'
import type { Query } from '#model/decision.ts'
import { assign, instance, removed, resourceType, role, tenant, user } from '#testing/engines/changes.ts'
import { packed } from '#testing/engines/packed.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const SHARED: Query = { user: 'alice', action: 'read', type: 'document', key: 'plan', tenant: null }

test('a question that is like the one before is answered by the schema as it is now', () => {
  const engine = new SharedEngine()
  // One object, as a template has it.
  const question = packed([SHARED])
  const mayRead = () => engine.evaluateFirst(question)
  const viewer = role('document', 'viewer', { can: ['read'] })
  engine.apply([tenant('default'), user('alice')])
  expect(mayRead(), 'nobody has declared a document').toBe(false)
  engine.apply([
    resourceType('document', 'read'),
    viewer,
    instance('document:plan'),
    assign('alice', 'viewer', 'document:plan'),
  ])
  expect(mayRead()).toBe(true)
  engine.apply([role('document', 'viewer')])
  expect(mayRead(), 'viewers may nothing').toBe(false)
  engine.apply([viewer])
  expect(mayRead()).toBe(true)
  engine.apply([removed(resourceType('document', 'read'))])
  expect(mayRead(), 'documents are gone').toBe(false)
})

test('questions that differ in nothing but what they ask are told apart', () => {
  const engine = new SharedEngine()
  engine.apply([
    tenant('default'),
    user('alice'),
    resourceType('document', 'read', 'write'),
    resourceType('folder', 'read'),
    role('document', 'viewer', { can: ['read'] }),
    instance('document:plan'),
    assign('alice', 'viewer', 'document:plan'),
  ])
  const asked = [SHARED, { ...SHARED, action: 'write' }, { ...SHARED, type: 'folder' }, SHARED]
  expect(asked.map(query => engine.evaluateFirst(packed([query])))).toEqual([true, false, false, true])
})

test('in a bulk, what is asked in turns is told apart, by action and by type, declared or not', () => {
  const engine = new SharedEngine()
  engine.apply([
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
  // Each is one object, as a template has it, with its meaning.
  const read = { query: SHARED, isAllowed: true }
  const write = { query: { ...SHARED, action: 'write' }, isAllowed: false }
  const readFolder = { query: { ...SHARED, type: 'folder' }, isAllowed: false }
  const writeFolder = { query: { ...SHARED, type: 'folder', action: 'write' }, isAllowed: true }
  const fly = { query: { ...SHARED, action: 'fly' }, isAllowed: false }
  const ghost = { query: { ...SHARED, type: 'ghost' }, isAllowed: false }
  const kinds = [read, write, readFolder, writeFolder, fly, ghost]
  // Any two in turns, after any third one.
  const asked = kinds.flatMap(one =>
    kinds.flatMap(other => kinds.flatMap(third => [third, one, other, one, other])),
  )
  const answers = engine.evaluatePacked(packed(asked.map(({ query }) => query)))
  expect([...answers]).toEqual(asked.map(({ isAllowed }) => Number(isAllowed)))
})
