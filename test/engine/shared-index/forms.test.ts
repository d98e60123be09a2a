/**
 * What questions in bytes ask beside their keys is looked up once for many that ask alike, and means what the schema
 * says now.
 */
import { expect, test } from 'vitest'
import type { Query } from '#model/decision.ts'
import { assign, instance, removed, resourceType, role, tenant, user } from '../changes.ts'
import { packed } from '../packed.ts'
import { SharedEngine } from '../shared-engine.ts'

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
